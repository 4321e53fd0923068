"""Fragments become one source of canonical columns."""

from __future__ import annotations

import polars as pl

from dpql.curator.sources import open_source
from dpql.model.spec import Data, IdColumn, RowsExactly


def test_ids_of_one_column_are_bytes_although_those_of_another_are_integers() -> None:
    """Each column of ids has the type that its own stored ids need."""
    columns = IdColumn(name="person"), IdColumn(name="token")
    data = Data(source="rows", rows=RowsExactly(count=1), columns=columns)
    source = open_source(pl.DataFrame({"person": [7], "token": ["a"]}), data)
    assert source.schema == {"person": pl.Int64(), "token": pl.Binary()}
