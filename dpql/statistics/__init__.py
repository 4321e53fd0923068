"""The table of statistics: each has a file of its own, and a line here."""

from __future__ import annotations

from dataclasses import replace
from types import MappingProxyType

from dpql.model.shape import Choice, Field
from dpql.statistics import (
    count,
    covariance,
    deviation,
    distinct,
    histogram,
    keys,
    mean,
    median,
    proportion,
    quantile,
    ratio,
    sum,  # noqa: A004  the statistic's name
    total,
    units,
    variance,
)
from dpql.statistics.option import Option
from dpql.statistics.setting import Description, Setting
from dpql.statistics.statistic import Statistic

STATISTICS: MappingProxyType[str, Statistic] = MappingProxyType(
    {
        module.STATISTIC.name: module.STATISTIC
        for module in (
            count,
            units,
            keys,
            distinct,
            sum,
            proportion,
            mean,
            variance,
            covariance,
            deviation,
            ratio,
            histogram,
            quantile,
            median,
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


KEYS: tuple[str, ...] = (
    *dict.fromkeys(one.keyword for one in STATISTICS.values()),
    total.TOTAL,
)
"""The keys of a spec that ask for statistics."""

ASKING: tuple[str, ...] = tuple(
    x.keyword for x in STATISTICS.values() if x.takes_condition
)
"""Those of them that ask a condition of each row."""


def statistic_of(key: str, subject: str | None) -> Statistic:
    """Return the statistic that a key asks for; `count` counts one of several."""
    same = [one for one in STATISTICS.values() if one.keyword == key]
    return next((one for one in same if one.subject == subject), same[0])


def field_of(key: str) -> Field:
    """Return the key with all that it may ask for."""
    if key == total.TOTAL:
        return total.FIELD
    same = [one.field for one in STATISTICS.values() if one.keyword == key]
    shapes = [field.shape for field in same if isinstance(field.shape, Choice)]
    if not shapes:
        return same[0]
    words = tuple(word for shape in shapes for word in shape.words)
    return Field(
        name=key,
        shape=replace(shapes[0], words=words),
        summary=" ".join(field.summary for field in same),
        examples=tuple(example for field in same for example in field.examples),
    )


def statistics_with(option: Option) -> tuple[str, ...]:
    """Return the keys of the statistics that have an option."""
    found = (one.keyword for one in STATISTICS.values() if option in one.options)
    return tuple(dict.fromkeys(found))


__all__ = [
    "ASKING",
    "KEYS",
    "OPTIONS",
    "STATISTICS",
    "Description",
    "Option",
    "Setting",
    "Statistic",
    "field_of",
    "statistic_of",
    "statistics_with",
]
