"""Rows are the same whether memory holds them or a file does."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from dpql.curator.engines import row_store
from dpql.curator.engines.row_store import (
    MOST_BYTES,
    Column,
    RowStore,
    loaded_texts,
    stored_texts,
)


def batch(start: int) -> list[Column]:
    """Return ten rows in three partitions, of which one is empty, and some bytes."""
    numbers = np.arange(start, start + 10)
    words = np.stack([numbers, -numbers], axis=1)
    content = np.arange(start, start + 25, dtype=np.uint8)
    return [Column(words, [4, 4, 10]), Column(content, [0, 25, 25])]


def contents(store: RowStore, first: int, end: int) -> list[Any]:
    """Return all columns that a store has of some partitions."""
    rows = store.part(first, end)
    assert rows is not None
    return [(column.dtype, column.shape, column.tolist()) for column in rows]


@pytest.mark.parametrize("beyond", [0, 1])
def test_declared_bytes_decide_where_rows_wait(beyond: int) -> None:
    """Not what comes: that is private."""
    store = RowStore(3, MOST_BYTES + beyond)
    assert bool(beyond) == (store._file is not None)
    store.close()


def test_rows_come_back_from_a_file_without_a_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every partition has its rows, and no folder has a file of them."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    held, spilled = RowStore(3, 0), RowStore(3, MOST_BYTES + 1)
    for start in range(0, 70, 10):
        held.add(batch(start))
        spilled.add(batch(start))
    assert [] == list(tmp_path.iterdir())
    assert [28, 0, 42] == spilled.rows.tolist() == held.rows.tolist()
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
    held, read = RowStore(3, 2), os.pread
    held.add(batch(0))
    expected = contents(held, 0, 3)
    monkeypatch.setattr(
        os, "pread", lambda file, size, at: read(file, min(size, 7), at)
    )
    assert expected == contents(held, 0, 3)
    monkeypatch.setattr(os, "pread", lambda *_: b"")
    with pytest.raises(OSError, match="shorter"):
        held.part(0, 3)
    held.close()


def test_a_store_without_batches_has_no_rows() -> None:
    """An empty table has no partition."""
    store = RowStore(1, 0)
    assert store.part(0, 1) is None
    store.close()


@pytest.mark.parametrize("taken", [False, True])
def test_texts_are_lengths_and_bytes(*, taken: bool) -> None:
    """Any bytes come back, partition by partition; a null is an empty text."""
    some = [b"", None, b"\xff\x00", b"a", b"ab" * 40, None, "\u65e5".encode()]
    texts = pl.Series(some, dtype=pl.Binary)
    if taken:
        texts = texts.gather(range(len(some)))
    columns = list(stored_texts(texts, [2, 2, 7]))
    for first, end, expected in ((0, 3, some), (0, 2, some[:2]), (2, 3, some[2:])):
        found = loaded_texts(*(column.part(first, end) for column in columns))
        assert [one or b"" for one in expected] == found.to_list()
    assert [] == loaded_texts(*(column.part(1, 2) for column in columns)).to_list()
