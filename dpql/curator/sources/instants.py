"""Stored cells as dates and times: whole seconds of a wall clock since 1970-01-01.

    text          YYYY-MM-DD, alone or with T or a space and hh:mm, hh:mm:ss, a fraction
                  of a second, and an offset: Z, +hh, +hh:mm or +hhmm
    a date        its midnight
    a timestamp   of any unit; with a zone it is an instant, without one a wall clock

An instant, and a text with an offset, are read on the wall clock of the column's zone.
Fractions are floored, second 60 counts as 59. Whatever is no such text, no day of the
calendar, or not of the years 1 to 9999 is null.

Most texts are of few layouts, which numpy reads by columns of bytes, the same work for
every row of a layout.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from types import MappingProxyType

import numpy as np
import polars as pl
from numpy.typing import NDArray

DAY = 86_400
"""Seconds of a day."""

_DATE, _TO_MINUTES, _TO_SECONDS = 10, 16, 19
"""Bytes of YYYY-MM-DD, of the same with Thh:mm, and with :ss."""

_OFFSET = re.compile(
    "([+-])([0-9]{2})(?::?([0-9]{2})(?::?([0-9]{2}))?)?", flags=re.ASCII
)
_DIGITS = "0123456789"

_ZERO, _NINE, _DASH, _COLON = 48, 9, 45, 58
_SEPARATORS = (84, 32)
_MONTHS = 12
_MONTH_SLOTS = 16
_HOURS, _SIXTY = 24, 60

PER_SECOND: Mapping[str, int] = MappingProxyType(
    {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}
)
"""How many units of a stored timestamp make a second."""

Numbers = NDArray[np.int64]
Flags = NDArray[np.bool_]


def wall_seconds(cells: pl.Series, zone: int) -> pl.Series:
    """Return seconds on the wall clock of a zone, so many seconds east of Greenwich.

    The cells are text, dates or timestamps of polars, or all null.
    """
    dtype = cells.dtype
    if dtype == pl.String:
        return _from_texts(cells, zone)
    if dtype == pl.Date:
        return stored_seconds(cells.to_physical(), of_days=True)
    if isinstance(dtype, pl.Datetime):
        units = PER_SECOND[dtype.time_unit]
        aware = dtype.time_zone is not None
        return stored_seconds(cells.to_physical(), units, aware=aware, zone=zone)
    return pl.repeat(None, len(cells), dtype=pl.Int64, eager=True)


def days(seconds: pl.Series) -> pl.Series:
    """Return the days since 1970-01-01 of seconds."""
    return seconds.to_frame("cell").select(pl.col("cell") // DAY).to_series()


def stored_seconds(
    cells: pl.Series,
    units: int = 1,
    *,
    of_days: bool = False,
    aware: bool = False,
    zone: int = 0,
) -> pl.Series:
    """Return the seconds of integers that count units of time, or days.

    An aware count is of an instant, any other of a wall clock.
    """
    cell = pl.col("cell").cast(pl.Int64)
    if of_days:
        # The years 1 to 9999 have fewer days than this.
        cell = pl.when(cell.is_between(-(1 << 22), 1 << 22)).then(cell) * DAY
    elif units > 1:
        cell = cell // units
    if aware:
        # No count in seconds is moved beyond 64 bits.
        cell = pl.when(cell.is_between(-(1 << 42), 1 << 42)).then(cell) + zone
    return cells.to_frame("cell").select(_of_known_years(cell)).to_series()


def _of_known_years(seconds: pl.Expr) -> pl.Expr:
    _, _, first, last = _calendar()
    return pl.when(seconds.is_between(first, last)).then(seconds)


@cache
def _calendar() -> tuple[NDArray[np.int32], NDArray[np.int8], int, int]:
    """Return the first day and the length of months, and the first and last second.

    Months are numbered 16 * year + month, from year 0; other numbers have no days. The
    year 0 may be written: an offset may lead from it to the year 1.
    """
    months = np.arange("0000-01", "10000-02", dtype="datetime64[M]")
    starts = months.astype("datetime64[D]").astype(np.int64)
    first = np.zeros((10_000, _MONTH_SLOTS), np.int32)
    length = np.zeros((10_000, _MONTH_SLOTS), np.int8)
    first[:, 1 : _MONTHS + 1] = starts[:-1].reshape(-1, _MONTHS)
    length[:, 1 : _MONTHS + 1] = np.diff(starts).reshape(-1, _MONTHS)
    beginning, end = int(starts[_MONTHS]) * DAY, int(starts[-1]) * DAY - 1
    return first.reshape(-1), length.reshape(-1), beginning, end


def _from_texts(texts: pl.Series, zone: int) -> pl.Series:
    """Return the seconds of texts: of dates, and of dates with a clock."""
    raw = texts.cast(pl.Binary)
    size = raw.bin.size().fill_null(0).to_numpy()
    seconds, held = np.zeros(len(raw), np.int64), np.zeros(len(raw), np.bool_)
    for with_clock in (False, True):
        rows = np.flatnonzero(size >= _TO_MINUTES if with_clock else size == _DATE)
        if not len(rows):
            continue
        some = _some(raw, rows)
        if with_clock:
            found = _clock_times(some, size if some is raw else size[rows], zone)
        else:
            found = _midnights(some)
        if some is raw:
            seconds, held = found
        else:
            seconds[rows], held[rows] = found
    _, _, first, last = _calendar()
    known = pl.col("held") & pl.col("cell").is_between(first, last)
    frame = pl.DataFrame({"cell": seconds, "held": held})
    return frame.select(pl.when(known).then("cell")).to_series()


def _some(raw: pl.Series, rows: Numbers) -> pl.Series:
    """Return the cells of some rows."""
    return raw if len(rows) == len(raw) else raw.gather(pl.Series(rows))


def _midnights(raw: pl.Series) -> tuple[Numbers, Flags]:
    """Return the seconds of dates, and where there are such."""
    day, held = _dates(_bytes(raw, _DATE))
    return day.astype(np.int64) * DAY, held


def _clock_times(
    raw: pl.Series, size: NDArray[np.uint32], zone: int
) -> tuple[Numbers, Flags]:
    """Return the seconds of dates with a clock, and where there are such."""
    head = raw if (size == _TO_MINUTES).all() else raw.bin.slice(0, _TO_MINUTES)
    seconds, held = _clocks(_bytes(head, _TO_MINUTES))
    ends = np.full(len(raw), _TO_MINUTES)
    rows = np.flatnonzero(size >= _TO_SECONDS)
    if len(rows):
        width = _TO_SECONDS - _TO_MINUTES
        cells = _bytes(_some(raw, rows).bin.slice(_TO_MINUTES, width), width)
        second, is_number = _number(cells, 1, 2)
        with_seconds = cells[:, 0] == _COLON
        seconds[rows] += np.where(with_seconds, np.minimum(second, _SIXTY - 1), 0)
        held[rows] &= ~with_seconds | (is_number & (second <= _SIXTY))
        ends[rows] = np.where(with_seconds, _TO_SECONDS, _TO_MINUTES)
    for end in (_TO_MINUTES, _TO_SECONDS):
        rows = np.flatnonzero(held & (ends == end) & (size > end))
        if len(rows):
            shift, shifted = _shifts(_some(raw, rows), end, zone)
            seconds[rows] += shift
            held[rows] = shifted
    return seconds, held


def _shifts(raw: pl.Series, end: int, zone: int) -> tuple[Numbers, Flags]:
    """Return what is added to the seconds by what follows from a byte on.

    What stands before it is ASCII, so a character begins there.
    """
    tails = raw.bin.slice(end).cast(pl.String)
    shift, held = np.full(len(raw), zone), np.ones(len(raw), np.bool_)
    # Nearly all that have a tail end so.
    rows = np.flatnonzero((tails != "Z").to_numpy())
    if not len(rows):
        return shift, held
    offset = pl.col("tail")
    if end == _TO_SECONDS:
        bare = offset.str.slice(1).str.strip_chars_start(_DIGITS)
        fraction = offset.str.contains(r"^[.,][0-9]")
        offset = pl.when(fraction).then(bare).otherwise("tail").alias("tail")
    some = tails.gather(pl.Series(rows)).alias("tail")
    offsets = some.to_frame().select(offset).to_series()
    known = offsets.unique()
    shifts = pl.Series([_shift(one, zone) for one in known], dtype=pl.Int64)
    found = offsets.replace_strict(known, shifts, return_dtype=pl.Int64)
    shift[rows] = found.fill_null(0).to_numpy()
    held[rows] = found.is_not_null().to_numpy()
    return shift, held


def _shift(offset: str, zone: int) -> int | None:
    """Return what an offset adds to the seconds; None where it is none."""
    if offset == "":
        return 0
    if offset == "Z":
        return zone
    parts = _OFFSET.fullmatch(offset)
    if parts is None:
        return None
    hours, minutes, seconds = (int(part or 0) for part in parts.groups()[1:])
    if hours >= _HOURS or max(minutes, seconds) >= _SIXTY:
        return None
    size = hours * 3600 + minutes * _SIXTY + seconds
    return zone - size if parts[1] == "+" else zone + size


def _bytes(raw: pl.Series, width: int) -> NDArray[np.uint8]:
    """Return the bytes of cells that have so many, a row each; others as zero bytes."""
    found = raw.bin.reinterpret(dtype=pl.Array(pl.UInt8, width), endianness="little")
    if found.null_count():
        zero = pl.lit([0] * width, dtype=pl.Array(pl.UInt8, width))
        filled = pl.col("cell").fill_null(zero)
        found = found.to_frame("cell").select(filled).to_series()
    flat: NDArray[np.uint8] = found.explode().to_numpy()
    return flat.reshape(-1, width)


def _number(
    cells: NDArray[np.uint8], start: int, digits: int
) -> tuple[NDArray[np.int16], Flags]:
    """Return the numbers at some columns of bytes, and where all are digits.

    There are four at most. Where one is no digit, the number is any.
    """
    # Bytes below the digit 0 wrap around and are larger than 9.
    column = cells[:, start] - np.uint8(_ZERO)
    number, largest = column.astype(np.int16), column
    for at in range(start + 1, start + digits):
        column = cells[:, at] - np.uint8(_ZERO)
        np.maximum(largest, column, out=largest)
        number *= 10
        number += column
    return number, largest <= _NINE


def _dates(cells: NDArray[np.uint8]) -> tuple[NDArray[np.int32], Flags]:
    """Return the days since 1970-01-01 of YYYY-MM-DD, and where there are such."""
    starts, length, _, _ = _calendar()
    year, held = _number(cells, 0, 4)
    month, is_month = _number(cells, 5, 2)
    day, is_day = _number(cells, 8, 2)
    held &= is_month
    held &= is_day
    held &= cells[:, 4] == _DASH
    held &= cells[:, 7] == _DASH
    held &= month <= _MONTHS
    at = year.astype(np.int32)
    at *= _MONTH_SLOTS
    at += month
    at *= held
    held &= day >= 1
    held &= day <= length.take(at)
    days = starts.take(at)
    days += day
    days -= 1
    return days, held


def _clocks(cells: NDArray[np.uint8]) -> tuple[Numbers, Flags]:
    """Return the seconds of dates with Thh:mm, and where there are such."""
    day, held = _dates(cells)
    hours, are_hours = _number(cells, _DATE + 1, 2)
    minutes, are_minutes = _number(cells, _DATE + 4, 2)
    separator = cells[:, _DATE]
    held &= are_hours & are_minutes & (cells[:, _DATE + 3] == _COLON)
    held &= (separator == _SEPARATORS[0]) | (separator == _SEPARATORS[1])
    held &= (hours < _HOURS) & (minutes < _SIXTY)
    seconds = day.astype(np.int64) * DAY
    minutes += hours * np.int16(_SIXTY)
    seconds += minutes.astype(np.int64) * _SIXTY
    return seconds, held
