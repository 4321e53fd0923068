"""The standard deviation of a column: the square root of its population variance.

It is made of the parts of a variance; the ends of its interval are the roots of those
of the variance. Moving every value by at most h moves a deviation by at most h.
Source: MATH-statistics 3.1, 3.3.
"""

from __future__ import annotations

from fractions import Fraction

from dpql.model.plan import Share
from dpql.statistics.contribution import Contribution
from dpql.statistics.parts import variance_parts
from dpql.statistics.setting import Description, Setting, only_joint
from dpql.statistics.statistic import COUNTED, Statistic


def describe_joint(setting: Setting) -> Description:
    """Return how a deviation is measured by parts of one."""
    from dpql.statistics.joint import Joint

    (grid,) = setting.grids
    return Description(
        measures=(),
        readout=None,
        lower=Fraction(0),
        upper=grid.width / 2,
        quantisation=grid.error * grid.step,
        sensitivity=None,
        unit=setting.unit_names[0],
        joint=Joint(
            what=Share.DEVIATION,
            parts=variance_parts(grid.steps),
            contribution=Contribution.of(setting),
            rows=setting.rows,
            promise=None,
            unit=grid.width,
        ),
    )


STATISTIC = Statistic(
    name="deviation",
    summary="The standard deviation of a number column, each cell clamped to its "
    "bounds: the square root of the population variance.",
    example="wage",
    column_types=COUNTED,
    phrase="standard deviation of {0}",
    power=2,
    fewest_rows=2,
    synonyms=("std", "stddev", "sd"),
    describe=only_joint("deviation"),
    describe_joint=describe_joint,
    joint_only=True,
)
