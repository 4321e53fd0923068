"""The number of units with a row, in total or per cell: each counts once.

    T = n of one row a unit in a cell,  sensitivity = 1,  0 <= T <= rows

Whether a unit has one row in a cell or a thousand, one is kept, so its rows in a cell
need no bound. Without a filter and groups, replacing a unit by another does not change
how many there are.
Source: MATH-statistics 2.
"""

from __future__ import annotations

from dpql.errors import PlanFault
from dpql.statistics import count
from dpql.statistics.keys import finding
from dpql.statistics.setting import Description, Setting
from dpql.statistics.shown_from import SHOWN_FROM
from dpql.statistics.statistic import Statistic


def describe(setting: Setting) -> Description:
    """Return how units are counted: as rows, of which one is kept in a cell."""
    if setting.sought is not None:
        return finding(setting.sought, highest=setting.rows)
    if setting.replace and setting.whole:
        raise PlanFault.of(
            "DPQL420",
            "replacing a unit by another does not change how many there are, so "
            "counting them releases nothing",
            hint="count with `where:` or `by:`, or drop the statistic",
        )
    return count.describe(setting)


STATISTIC = Statistic(
    name="units",
    key="count",
    subject="units",
    summary="How many units there are, each counted once.",
    example="units",
    phrase="number of units",
    columns=0,
    power=0,
    once=True,
    options=(SHOWN_FROM,),
    describe=describe,
)
