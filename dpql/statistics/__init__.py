"""The table of statistics: each has a file of its own, and a line here."""

from __future__ import annotations

from types import MappingProxyType

from dpql.statistics import count, covariance, histogram, mean, sum, variance  # noqa: A004  the statistic's name
from dpql.statistics.option import Option
from dpql.statistics.setting import Description, Setting
from dpql.statistics.statistic import Statistic

STATISTICS: MappingProxyType[str, Statistic] = MappingProxyType(
    {
        module.STATISTIC.name: module.STATISTIC
        for module in (
            count,
            sum,
            mean,
            variance,
            covariance,
            histogram,
        )
    }
)

OPTIONS: tuple[Option, ...] = tuple(
    {
        option.name: option
        for statistic in STATISTICS.values()
        for option in statistic.options
    }.values()
)
"""Every option that a statistic of the table has."""


def statistics_with(option: Option) -> tuple[str, ...]:
    """Return the names of the statistics that have an option."""
    return tuple(name for name, s in STATISTICS.items() if option in s.options)


__all__ = [
    "OPTIONS",
    "STATISTICS",
    "Description",
    "Option",
    "Setting",
    "Statistic",
    "statistics_with",
]
