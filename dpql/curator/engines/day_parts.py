"""The parts of dates that days lie in, counted as `dpql.model.calendar` does."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dpql.model.calendar import DAY
from dpql.model.expression import CalendarPart

_WEEK, _MONDAY = 7, 3
"""Days of a week, and from the Monday of its week to 1970-01-01."""

_HOUR = 3_600
_YEAR, _QUARTER = 12, 3
"""Months of each."""

_MONTHS_BEFORE = 1970 * _YEAR
"""Months before 1970, from the year 0 on."""

Numbers = NDArray[np.int64]


def part_indices(part: CalendarPart, seconds: Numbers) -> Numbers:
    """Return the index of the part that each time lies in."""
    if part is CalendarPart.HOUR:
        return seconds % DAY // _HOUR
    return day_indices(part, seconds // DAY)


def day_indices(part: CalendarPart, days: Numbers) -> Numbers:
    """Return the index of the part, which is no hour, that each day lies in."""
    match part:
        case CalendarPart.DAY:
            found = days
        case CalendarPart.WEEK:
            found = (days + _MONDAY) // _WEEK
        case CalendarPart.WEEKDAY:
            found = (days + _MONDAY) % _WEEK
        case _:
            since = days.astype("datetime64[D]").astype("datetime64[M]")
            months = since.astype(np.int64) + _MONTHS_BEFORE
            found = _of_months(part, months)
    return found


def _of_months(part: CalendarPart, months: Numbers) -> Numbers:
    match part:
        case CalendarPart.MONTH:
            return months
        case CalendarPart.QUARTER:
            return months // _QUARTER
        case CalendarPart.MONTH_OF_YEAR:
            return months % _YEAR
        case _:
            return months // _YEAR
