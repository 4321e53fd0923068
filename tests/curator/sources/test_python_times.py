"""Times of Python, numpy and pandas are read as what they say, or as null."""

from __future__ import annotations

import datetime as dt
from typing import Any
from zoneinfo import ZoneInfo

import numpy as np
import oracle_cells
import pandas as pd
import polars as pl
import pytest

from dpql.curator.columns import CanonicalColumn, Content
from dpql.curator.sources.canonical import Canonicaliser
from dpql.curator.sources.objects import stored_column

ZONE = 3600
COLUMN = CanonicalColumn(name="t", content=Content.TIME, zone=ZONE)
NOON = dt.datetime.fromisoformat("2013-06-01 12:30:15.5")
LOCAL = dt.datetime.fromisoformat("1880-06-01 12:00").replace(
    tzinfo=ZoneInfo("Europe/Paris")
)
"""A time of a zone whose offset had seconds."""


class Broken(dt.tzinfo):
    """A zone that fails."""

    def utcoffset(self, _: dt.datetime | None) -> dt.timedelta:
        """Raise."""
        raise RuntimeError


class Own(dt.datetime):
    """A class whose text would say something else."""

    def isoformat(self, *_: Any) -> str:
        """Raise."""
        raise RuntimeError


def seconds(cells: Any, column: CanonicalColumn = COLUMN) -> list[int | None]:
    """Return cells of Python in canonical form."""
    found = stored_column(cells, column.content)
    assert not isinstance(found, str), found
    return Canonicaliser(column, pl.Int64())(found).to_list()


CELLS: list[Any] = [
    NOON,
    NOON.date(),
    NOON.replace(tzinfo=dt.UTC),
    NOON.replace(tzinfo=dt.timezone(dt.timedelta(hours=-5, minutes=-30))),
    LOCAL,
    dt.datetime.fromisoformat("0001-01-01"),
    dt.datetime.fromisoformat("9999-12-31 23:59:59.999999"),
    str(NOON),
    Own(2013, 6, 1, 12),
    None,
    20130601,
    20130601.0,
    True,
    dt.time(12),
    dt.timedelta(1),
    NOON.replace(tzinfo=Broken()),
    object(),
]


def test_objects() -> None:
    """Dates and datetimes count, in their zones; nothing else does, and none raises."""
    expected = [oracle_cells.second(cell, ZONE) for cell in CELLS[:-2]]
    assert [*expected, None, None] == seconds(CELLS)
    assert [*expected, None, None] == [seconds([cell])[0] for cell in CELLS]
    assert 9 == sum(one is not None for one in expected)


def test_moments_of_other_libraries() -> None:
    """What numpy and pandas hold is the same moment, and what is no time is null."""
    wanted = oracle_cells.second(NOON, ZONE)
    cells = [
        np.datetime64(NOON),
        np.datetime64("NaT"),
        np.datetime64("2013-06-01T12:30"),
        np.datetime64("20000-01-01"),
        pd.Timestamp(NOON),
        pd.Timestamp(NOON, tz="UTC"),
        pd.NaT,
        pd.Timestamp(np.datetime64("20000-01-01", "s")),
        pd.Timestamp(np.datetime64("-0001-01-01", "s")),
    ]
    expected = [wanted, None, wanted - 15, None, wanted, wanted + ZONE, *[None] * 3]  # type: ignore[operator]
    assert expected == seconds(cells)


@pytest.mark.parametrize(
    "unit", ["Y", "M", "W", "D", "h", "m", "s", "25s", "ms", "us", "ns", "ps", "fs"]
)
def test_arrays_of_numpy(unit: str) -> None:
    """A unit is counted in floored seconds; its far ends are null and wrap nowhere."""
    counts = np.array([-1, 0, 1, 100, -(2**63), 2**63 - 1, -(2**63) + 1])
    values = counts.view(f"datetime64[{unit}]")
    found = seconds(values)
    few = values[:4].astype("datetime64[s]").astype(np.int64).tolist()
    assert few == found[:4]
    assert found[4] is None
    fine = unit in ("ns", "ps", "fs")
    assert [fine, fine] == [one is not None for one in found[5:]]


def test_masks_and_categories_and_zones() -> None:
    """Masked cells are null; a zone of pandas makes instants."""
    wanted = oracle_cells.second(NOON, ZONE)
    values = np.array([NOON, NOON], "datetime64[us]")
    assert [wanted, None] == seconds(np.ma.masked_array(values, [False, True]))
    series = pd.Series(values)
    assert [wanted, wanted] == seconds(series)
    assert [wanted, wanted] == seconds(series.astype("category"))
    paris = series.dt.tz_localize("Europe/Paris")
    assert [wanted - 3600] * 2 == seconds(paris)  # type: ignore[operator]
    assert [wanted - 3600, None] == seconds(paris.where([True, False]))  # type: ignore[operator]


@pytest.mark.parametrize(
    "content", [x for x in Content if x.value not in ("date", "time")]
)
def test_times_are_no_other_cells(content: Content) -> None:
    """A column of times cannot hold numbers, keys or ids; a single time is null."""
    values = np.array([NOON], "datetime64[us]")
    assert isinstance(stored_column(values, content), str)
    assert [None] == stored_column([NOON], content).to_list()
