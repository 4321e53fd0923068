"""Dates and times become whole seconds of a clock, however they are written."""

from __future__ import annotations

import datetime as dt
import json
from pathlib import Path
from typing import Any

import oracle_cells
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpql.curator.sources.instants import days, stored_seconds, wall_seconds

VECTORS = Path(__file__).parents[2] / "vectors" / "questions" / "dates.json"
CASES = json.loads(VECTORS.read_text())["cases"]

WRITTEN = [
    "2024-02-29",
    "2023-02-29",
    "0001-01-01",
    "0000-12-31",
    "9999-12-31",
    "9999-12-31T23:59:59.999999",
    "9999-12-31T23:30:00-01:00",
    "0000-12-31T23:30:00-01:00",
    "0000-02-29T23:30:00-01:00",
    "2024-06-01T24:00:00",
    "2024-06-01T23:59:60",
    "2024-06-01T23:59:61",
    "2024-06-01T23:60",
    "2024-06-01T12",
    "2024-06-01T12:3",
    "2024-06-01T12:30:",
    "2024-06-01T12:30:5",
    "2024-06-01T12:30:05.",
    "2024-06-01T12:30:05,5",
    "2024-06-01T12:30.5",
    "2024-06-01 12:30Z",
    "2024-06-01 12:30+05",
    "2024-06-01 12:30+0530",
    "2024-06-01 12:30+05:30",
    "2024-06-01 12:30+05:30:15",
    "2024-06-01 12:30+24:00",
    "2024-06-01 12:30+05:60",
    "2024-06-01 12:30 +05:00",
    "2024-06-01  12:30",
    "2024-06-01t12:30",
    "2024-06-01T12:30z",
    "2024-06-01Z",
    "20240601",
    "2024-6-1",
    "2024-W05-1",
    "2024-060",
    "+2024-06-01",
    "-2024-06-01",
    " 2024-06-01",
    "2024-06-01 ",
    "2024-06-01\n",
    "2024-06-01\x00",
    "2024/06/01",
    "2024-00-01",
    "2024-13-01",
    "2024-99-01",
    "2024-06-00",
    "2024-06-99",
    "２０24-06-01",
    "2024-06-0é",
    "2024-06-01T12:30:05.٣",
    "2024-06-01T12:30:05.5é",
    "2024-06-01T1é:30:05",
    "",
    "T",
    "x" * 10_000,
    "2024-06-01T12:30:05." + "9" * 10_000 + "Z",
]


def seconds(texts: list[str | None], zone: int = 0) -> list[int | None]:
    """Return what texts are on the clock of a zone."""
    return wall_seconds(pl.Series(texts, dtype=pl.String), zone).to_list()


@pytest.mark.parametrize("zone", [0, 3600, -5400])
def test_texts_are_read_as_the_page_says(zone: int) -> None:
    """Each text is what the oracle reads, alone and among the others."""
    expected = [oracle_cells.second(text, zone) for text in WRITTEN]
    assert expected == [seconds([text], zone)[0] for text in WRITTEN]
    assert [None, *expected] == seconds([None, *WRITTEN], zone)
    assert 13 == sum(one is not None for one in expected)


_ALPHABET = "0123456789-+:.,TZ zé"


@pytest.mark.property
@given(
    texts=st.lists(
        st.sampled_from(WRITTEN)
        .flatmap(
            lambda text: st.tuples(
                st.just(text[:40]), st.integers(0, 40), st.sampled_from(_ALPHABET)
            )
        )
        .map(lambda cut: cut[0][: cut[1]] + cut[2] + cut[0][cut[1] + 1 :]),
        max_size=20,
    ),
    zone=st.sampled_from([0, 7200, -12600]),
)
def test_a_changed_character_is_read_as_the_page_says(
    texts: list[str], zone: int
) -> None:
    """No text is read as another."""
    assert [oracle_cells.second(text, zone) for text in texts] == seconds(texts, zone)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_vectors(case: dict[str, Any]) -> None:
    """Days and clamped steps are those of the vectors."""
    given_, expected = case["input"], case["expect"]
    if "date" in given_:
        series = wall_seconds(pl.Series([given_["date"]]), 0)
        assert [expected["day"]] == days(series).to_list()
    if "text" in given_:
        (found,) = seconds([given_["text"]], given_["zone_minutes_east"] * 60)
        first, last = (oracle_cells.second(given_[x], 0) for x in ("first", "last"))
        assert first is not None
        assert last is not None
        inside = None if found is None else min(max(found, first), last)
        step = given_["step_seconds"]
        assert expected["u"] == (None if inside is None else (inside - first) // step)


@pytest.mark.parametrize("unit", ["ms", "us", "ns"])
@pytest.mark.parametrize("aware", [False, True])
def test_stored_timestamps_are_floored(unit: Any, aware: bool) -> None:  # noqa: FBT001
    """Those before 1970 as well; a zone moves instants only."""
    per_second = {"ms": 10**3, "us": 10**6, "ns": 10**9}[unit]
    counts = [-1, 0, 1, per_second, -per_second - 1, None, 2**63 - 1, -(2**63) + 1]
    cells = pl.Series(counts, dtype=pl.Int64)
    cells = cells.cast(pl.Datetime(unit, "UTC" if aware else None))
    shift = 60 if aware else 0
    found = wall_seconds(cells, 60)
    assert [-1, 0, 0, 1, -2, None] == [
        None if one is None else one - shift for one in found[:6]
    ]
    # Nanoseconds of 64 bits do not leave the known years.
    assert (unit == "ns") is (found[6] is not None) is (found[7] is not None)


def test_dates_beyond_the_years_are_null() -> None:
    """The years 1 to 9999 have days, and so has nothing else that 32 bits hold."""
    first, last = -719_162, 2_932_896
    counts = [first - 1, first, last, last + 1, 2**31 - 1, -(2**31)]
    cells = pl.Series(counts, dtype=pl.Int32).cast(pl.Date)
    expected = [None, first, last, None, None, None]
    assert expected == days(wall_seconds(cells, 3600)).to_list()
    assert expected == days(stored_seconds(pl.Series(counts), of_days=True)).to_list()


@pytest.mark.parametrize("text", ["0001-01-01 00:00", "9999-12-31 23:59:59"])
def test_the_ends_of_all_years_are_read(text: str) -> None:
    """The first and the last second are, and their zones lead out."""
    moment = dt.datetime.fromisoformat(text) - dt.datetime.fromisoformat("1970-01-01")
    second = moment // dt.timedelta(seconds=1)
    assert [second] == seconds([text])
    assert [second] == seconds([text + "Z"])
    assert {None, second + 60, second - 60} >= set(
        seconds([text + "Z"], 60) + seconds([text + "Z"], -60)
    )
