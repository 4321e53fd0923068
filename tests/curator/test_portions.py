"""Portions of Parquet files: every row counts once, however many of them there are."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import reference_engine as reference
from curator_frames import RELAXED, frames
from curator_plans import (
    COLUMNS,
    known_plan,
    known_unit_plan,
    row_plan,
    unit_plan,
)
from hypothesis import given
from hypothesis import strategies as st
from test_parity import answer, same

from dpql.curator.engines import parquet_excerpts, polars_engine, polars_excerpts
from dpql.curator.engines.parquet_copies import excerpt
from dpql.curator.engines.polars_pieces import Piece
from dpql.curator.engines.polars_query import Reading
from dpql.curator.engines.polars_text import bytes_words

PLANS = {
    "row": row_plan(),
    "known": known_plan(5),
    "unit": unit_plan(1, 1),
    "known_unit": known_unit_plan(5, 1),
}


def _rows(count: int) -> pl.DataFrame:
    """Return rows of the plans, all alike."""
    types = {"region": str, "kind": str, "age": int, "kids": int, "big": int}
    return pl.DataFrame([{n: types.get(n, float)() for n in COLUMNS}] * count)


@pytest.mark.parametrize("rows", [1, 50, 300])
def test_a_run_needs_no_more_memory_than_its_rooms(
    rows: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A portion is given back before the next but one is made, in the same room.

    That is large enough for all of them, also where a row group is a portion.
    """
    path = tmp_path / "rows.parquet"
    _rows(900).write_parquet(path, row_group_size=rows)
    monkeypatch.setattr(polars_excerpts, "_PORTION_BYTES", 1 << 11)
    rooms: list[tuple[int, int]] = []

    def made(*given: Any) -> tuple[bytes, frozenset[str]]:
        held, found = excerpt(*given)
        rooms.append((id(held), len(held)))
        return held, found

    monkeypatch.setattr(polars_excerpts, "excerpt", made)
    answer(polars_engine, PLANS["row"], path)
    assert len(rooms) > 2 == len(set(rooms))
    assert len({size for _, size in rooms}) == 1


