"""Tables of PostgreSQL for tests, written as people write them: by text."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from uuid import uuid4

import polars as pl
import psycopg
from psycopg import sql

TYPES: dict[Any, str] = {
    pl.Float64: "float8",
    pl.Float32: "float4",
    pl.Int64: "int8",
    pl.Int32: "int4",
    pl.Int16: "int2",
    pl.Int8: "int2",
    pl.UInt64: "numeric",
    pl.String: "text",
    pl.Categorical: "varchar",
    pl.Boolean: "bool",
    pl.Binary: "bytea",
    pl.Null: "int4",
}
"""Type of polars -> type of PostgreSQL."""


def write(server: str, frame: pl.DataFrame, types: dict[str, str] | None = None) -> str:
    """Write a frame into a new table; return its location."""
    name = f"t{uuid4().hex}"
    with psycopg.connect(f"{server}postgres", autocommit=True) as connection:
        fill(connection, name, frame, types or {})
    return f"{server}postgres#{name}"


def fill(
    connection: Any, name: str, frame: pl.DataFrame, types: dict[str, str]
) -> None:
    """Make a table and write a frame into it, every cell by its text."""
    kinds = {
        series.name: types.get(series.name)
        or (
            "numeric"
            if isinstance(series.dtype, pl.Decimal)
            else TYPES[series.dtype.base_type()]
        )
        for series in frame
    }
    columns = sql.SQL(", ").join(
        sql.SQL("{} {}").format(sql.Identifier(column), sql.SQL(kind))
        for column, kind in kinds.items()
    )
    table = sql.Identifier(name)
    connection.execute(sql.SQL("CREATE TABLE {} ({})").format(table, columns))
    with connection.cursor().copy(sql.SQL("COPY {} FROM STDIN").format(table)) as copy:
        for row in frame.iter_rows():
            copy.write_row(row)


@contextmanager
def adbc(address: str) -> Iterator[Any]:
    """Give a connection of ADBC."""
    import adbc_driver_postgresql.dbapi as driver

    with driver.connect(address) as connection:
        yield connection
