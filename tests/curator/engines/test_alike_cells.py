"""Cells that are alike share a row, whatever their hashes are."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpql.curator.engines import alike_cells
from dpql.curator.engines.alike_cells import alike_rows

CELL = st.sampled_from([b"", b"a", b"A", b"a\0", b"\xff", b"a" * 50, b"b"])
ROWS = st.lists(st.tuples(CELL, st.integers(-2, 2)), max_size=40)


@pytest.mark.parametrize("hashed", [True, False])
@pytest.mark.parametrize("rounds", [0, 1, 6])
@given(rows=ROWS)
def test_rows_are_alike_if_all_their_cells_are(
    rounds: int, rows: list[tuple[bytes, int]], *, hashed: bool
) -> None:
    """Equal hashes of different cells, and none at all, change nothing."""
    cells = [
        pl.Series([text for text, _ in rows], dtype=pl.Binary),
        pl.Series([number for _, number in rows], dtype=pl.Int64),
    ]
    hashes = np.zeros(len(rows), np.uint64)
    if hashed:
        hashes = cells[0].hash(3).to_numpy()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(alike_cells, "_ROUNDS", rounds)
        patch.setattr(alike_cells, "_BLOCK_ROWS", 7)
        found = alike_rows(cells, hashes)
    assert [rows[row] for row in found] == rows
    assert len(set(found.tolist())) == len(set(rows))


def test_many_rows_are_told_apart() -> None:
    """Slots are shared by different cells, which other bits then tell apart."""
    numbers = np.arange(200_000) % 70_001
    cells = pl.Series(numbers).cast(pl.String).cast(pl.Binary)
    found = alike_rows([cells], cells.hash(1).to_numpy())
    assert (numbers[found] == numbers).all()
    assert 70_001 == len(np.unique(found))
