"""The keys of private columns: those that enough units have, and nothing more.

    a key of n units is shown with a probability that n decides, not any other key

No number is released with it. Where a unit has one key the probabilities are as large
as (epsilon, delta) allow; where it has many, Gaussian noise on all of them shows more.
Source: MATH-delta 3.2, 3.4; docs/maths/private-keys.md.
"""

from __future__ import annotations

from fractions import Fraction

from dpql.errors import PlanFault
from dpql.model.plan import Affine
from dpql.statistics.setting import Description, Setting, Sought
from dpql.statistics.shown_from import SHOWN_FROM
from dpql.statistics.statistic import Statistic

KEYS = "keys"
"""The statistic's name."""


def describe(setting: Setting) -> Description:
    """Return how keys are shown; their values are all 1."""
    if setting.sought is None:
        raise PlanFault.of(
            "DPQL442",
            "there are no keys to be found: those of its columns are declared, or "
            "another statistic finds them",
            hint="delete the statistic, or declare `keys: private` for its columns",
        )
    return finding(setting.sought, highest=1)


def finding(sought: Sought, *, highest: int) -> Description:
    """Return how keys are found; values are at most the highest."""
    return Description(
        measures=(),
        readout=Affine(offset=Fraction(0), scale=Fraction(1)),
        lower=Fraction(0),
        upper=Fraction(highest),
        quantisation=Fraction(0),
        sensitivity=None,
        unit=None,
        sought=sought,
    )


STATISTIC = Statistic(
    name=KEYS,
    key="list",
    subject="keys",
    summary="The keys of private columns that enough units have, without any number.",
    example="keys",
    phrase="keys that enough units have",
    columns=0,
    power=0,
    once=True,
    finds=True,
    options=(SHOWN_FROM,),
    synonyms=("keyset", "partitions", "distinct_values"),
    describe=describe,
)
