"""The median of a column: its quantile at 1/2.

Source: MATH-statistics 1.
"""

from __future__ import annotations

from fractions import Fraction

from dpql.statistics.quantile import describe_at
from dpql.statistics.setting import Description, Setting
from dpql.statistics.statistic import Statistic


def describe(setting: Setting) -> Description:
    """Return how a median is chosen."""
    return describe_at(setting, (Fraction(1, 2),))


STATISTIC = Statistic(
    name="median",
    summary="A value with half of the rows at or below it, and half at or above; "
    "chosen, not noised. An accuracy target is a distance of ranks, in rows.",
    example="wage",
    phrase="median of {0}",
    chooses=True,
    describe=describe,
)
