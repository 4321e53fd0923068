"""Days and times as whole numbers, and the parts of them that are keys.

Days are counted from 1970-01-01 in the proleptic Gregorian calendar, of years 1 to
9999; times are seconds of the wall clock since 1970-01-01 00:00.
Source: MATH-statistics 5.
"""

from __future__ import annotations

import re
from datetime import date

from dpql.model.expression import CalendarPart

FIRST_DAY = date.min.toordinal() - date(1970, 1, 1).toordinal()
LAST_DAY = date.max.toordinal() - date(1970, 1, 1).toordinal()
DAY = 86_400
HOUR = 3_600
STEPS = {"second": 1, "minute": 60, "hour": HOUR, "day": DAY}
"""The steps that times may have, in seconds."""
LARGEST_ZONE = 18 * 60
"""Minutes from UTC that no zone exceeds."""

_EPOCH = date(1970, 1, 1).toordinal()
_WEEK = 7
_MONDAY = 3
"""Days from the Monday of its week to 1970-01-01."""
_MONTHS = 12
_QUARTER = 3
_DATE = re.compile(r"([0-9]{4})-([0-9]{2})-([0-9]{2})", re.ASCII)
_TIME = re.compile(
    r"([0-9]{4}-[0-9]{2}-[0-9]{2})"
    r"(?:[ T]([01][0-9]|2[0-3]):([0-5][0-9])(?::([0-5][0-9]))?)?",
    re.ASCII,
)
_ZONE = re.compile(r"([+-])([01][0-9]):([0-5][0-9])", re.ASCII)

SPAN = {
    CalendarPart.MONTH_OF_YEAR: range(_MONTHS),
    CalendarPart.WEEKDAY: range(_WEEK),
    CalendarPart.HOUR: range(24),
}
"""The indices of the parts that come back, of which all are keys."""


def read_date(text: str) -> int | None:
    """Return the day that ``2013-06-01`` names; None if there is no such day."""
    found = _DATE.fullmatch(text)
    if found is None:
        return None
    try:
        return date(*map(int, found.groups())).toordinal() - _EPOCH
    except ValueError:
        return None


def read_time(text: str) -> int | None:
    """Return the seconds of ``2013-06-01 12:30``, also with seconds or without a time.

    A `T` may stand for the space. None if there is no such time.
    """
    found = _TIME.fullmatch(text)
    day = None if found is None else read_date(found[1])
    if found is None or day is None:
        return None
    hours, minutes, seconds = (int(part or 0) for part in found.groups()[1:])
    return day * DAY + hours * HOUR + minutes * 60 + seconds


def read_zone(text: str) -> int | None:
    """Return the minutes east of UTC that ``+01:00`` means; None if it is none."""
    found = _ZONE.fullmatch(text)
    if found is None:
        return None
    minutes = int(found[2]) * 60 + int(found[3])
    if minutes > LARGEST_ZONE:
        return None
    return -minutes if found[1] == "-" else minutes


def date_text(day: int) -> str:
    """Return the day in ISO 8601."""
    return date.fromordinal(day + _EPOCH).isoformat()


def time_text(seconds: int) -> str:
    """Return the time in ISO 8601 with a space, without seconds where they are 0."""
    day, rest = divmod(seconds, DAY)
    text = f"{date_text(day)} {rest // HOUR:02}:{rest // 60 % 60:02}"
    return f"{text}:{rest % 60:02}" if rest % 60 else text


def zone_text(minutes: int) -> str:
    """Return the zone as its distance from UTC: ``+01:00``."""
    sign = "-" if minutes < 0 else "+"
    return f"{sign}{abs(minutes) // 60:02}:{abs(minutes) % 60:02}"


def part_index(part: CalendarPart, seconds: int) -> int:  # noqa: PLR0911  one per part
    """Return the whole number of the part that a time lies in.

    Weeks, days, months, quarters and years are counted in order of time, weeks by ISO
    8601; the others from 0: January, Monday, midnight.
    """
    day = seconds // DAY
    match part:
        case CalendarPart.DAY:
            return day
        case CalendarPart.HOUR:
            return seconds % DAY // HOUR
        case CalendarPart.WEEK:
            return (day + _MONDAY) // _WEEK
        case CalendarPart.WEEKDAY:
            return (day + _MONDAY) % _WEEK
    found = date.fromordinal(day + _EPOCH)
    match part:
        case CalendarPart.YEAR:
            return found.year
        case CalendarPart.MONTH_OF_YEAR:
            return found.month - 1
        case CalendarPart.MONTH:
            return found.year * _MONTHS + found.month - 1
        case _:
            return (found.year * _MONTHS + found.month - 1) // _QUARTER


def part_key(part: CalendarPart, index: int) -> str:  # noqa: PLR0911  one per part
    """Return the key of the part with that index."""
    match part:
        case CalendarPart.DAY:
            return date_text(index)
        case CalendarPart.WEEK:
            # The year of its Thursday, which may be one that Python has no dates of.
            monday = index * _WEEK - _MONDAY
            thursday = monday + _MONDAY
            year = date.fromordinal(min(thursday, LAST_DAY) + _EPOCH).year
            first = date(year, 1, 4).toordinal() - _EPOCH
            number = index - (first + _MONDAY) // _WEEK + 1
            return f"{year:04}-W{number:02}"
        case CalendarPart.MONTH:
            return f"{index // _MONTHS:04}-{index % _MONTHS + 1:02}"
        case CalendarPart.QUARTER:
            quarters = _MONTHS // _QUARTER
            return f"{index // quarters:04}-Q{index % quarters + 1}"
        case CalendarPart.YEAR:
            return f"{index:04}"
        case CalendarPart.WEEKDAY:
            return str(index + 1)
        case CalendarPart.MONTH_OF_YEAR:
            return f"{index + 1:02}"
        case CalendarPart.HOUR:
            return f"{index:02}"


def indices(part: CalendarPart, first: int, last: int) -> range:
    """Return the indices of a part from one time to another, both in seconds."""
    if part in SPAN:
        return SPAN[part]
    return range(part_index(part, first), part_index(part, last) + 1)


def part_keys(part: CalendarPart, first: int, last: int) -> tuple[str, ...]:
    """Return the keys of a part from one time to another, in order of time."""
    return tuple(part_key(part, index) for index in indices(part, first, last))
