"""The mean of a column.

    n public:   T = sum u, sensitivity = rows_each * Q,  value = a + s T / n
    n private:  count and S = sum (2u - Q), sensitivity = rows_each * Q,
                value = middle + (s / 2) S / max(1, count)
    by parts:   A = sum u and B = sum (Q - u) share one sensitivity,
                value = a + width A / (A + B), both at least 0

Source: MATH 4 (table; mean under add/remove), 5 (integers); MATH-statistics 3 (parts).
"""

from __future__ import annotations

from dpql.model.plan import Affine, CentredMean, Measure, Share, Term
from dpql.statistics.at_least import AT_LEAST
from dpql.statistics.contribution import Contribution
from dpql.statistics.count import counting
from dpql.statistics.parts import mean_parts
from dpql.statistics.setting import Description, Setting, alone, measure
from dpql.statistics.statistic import COUNTED, Statistic


def describe(setting: Setting) -> Description:
    """Return how a column is averaged."""
    (grid,) = setting.grids
    if setting.known:
        total = measure(
            "sum",
            (Term(coefficient=1, moments=("u",)),),
            change=setting.rows_each * grid.steps,
            lower=0,
            upper=setting.rows * grid.steps,
            l0=1,
        )
        scale = grid.step / setting.rows
        return Description(
            measures=(total,),
            readout=Affine(offset=grid.lower, scale=scale),
            lower=grid.lower,
            upper=grid.upper,
            quantisation=grid.error * grid.step,
            sensitivity=scale * total.sensitivity,
            unit=setting.unit_names[0],
            squares=alone(total),
        )
    return Description(
        measures=(counting(setting), centred_sum(setting)),
        readout=CentredMean(
            middle=(grid.lower + grid.upper) / 2,
            scale=grid.step / 2,
            steps=grid.steps,
        ),
        lower=grid.lower,
        upper=grid.upper,
        quantisation=grid.error * grid.step,
        sensitivity=None,
        unit=setting.unit_names[0],
    )


def describe_joint(setting: Setting) -> Description:
    """Return how a column is averaged by parts of one."""
    # Reading a spec needs none of their arithmetic.
    from dpql.statistics.joint import Joint
    from dpql.statistics.promise import share_promise

    (grid,) = setting.grids
    parts = mean_parts(grid.steps)
    return Description(
        measures=(),
        readout=None,
        lower=grid.lower,
        upper=grid.upper,
        quantisation=grid.error * grid.step,
        sensitivity=None,
        unit=setting.unit_names[0],
        joint=Joint(
            what=Share.MEAN,
            parts=parts,
            contribution=Contribution.of(setting),
            rows=setting.rows,
            promise=share_promise,
            unit=grid.width,
        ),
    )


def centred_sum(setting: Setting) -> Measure:
    """Return the measure sum (2u - Q), whose terms lie in -Q..Q."""
    steps = setting.grids[0].steps
    each, often = setting.changes(signed=True)
    return measure(
        "sum",
        (
            Term(coefficient=2, moments=("u",)),
            Term(coefficient=-steps, moments=("n",)),
        ),
        change=each * steps,
        lower=-setting.rows * steps,
        upper=setting.rows * steps,
        l0=often,
        ranges=setting.ranges(signed=True),
    )


STATISTIC = Statistic(
    name="mean",
    summary="The mean of a number column, each cell clamped to its bounds.",
    example="wage",
    column_types=COUNTED,
    phrase="mean of {0}",
    options=(AT_LEAST,),
    synonyms=("avg", "average"),
    describe=describe,
    describe_joint=describe_joint,
)