@pytest.mark.parametrize("kind", PLANS)
@given(data=st.data())
@RELAXED
def test_portions_of_any_size_give_the_integers_of_the_reference(
    kind: str, data: Any, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Row groups in many portions, merged early, and some of them read by Arrow.

    Words are places in some of them, and bytes in others.
    """
    decided = PLANS[kind]
    names = [column.name for column in decided.spec.data.columns]
    frame = data.draw(frames(names, size=5))
    path = tmp_path_factory.mktemp("rows") / "rows.parquet"
    frame.write_parquet(path, row_group_size=data.draw(st.sampled_from([1, 2, 5])))
    with pytest.MonkeyPatch.context() as patch:
        size = data.draw(st.sampled_from([1, 200, 1 << 20]))
        patch.setattr(polars_excerpts, "_PORTION_BYTES", size)
        patch.setattr(polars_engine, "_HELD", data.draw(st.sampled_from([2, 16])))
        patch.setattr(
            parquet_excerpts, "_LARGEST_ROWS", data.draw(st.sampled_from([1, 2, 9]))
        )
        patch.setattr(polars_excerpts, "_FEW_KEYS", data.draw(st.sampled_from([0, 9])))
        found = answer(polars_engine, decided, path)
    # Another engine may draw other lots; this one draws the same from any source.
    other = reference if decided.spec.privacy.unit is None else polars_engine
    same(decided, answer(other, decided, frame), found)


@given(
    lengths=st.lists(st.integers(1, 60), min_size=1, max_size=40),
    most=st.sampled_from([1, 50, 100, 400]),
)
def test_portions_hold_every_row_group_once_and_little_more_than_they_should(
    lengths: list[int], most: int
) -> None:
    """They are about as large as each other, and no small one is left over."""
    sizes = dict(enumerate(lengths))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(polars_excerpts, "_PORTION_BYTES", most)
        patch.setattr(polars_excerpts, "_size", lambda part, _: sizes[part])
        found = list(polars_excerpts._of_equal_size(list(sizes), ["x"]))
    assert list(sizes) == [part for portion in found for part in portion]
    held = [sum(map(sizes.__getitem__, portion)) for portion in found]
    longest = max(lengths)
    most = min(max(most, 2 * longest), 2 * most)
    wanted = max(1, math.ceil((sum(lengths) - most // 4) / most))
    assert all(
        len(portion) == 1 or size <= most * 5 / 4 + longest * (1 + math.log(wanted))
        for portion, size in zip(found, held, strict=True)
    )
    assert most < longest or len(found) <= wanted


def test_excerpts_are_what_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The parity above is that of excerpts: an ordinary file qualifies."""
    made: list[Piece] = []
    piece = polars_excerpts.excerpt_piece
    decided = row_plan()
    _rows(3).write_parquet(tmp_path / "rows.parquet", row_group_size=2)
    monkeypatch.setattr(
        "dpql.curator.engines.polars_columnar.excerpt_piece",
        lambda *given: made.append(piece(*given)) or made[-1],
    )
    source = polars_engine.open_frame(tmp_path / "rows.parquet", decided.spec.data)
    assert [one.coded for one in made] == [{"region", "kind"}] == [source.coded]
    assert source.rows() == 3


@pytest.mark.parametrize("kind", PLANS)
def test_a_file_without_rows_counts_nothing(kind: str, tmp_path: Path) -> None:
    """There are no portions of it, and all cells of its statistics."""
    decided = PLANS[kind]
    names = [column.name for column in decided.spec.data.columns]
    path = tmp_path / "rows.parquet"
    pq.ParquetWriter(path, pa.schema(dict.fromkeys(names, pa.string()))).close()
    assert pq.ParquetFile(path).metadata.num_row_groups == 0
    found = answer(polars_engine, decided, path)
    for step, moments in zip(decided.steps, found.moments, strict=True):
        assert {m.name: [0] * step.cells for m in step.moments} == dict(moments)


def test_answers_beyond_64_bits_are_merged_exactly() -> None:
    """What each portion holds in 64 bits, all of them may not."""
    most = 2**63 - 1
    flat = pl.DataFrame(
        {"u": [most], "n": [2**32 - 1]}, {"u": pl.Int64, "n": pl.UInt32}
    )
    reading = Reading(lambda _: {})
    (row,) = reading.merged([flat] * 3).rows(named=True)
    assert row == {"u": 3 * most, "n": 3 * (2**32 - 1)}
    (row,) = reading.merged([flat, reading.merged([flat] * 3)]).rows(named=True)
    assert row == {"u": 4 * most, "n": 4 * (2**32 - 1)}
    keyed = [
        pl.DataFrame({"cell": [0, 2], "u": [most, -most]}),
        pl.DataFrame({"cell": [2, 1], "u": [-most, 5]}),
    ]
    found = Reading(lambda _: {}, keyed=True).merged(keyed)
    assert dict(found.rows()) == {0: most, 1: 5, 2: -2 * most}


@pytest.mark.parametrize("size", [0, 1, 4095, 4096, 4097, 8192, 10_000])
def test_bytes_become_text_a_few_cells_at_a_time(size: int) -> None:
    """A broken cell is no word; the others stay, wherever it stands."""
    for broken in {0, size // 2, size - 1} - {-1}:
        cells: list[bytes | None] = [b"\xc3\xa9", None] * (size // 2) + [b"a"] * (
            size % 2
        )
        if size:
            cells[broken] = b"a\xff"
        expected = [
            None if cell is None or cell == b"a\xff" else cell.decode()
            for cell in cells
        ]
        column = pl.Series("k", cells, pl.Binary)
        read = column.to_frame().lazy().select(bytes_words(pl.col("k")))
        assert expected == read.collect()["k"].to_list()
