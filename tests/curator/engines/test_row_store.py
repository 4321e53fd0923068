"""Packed rows are the same whether memory holds them or a file does."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from dpql.curator.engines import row_store
from dpql.curator.engines.row_store import Rows, RowStore, are_whole


def batch(start: int, *, whole: bool) -> tuple[Rows, list[int]]:
    """Return ten rows in three partitions, of which one is empty."""
    numbers = np.arange(start, start + 10)
    units = pl.Series("unit", numbers)
    texts = pl.Series("other", [f"{n}" if n % 3 else None for n in numbers])
    ids = [texts.cast(pl.Binary)]
    rows = Rows(
        units if whole else units.cast(pl.String).cast(pl.Binary),
        numbers.astype(np.uint64) << np.uint64(32),
        [numbers * 2, -numbers],
        ids,
    )
    return rows, [4, 4, 10]


def contents(store: RowStore, first: int, end: int) -> list[tuple[object, ...]]:
    """Return all rows that a store has of some partitions, in order."""
    rows = store.rows(first, end)
    assert rows is not None
    columns = [rows.units, rows.hashes, *rows.words, *rows.ids]
    return sorted(zip(*(list(column) for column in columns), strict=True), key=str)


@pytest.mark.parametrize("whole", [True, False])
@pytest.mark.parametrize("most", [1, 600])
def test_rows_come_back_from_a_file_without_a_name(
    most: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, whole: bool
) -> None:
    """Every partition has its rows, and no folder has a file of them."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    held, spilled = RowStore(3), RowStore(3)
    for start in range(0, 70, 10):
        held.add(*batch(start, whole=whole))
    monkeypatch.setattr(row_store, "MOST_BYTES", most)
    for start in range(0, 70, 10):
        spilled.add(*batch(start, whole=whole))
    assert spilled._file is not None
    assert [] == list(tmp_path.iterdir())
    assert 70 == spilled.row_count == held.row_count
    for first, end in ((0, 1), (1, 2), (2, 3), (0, 3), (1, 3)):
        assert contents(held, first, end) == contents(spilled, first, end)
    spilled.close()
    assert spilled._file.closed
    held.close()


def test_a_file_is_read_in_as_many_pieces_as_it_comes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The system gives less than 2 GiB at once, whatever it is asked for."""
    monkeypatch.setattr(row_store, "MOST_BYTES", 1)
    held, read = RowStore(3), os.pread
    held.add(*batch(0, whole=False))
    expected = contents(held, 0, 3)
    monkeypatch.setattr(
        os, "pread", lambda file, size, at: read(file, min(size, 7), at)
    )
    assert expected == contents(held, 0, 3)
    monkeypatch.setattr(os, "pread", lambda *_: b"")
    with pytest.raises(OSError, match="shorter"):
        held.rows(0, 3)
    held.close()


def test_a_store_without_batches_has_no_rows() -> None:
    """An empty table has no partition."""
    store = RowStore(1)
    assert store.rows(0, 1) is None
    store.close()


def test_ids_are_whole_or_bytes() -> None:
    """Only integers are compared as integers."""
    assert are_whole(pl.Series([1]))
    assert not are_whole(pl.Series([b"1"]))
