"""Frames are made in the thread that asks for them, and end with it."""

from __future__ import annotations

import threading
from collections.abc import Generator, Sequence
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from curator_kinds import WRITE
from test_columns import made, sums

from dpql.curator.engines import engine_named, polars_csv, polars_frames, polars_lines

SCHEMA = {"x": pl.Int64(), "k": pl.String()}


def _portions(
    frames: Sequence[pl.DataFrame], readings: Sequence[Sequence[str]]
) -> list[tuple[int, pl.DataFrame]]:
    def given(names: Sequence[str]) -> Generator[pl.DataFrame, None, None]:
        yield from (frame.select(names) for frame in frames)

    found = polars_frames.frame_portions(SCHEMA, given)(readings)
    return [(number, frame.collect()) for number, frame in found]


@pytest.mark.parametrize("count", [0, 1, 2, 3, 7])
@pytest.mark.parametrize("limits", [(1, 1), (1, 100), (1 << 30, 2), (1 << 30, 100)])
def test_portions_hold_all_rows_once(
    count: int, limits: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Wherever portions end, and for each set of columns there is at least one."""
    monkeypatch.setattr(polars_frames, "_PORTION_BYTES", limits[0])
    monkeypatch.setattr(polars_frames, "_PORTION_ROWS", limits[1])
    frames = [pl.DataFrame({"x": [n], "k": [str(n)]}) for n in range(count)]
    frames[1:1] = [frame.clear() for frame in frames[:1]]
    found = _portions(frames, [["x"], ["k", "x"]])
    for number, names in enumerate((["x"], ["x", "k"])):
        some = [frame for place, frame in found if place == number]
        assert all(names == frame.columns for frame in some)
        assert all(frame.height <= limits[1] for frame in some)
        assert list(range(count)) == pl.concat(some)["x"].to_list()


def test_large_frames_go_by_themselves(monkeypatch: pytest.MonkeyPatch) -> None:
    """None is joined to others beyond the limit of rows, nor cut."""
    monkeypatch.setattr(polars_frames, "_PORTION_ROWS", 4)
    sizes = [1, 2, 9, 1, 4, 3, 1, 1]
    frames = [pl.DataFrame({"x": [1] * size, "k": ["a"] * size}) for size in sizes]
    found = [frame.height for _, frame in _portions(frames, [["x"]])]
    assert [3, 9, 1, 4, 4, 1] == found


FORMS = ["csv", "tsv", "ndjson", "arrow"]


@pytest.mark.parametrize("suffix", FORMS)
def test_reading_that_is_stopped_leaves_no_thread(
    suffix: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever has had enough of many portions ends those who read ahead."""
    monkeypatch.setattr(polars_frames, "_PORTION_ROWS", 1)
    monkeypatch.setattr(polars_csv, "_BATCH_BYTES", 64)
    monkeypatch.setattr(polars_lines, "_BATCH_BYTES", 64)
    for place in range(9):
        frame = pl.DataFrame({"x": range(99), "k": ["north"] * 99})
        WRITE[suffix](frame, tmp_path / f"{place}.{suffix}")
    before = threading.active_count()
    engine: Any = engine_named("polars")
    portions = engine.open_frame(tmp_path, made().spec.data).portions([["x"]])
    number, rows = next(portions)
    assert (0, True) == (number, rows.collect().height < 9 * 99)
    portions.close()
    del portions
    assert before == threading.active_count()


@pytest.mark.parametrize("suffix", FORMS)
def test_rows_are_the_same_in_many_portions(
    suffix: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Sums over single lines are those over whole files."""
    frame = pl.DataFrame({"x": range(99), "k": ["north", "south", "1"] * 33})
    WRITE[suffix](frame, tmp_path / f"a.{suffix}")
    WRITE[suffix](frame.reverse(), tmp_path / f"b.{suffix}")
    expected = sums(tmp_path)
    assert (2 * sum(range(99)), [66, 66, 66]) == expected
    monkeypatch.setattr(polars_frames, "_PORTION_ROWS", 1)
    monkeypatch.setattr(polars_csv, "_BATCH_BYTES", 1)
    monkeypatch.setattr(polars_lines, "_BATCH_BYTES", 1)
    assert expected == sums(tmp_path)
