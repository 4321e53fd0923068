"""The proportion of rows for which a condition is true.

    n public:   T = rows where it is true, sensitivity = rows_each,  value = T / n
    by parts:   A = rows where it is true, B = rows where it is false; a row adds 1 to
                one of them or, where it is null, to neither,  value = A / (A + B)

Where n is public, all rows are asked, and a row where the condition is null is one for
which it is not true.
Source: MATH-statistics 3.1.
"""

from __future__ import annotations

from fractions import Fraction

from dpql.model.plan import Affine, Share, Term
from dpql.statistics.at_least import AT_LEAST
from dpql.statistics.contribution import Contribution
from dpql.statistics.parts import proportion_parts
from dpql.statistics.setting import Description, Setting, alone, measure, only_joint
from dpql.statistics.statistic import Statistic


def describe(setting: Setting) -> Description:
    """Return how a proportion of a public number of rows is counted."""
    if not setting.known:
        return only_joint("proportion")(setting)
    true = measure(
        "true",
        (Term(coefficient=1, moments=("u",)),),
        change=setting.rows_each,
        lower=0,
        upper=setting.rows,
        l0=1,
    )
    scale = Fraction(1, setting.rows)
    return Description(
        measures=(true,),
        readout=Affine(offset=Fraction(0), scale=scale),
        lower=Fraction(0),
        upper=Fraction(1),
        quantisation=Fraction(0),
        sensitivity=scale * true.sensitivity,
        unit=None,
        squares=alone(true),
    )


def describe_joint(setting: Setting) -> Description:
    """Return how a proportion is measured by parts of one."""
    from dpql.statistics.joint import Joint
    from dpql.statistics.promise import share_promise

    return Description(
        measures=(),
        readout=None,
        lower=Fraction(0),
        upper=Fraction(1),
        quantisation=Fraction(0),
        sensitivity=None,
        unit=None,
        joint=Joint(
            what=Share.PROPORTION,
            parts=proportion_parts(),
            contribution=Contribution.of(setting),
            rows=setting.rows,
            promise=share_promise,
            unit=Fraction(1),
        ),
    )


STATISTIC = Statistic(
    name="proportion",
    summary="The proportion of rows for which a condition is true, of those for which "
    "it is true or false. A row for which it is null does not count, unless the number "
    "of rows is public: then it counts as one for which it is not true.",
    example="age >= 18",
    phrase="proportion with ({condition}), of rows where that is not null",
    public_phrase="proportion with ({condition}), of all rows",
    columns=0,
    power=0,
    takes_condition=True,
    options=(AT_LEAST,),
    synonyms=("fraction", "percentage", "percent"),
    describe=describe,
    describe_joint=describe_joint,
)
