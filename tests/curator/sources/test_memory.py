"""Tables in memory: columns of any kind, sliced, streamed and counted."""

from __future__ import annotations

from collections import deque
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from tables import KINDS, WHOLE, arrow, category, declare, ordered, rows

from dpql.curator.sources import memory, open_source
from dpql.errors import RunFault
from dpql.model.spec import Data

DATA = declare(x=WHOLE, k=category("north", "1"))


def _refused(frame: object, data: Data = DATA) -> str:
    with pytest.raises(RunFault) as caught:
        open_source(frame, data)
    return str(caught.value)


@pytest.mark.parametrize(
    "cells",
    [
        [1, 2],
        (1, 2),
        range(1, 3),
        deque([1, 2]),
        ["1", 2.0],
        [Decimal(1), np.float32(2)],
        np.array([1, 2], ">i2"),
        np.array([1, 2], np.longdouble),
        np.array([1, 2], np.float16),
        np.array(["1", "2"]),
        np.array([1, 2], object),
        np.arange(5)[1:3],
        np.ma.array([1, 2, 3])[:2],
        pl.Series([1, 2]),
        pd.Series([1, 2]),
        pd.Index([1, 2]),
        pd.array([1, 2]),
        pa.array([1, 2]),
        pa.chunked_array([["1"], ["2"]]),
        pa.array(["1", "2"]).dictionary_encode(),
    ],
    ids=lambda cells: f"{type(cells).__name__} {getattr(cells, 'dtype', '')}",
)
def test_columns_of_a_mapping_may_be_any_sequence(cells: Any) -> None:
    """Lists, arrays and series hold cells; columns that are not declared may be any."""
    frame = {"x": cells, "k": ["north"] * 2, "unused": object(), 5: None}
    assert [(1, "north"), (2, "north")] == rows(frame, DATA)


@pytest.mark.parametrize(
    "cells",
    [
        "17",
        b"17",
        bytearray(b"17"),
        memoryview(b"17"),
        17,
        None,
        {1: 2},
        {1, 2},
        iter([1, 2]),
        pl.Series([object(), object()], dtype=pl.Object),
        np.array([b"1", b"2"]),
        np.array([[1], [2]]),
        np.array(["2020-01-01"] * 2, "datetime64[s]"),
        np.array([1, 2], "timedelta64[s]"),
        np.array([1j, 2]),
        np.array([(1,), (2,)], [("secret", int)]),
    ],
    ids=lambda cells: f"{type(cells).__name__} {getattr(cells, 'dtype', '')}",
)
def test_what_is_no_column_is_refused(cells: Any) -> None:
    """A column of a mapping is a sequence of cells, of a type that can be read."""
    found = _refused({"x": cells, "k": ["north"] * 2})
    assert "DPQL504 column `x` is of type " in found
    assert "secret" not in found


def test_columns_of_a_mapping_are_equally_long() -> None:
    """Rows need a cell in every declared column, and only there."""
    assert "DPQL502" in _refused({"x": [1, 2, 3], "k": ["north"]})
    assert "DPQL503" in _refused({"x": [1]})
    assert "DPQL503" in _refused({})
    frame = {"x": [1], "k": ["north"], "unused": []}
    assert [(1, "north")] == rows(frame, DATA)


def test_labels_of_pandas_are_names() -> None:
    """Whole numbers are labels, too; labels of several levels are not."""
    data = declare(**{"2020": WHOLE})
    frame = pd.DataFrame({2020: [1, 2], None: [1, 2], (1, 2): 3, True: 4, 1.5: 5})
    assert [(1,), (2,)] == rows(frame, data)
    levels = pd.MultiIndex.from_tuples([(1, "x"), (1, "k")])
    assert "DPQL503" in _refused(pd.DataFrame([[1, "north"]], columns=levels))
    twice = pd.DataFrame([[1, 2, "north"]], columns=["x", "x", "k"])
    assert "DPQL503 column `x` is there twice" in _refused(twice)
    other = pd.DataFrame([[1, 2, 3, "north"]], columns=["x", "y", "y", "k"])
    assert [(1, "north")] == rows(other, DATA)
    indexed = pd.DataFrame({"x": [1, 2], "k": ["1"] * 2}, index=["same", "same"])
    assert [(1, "1"), (2, "1")] == rows(indexed, DATA)


def test_a_stream_of_single_values_is_no_table() -> None:
    """It has no columns."""
    assert "DPQL502" in _refused(pa.chunked_array([[1, 2]]))


@pytest.mark.heavy
@pytest.mark.parametrize("words", [5, 400])
@pytest.mark.parametrize("kind", ["arrow table", "arrow words", "arrow stream"])
def test_batches_of_any_size_hold_all_rows(
    kind: str, words: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Long columns are sliced and short ones joined, and no cell is lost."""
    cells = [b"%d" % (number % words) for number in range(1000)]
    frame = pl.DataFrame({"x": range(1000), "k": pl.Series(cells, dtype=pl.Binary)})
    wanted = [(x, "1" if x % words == 1 else None) for x in range(1000)]
    for size in (1, 7, 999, 1000, 2000):
        monkeypatch.setattr(memory, "BATCH_ROWS", size)
        made: Any = arrow(frame, "dictionary" if kind == "arrow words" else "string")
        if kind == "arrow stream":
            batches = made.to_batches(max_chunksize=13)
            made = pa.RecordBatchReader.from_batches(made.schema, batches)
        assert ordered(wanted) == rows(made, DATA)


def test_dictionaries_may_differ_between_batches_of_a_stream() -> None:
    """Each word is looked up in the dictionary that it came with."""
    batches = [
        pa.record_batch({"x": [n], "k": pa.array([word]).dictionary_encode()})
        for n, word in enumerate(["north", "1", "else", "north"])
    ]
    reader = pa.RecordBatchReader.from_batches(batches[0].schema, batches)
    assert [(0, "north"), (1, "1"), (2, None), (3, "north")] == rows(reader, DATA)


@pytest.mark.parametrize("kind", ["polars", "polars lazy", "arrow table", "mapping"])
def test_tables_may_be_read_twice(kind: str, tmp_path: Any) -> None:
    """Reading uses up nothing but streams."""
    frame = pl.DataFrame({"x": [1, 2], "k": ["north", "1"]})
    source = open_source(KINDS[kind].make(frame, tmp_path), DATA)
    for _ in range(2):
        (found,) = source.batches(["x"], pl.DataFrame.rows)
        assert [(1,), (2,)] == sorted(found)


def test_a_lazy_frame_computes_only_what_is_declared() -> None:
    """A column that fails on every row does not matter while nobody declares it."""
    frame = pl.LazyFrame({"x": [1, 2], "k": ["north", "1"], "t": ["a", "b"]})
    failing = frame.with_columns(unused=pl.col("t").cast(pl.Int64))
    assert [(1, "north"), (2, "1")] == rows(failing, DATA)
    assert 2 == open_source(failing, DATA).row_count()
