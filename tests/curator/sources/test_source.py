"""Fragments become one source of canonical columns."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpql.curator.sources import open_source
from dpql.curator.sources import source as module
from dpql.errors import RunFault
from dpql.model.spec import Data, IdColumn, RowsExactly


def test_ids_of_one_column_are_bytes_although_those_of_another_are_integers() -> None:
    """Each column of ids has the type that its own stored ids need."""
    columns = IdColumn(name="person"), IdColumn(name="token")
    data = Data(source="rows", rows=RowsExactly(count=1), columns=columns)
    source = open_source(pl.DataFrame({"person": [7], "token": ["a"]}), data)
    assert source.schema == {"person": pl.Int64(), "token": pl.Binary()}


@pytest.mark.parametrize("size", [1, 2, 7, 100])
@given(heights=st.lists(st.integers(0, 30), max_size=9))
def test_batches_are_neither_small_nor_large(size: int, heights: list[int]) -> None:
    """Frames are joined and sliced; rows and their order stay."""
    frames = [pl.DataFrame({"x": [n] * height}) for n, height in enumerate(heights)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "BATCH_ROWS", size)
        batches = list(module.regular(frames))
    cells = [cell for batch in batches for cell in batch["x"]]
    assert [cell for frame in frames for cell in frame["x"]] == cells
    assert all(size <= batch.height < 2 * size for batch in batches[:-1])
    assert all(0 < batch.height < 2 * size for batch in batches[-1:])


def test_types_are_judged_before_any_row_is_read() -> None:
    """A fault names the column and the type; one of several files is enough."""

    def unread(*_: object) -> Any:
        raise AssertionError

    data = Data(
        source="rows", rows=RowsExactly(count=1), columns=(IdColumn(name="person"),)
    )
    fragments = [
        module.Fragment(types={"person": dtype}, tasks=unread, row_count=unread)
        for dtype in (pl.Int64(), pl.Date())
    ]
    with pytest.raises(RunFault, match="DPQL504 column `person` is of type Date"):
        module.Source(fragments, data)


def test_columns_come_in_the_order_in_which_they_are_named() -> None:
    """Only those that are named."""
    columns = tuple(IdColumn(name=name) for name in "abc")
    data = Data(source="rows", rows=RowsExactly(count=1), columns=columns)
    source = open_source({"a": ["1"], "b": ["2"], "c": ["3"]}, data)
    (found,) = source.batches(["c", "a"], lambda batch: batch)
    assert {"c": [b"3"], "a": [b"1"]} == found.to_dict(as_series=False)
    assert ["c", "a"] == found.columns
