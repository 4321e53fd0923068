"""The sum of one column over that of another, of the rows that hold both.

It is made of the parts of a covariance. With corner values d_0, d_1 of the second
column and e_0, e_1 of the first,

    ratio = sum P_ij e_j / sum P_ij d_i,   clamped to the range of e_j / d_i

so the second column must have a positive lower bound.
Source: MATH-statistics 3.1, 3.3.
"""

from __future__ import annotations

from fractions import Fraction

from dpql.errors import PlanFault
from dpql.model.plan import Share
from dpql.statistics.contribution import Contribution
from dpql.statistics.parts import covariance_parts
from dpql.statistics.setting import Description, Setting, grouped, only_joint
from dpql.statistics.statistic import COUNTED, Statistic


def describe_joint(setting: Setting) -> Description:
    """Return how a ratio is measured by parts of one."""
    from dpql.statistics.joint import Joint

    above, below = setting.grids
    if below.lower <= 0:
        raise PlanFault.of(
            "DPQL425",
            f"a ratio divides by `{below.column}`, whose lower bound is not above 0",
            hint="declare bounds that begin above 0, or swap the columns",
        )
    ends = [
        top / bottom
        for top in (above.lower, above.upper)
        for bottom in (below.lower, below.upper)
    ]
    return Description(
        measures=(),
        readout=None,
        lower=min(ends),
        upper=max(ends),
        quantisation=Fraction(0),
        sensitivity=None,
        unit=_quotient(setting.unit_names),
        joint=Joint(
            what=Share.RATIO,
            parts=covariance_parts(above.steps, below.steps),
            contribution=Contribution.of(setting),
            rows=setting.rows,
            promise=None,
            unit=max(ends) - min(ends),
        ),
    )


def _quotient(units: tuple[str | None, ...]) -> str | None:
    above, below = units
    if above is None or below is None:
        return None
    return f"{grouped(above)}/{grouped(below)}"


STATISTIC = Statistic(
    name="ratio",
    summary="The sum of a number column over the sum of a second one, of the rows "
    "that hold both. The second must have a lower bound above 0.",
    example=("distance", "air_time"),
    column_types=COUNTED,
    phrase="sum of {0} over the sum of {1}",
    columns=2,
    power=2,
    describe=only_joint("ratio"),
    describe_joint=describe_joint,
    joint_only=True,
)
