"""The number of rows in each bin; the bins are cells like groups.

    T = n,  sensitivity = rows_each,  l0 = cells_each, twice that under replace_one

A unit's rows fall into at most cells_each bins, groups and bins taken together.
Source: MATH 4, last row of the table.
"""

from __future__ import annotations

from dataclasses import replace

from dpql.model.spec import StatisticKind
from dpql.statistics import count
from dpql.statistics.setting import Description, Setting

NAME = StatisticKind.HISTOGRAM
POWER = 0


def describe(setting: Setting) -> Description:
    """Return how the rows of every bin are counted.

    Which bin a row is in stays private even where the number of rows is public.
    """
    return count.describe(replace(setting, known=False))
