"""Cells of booleans, dates, times and numeric keys, by docs/reference/data.md alone.

Days are counted by the rule of leap years, and texts are read by one pattern, so
nothing is shared with what the sources do.
"""

from __future__ import annotations

import datetime as dt
import re
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from typing import Any

DAY = 86_400
_FIRST, _LAST = -719_162, 2_932_896
"""The days of 0001-01-01 and 9999-12-31."""
_LENGTHS = (31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
_INFINITE = float("inf")
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
_TEXT = re.compile(
    r"(?P<year>\d{4})-(?P<month>\d\d)-(?P<day>\d\d)"
    r"([T ](?P<hour>\d\d):(?P<minute>\d\d)(:(?P<second>\d\d)([.,]\d+)?)?"
    r"(?P<offset>Z|[+-]\d\d(:?\d\d(:?\d\d)?)?)?)?",
    re.ASCII,
)


def truth(cell: Any) -> int | None:
    """Return 0 or 1, None for what is no boolean."""
    if isinstance(cell, str) and cell.isascii():
        word = {"true": 1, "t": 1, "false": 0, "f": 0}.get(cell.lower())
        if word is not None:
            return word
    return {0: 0, 1: 1}.get(whole(cell))  # type: ignore[arg-type]


def whole(cell: Any) -> int | None:
    """Return the whole number that a cell is exactly, below 2^62."""
    if isinstance(cell, str):
        try:
            found = Decimal(cell) if _NUMBER.fullmatch(cell) else Decimal("nan")
        except InvalidOperation:
            return None
        # What is finite and small enough has few digits on either side.
        cell = found if found.is_finite() and abs(found.adjusted()) < 5000 else None
    if not isinstance(cell, int | float | Decimal) or cell in (_INFINITE, -_INFINITE):
        return None
    if cell != cell or Fraction(cell).denominator != 1:  # noqa: PLR0124  NaN
        return None
    return int(cell) if abs(cell) < 1 << 62 else None


def day(cell: Any) -> int | None:
    """Return the days since 1970-01-01."""
    seconds = second(cell, 0)
    return None if seconds is None else seconds // DAY


def second(cell: Any, zone: int) -> int | None:
    """Return the seconds of a clock, so many seconds east of UTC, since 1970-01-01."""
    found = _second(cell, zone)
    if found is None or not _FIRST * DAY <= found < (_LAST + 1) * DAY:
        return None
    return found


def _second(cell: Any, zone: int) -> int | None:
    match cell:
        case dt.datetime():
            clock = cell.hour * 3600 + cell.minute * 60 + cell.second
            seconds = days_until(cell.year, cell.month, cell.day) * DAY + clock
            offset = cell.utcoffset()
            if offset is None:
                return seconds
            return seconds - offset.days * DAY - offset.seconds + zone
        case dt.date():
            return days_until(cell.year, cell.month, cell.day) * DAY
        case str():
            found = _TEXT.fullmatch(cell)
            return None if found is None else _written(found, zone)
    return None


def _written(found: re.Match[str], zone: int) -> int | None:
    year, month, day = (int(found[name]) for name in ("year", "month", "day"))
    if not 1 <= month <= 12 or not 1 <= day <= _length(year, month):
        return None
    hour, minute, second = (int(found[x] or 0) for x in ("hour", "minute", "second"))
    if hour > 23 or minute > 59 or second > 60:
        return None
    clock = hour * 3600 + minute * 60 + min(second, 59)
    seconds = days_until(year, month, day) * DAY + clock
    offset = found["offset"]
    if offset is None:
        return seconds
    digits = re.sub(r"\D", "", offset).ljust(6, "0")
    hours, minutes, rest = (int(digits[i : i + 2]) for i in (0, 2, 4))
    if hours > 23 or minutes > 59 or rest > 59:
        return None
    size = hours * 3600 + minutes * 60 + rest
    return seconds + zone + (size if offset[0] == "-" else -size)


def days_until(year: int, month: int, day: int) -> int:
    """Return the days from 1970-01-01 until a date of the Gregorian calendar."""
    before = year - 1
    years = 365 * before + before // 4 - before // 100 + before // 400
    months = sum(_length(year, one) for one in range(1, month))
    return years + months + day - 1 + _FIRST


def _length(year: int, month: int) -> int:
    leap = year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
    return _LENGTHS[month - 1] + (leap and month == 2)
