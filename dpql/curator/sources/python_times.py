"""Dates and times of Python, numpy and pandas: as text, or as timestamps of polars.

No cell can raise. Of a datetime the zone is asked for its offset, and a zone may be of
any class: what it raises makes the cell null. So is what has no year from 1 to 9999.
"""

from __future__ import annotations

import datetime as dt
import sys
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

_MICROSECONDS = 10**6
_FINE_UNITS = ("ns", "ps", "fs", "as")
_KNOWN_YEARS = np.datetime64("0000-01-01", "s"), np.datetime64("10001-01-01", "s")
_EPOCH = dt.datetime(1970, 1, 1)  # noqa: DTZ001  a wall clock

Flags = NDArray[np.bool_]


def stored_times(values: NDArray[Any], zone: str | None = None) -> pl.Series:
    """Return times of numpy, of any unit; with a zone they are instants."""
    seconds, held = _seconds(values)
    cells = pl.Series(seconds * _MICROSECONDS).cast(pl.Datetime("us", zone))
    frame = pl.DataFrame({"cell": cells, "held": held})
    return frame.select(pl.when("held").then("cell")).to_series()


def iso_text(cell: dt.date) -> str | None:
    """Return a date or a datetime as text."""
    try:
        return cell.isoformat()
    except Exception:  # noqa: BLE001  a zone may be of any class
        return None


def plain_time(cell: Any) -> dt.date | None:
    """Return a cell of a subclass, or of numpy, as the time of Python it stands for."""
    kind = type(cell)
    if issubclass(kind, np.datetime64):
        return _time(np.array([cell]), None)
    pandas: Any = sys.modules.get("pandas")
    if pandas is not None:
        if cell is pandas.NaT:
            return None
        if issubclass(kind, pandas.Timestamp):
            # Its year may be none of the class that it is a subclass of.
            aware = dt.datetime.timetz(cell).tzinfo is not None
            return _time(np.array([cell.asm8]), dt.UTC if aware else None)
    if issubclass(kind, dt.datetime):
        day, time = dt.datetime.date(cell), dt.datetime.timetz(cell)
        return dt.datetime.combine(day, time)
    if issubclass(kind, dt.date):
        return dt.date.fromordinal(dt.date.toordinal(cell))
    return None


def _time(cell: NDArray[Any], zone: dt.tzinfo | None) -> dt.datetime | None:
    seconds, held = _seconds(cell)
    if not held[0]:
        return None
    try:
        found = _EPOCH + dt.timedelta(seconds=int(seconds[0]))
    except OverflowError:
        return None
    return found.replace(tzinfo=zone)


def _seconds(values: NDArray[Any]) -> tuple[NDArray[np.int64], Flags]:
    """Return the seconds of times of numpy, floored, and where there are any.

    numpy would count the far ends of coarse units wrongly; they are of no known year.
    """
    unit, _ = np.datetime_data(values.dtype)
    held: Flags = ~np.isnat(values)
    if unit == "generic":
        held = np.zeros(len(values), np.bool_)
    elif unit not in _FINE_UNITS:
        first, last = (end.astype(values.dtype) for end in _KNOWN_YEARS)
        held &= (values >= first) & (values <= last)
    seconds = np.zeros(len(values), np.int64)
    seconds[held] = values[held].astype("datetime64[s]").astype(np.int64)
    return seconds, held
