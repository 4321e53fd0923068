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
    """Return the seconds of texts: of dates, with clocks, and of those with seconds."""
    raw = texts.cast(pl.Binary)
    size = raw.bin.size().fill_null(0).to_numpy()
    day, held = _dates(_bytes(raw, _DATE))
    found = _seconds(day.astype(np.int64) * DAY, held)
    longer = np.flatnonzero(size > _DATE)
    if len(longer):
        some = pl.Series(longer)
        found = found.scatter(some, _from_clocks(raw.gather(some), zone))
    return found.to_frame("cell").select(_of_known_years(pl.col("cell"))).to_series()


def _seconds(seconds: Numbers, held: Flags) -> pl.Series:
    frame = pl.DataFrame({"cell": seconds, "held": held})
    return frame.select(pl.when("held").then("cell")).to_series()


def _from_clocks(raw: pl.Series, zone: int) -> pl.Series:
    """Return the seconds of dates with a clock."""
    cells = _bytes(raw.bin.slice(0, _TO_SECONDS), _TO_SECONDS)
    with_seconds = cells[:, _TO_MINUTES] == _COLON
    second, held = _number(cells, _TO_MINUTES + 1, 2)
    held &= with_seconds & (second <= _SIXTY)
    seconds, are_clocks = _clocks(cells)
    seconds += np.minimum(second, _SIXTY - 1)
    held &= are_clocks
    found = _placed(seconds, held, raw, _TO_SECONDS, zone)
    rows = np.flatnonzero(~with_seconds)
    if len(rows):
        some = pl.Series(rows)
        others = raw.gather(some)
        seconds, held = _clocks(_bytes(others.bin.slice(0, _TO_MINUTES), _TO_MINUTES))
        rest = _placed(seconds, held, others, _TO_MINUTES, zone)
        found = found.scatter(some, rest)
    return found


def _placed(
    seconds: Numbers, held: Flags, raw: pl.Series, start: int, zone: int
) -> pl.Series:
    """Return seconds on the zone's clock, by what follows from a byte on.

    What stands before it is ASCII where it is held, so a character begins there.
    """
    found = _seconds(seconds, held)
    longer = held & (raw.bin.size().fill_null(0).to_numpy() > start)
    rows = np.flatnonzero(longer)
    if not len(rows):
        return found
    some = pl.Series(rows)
    tails = raw.gather(some).bin.slice(start).cast(pl.String)
    frame = pl.DataFrame({"tail": tails, "seconds": found.gather(some)})
    fraction = pl.lit(False)
    if start == _TO_SECONDS:
        fraction = pl.col("tail").str.contains(r"^[.,][0-9]")
    bare = pl.col("tail").str.slice(1).str.strip_chars_start(_DIGITS)
    offset = pl.when(fraction).then(bare).otherwise("tail").alias("offset")
    offsets = frame.select(offset).to_series()
    known = offsets.unique()
    shift = pl.Series([_shift(one, zone) for one in known], dtype=pl.Int64)
    shifts = offsets.replace_strict(known, shift, return_dtype=pl.Int64)
    return found.scatter(some, frame["seconds"] + shifts)


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
) -> tuple[NDArray[np.int32], Flags]:
    """Return the numbers at some columns of bytes, and where all are digits."""
    # Bytes below the digit 0 wrap around and are larger than 9.
    columns = [cells[:, start + at] - np.uint8(_ZERO) for at in range(digits)]
    held = columns[0] <= _NINE
    number = columns[0].astype(np.int32)
    for column in columns[1:]:
        held &= column <= _NINE
        number *= 10
        number += column
    return number, held


def _dates(cells: NDArray[np.uint8]) -> tuple[NDArray[np.int32], Flags]:
    """Return the days since 1970-01-01 of YYYY-MM-DD, and where there are such."""
    first, length, _, _ = _calendar()
    year, held = _number(cells, 0, 4)
    month, is_month = _number(cells, 5, 2)
    day, is_day = _number(cells, 8, 2)
    held &= is_month & is_day & (cells[:, 4] == _DASH) & (cells[:, 7] == _DASH)
    held &= month <= _MONTHS
    at = np.where(held, year * _MONTH_SLOTS + month, 0)
    held &= (day >= 1) & (day <= length[at])
    return first[at] + day - 1, held


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
    seconds += hours * 3600 + minutes * _SIXTY
    return seconds, held
