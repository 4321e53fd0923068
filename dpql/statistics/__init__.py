"""One file per statistic: integers, sensitivity, range. Adding one is a line here."""

from __future__ import annotations

from types import MappingProxyType

from dpql.model.spec import StatisticKind
from dpql.statistics import count, covariance, histogram, mean, sum, variance  # noqa: A004  the statistic's name
from dpql.statistics.setting import Description, Setting
from dpql.statistics.statistic import Statistic

STATISTICS: MappingProxyType[StatisticKind, Statistic] = MappingProxyType(
    {
        StatisticKind.COUNT: count,
        StatisticKind.SUM: sum,
        StatisticKind.MEAN: mean,
        StatisticKind.VARIANCE: variance,
        StatisticKind.COVARIANCE: covariance,
        StatisticKind.HISTOGRAM: histogram,
    }
)

__all__ = ["STATISTICS", "Description", "Setting", "Statistic"]
