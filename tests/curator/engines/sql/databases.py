"""Databases of tests: how a frame becomes a table, and what runs SQL on it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from types import ModuleType
from typing import Any

import duckdb
import polars as pl
import pyarrow.parquet as pq

from dpql.curator.engines import duckdb as duckdb_engine
from dpql.curator.engines import postgres as postgres_engine
from dpql.curator.engines import spark as spark_engine
from dpql.curator.engines.sql.table import Table
from dpql.model.spec import Data


@dataclass(frozen=True, kw_only=True)
class Database:
    """A database: its engine, and what writes a frame into a new table of it."""

    name: str
    engine: ModuleType
    write: Callable[[pl.DataFrame], Any]

    def table(self, written: Any, data: Data) -> Table:
        """Return what SQL asks."""
        source = self.engine.open_source(written, data)
        if isinstance(source, Table):
            return source
        assert source.kinds is not None, "SQL reads these types"
        return spark_engine._sql_table(source, source.kinds)


def duckdb_database() -> Iterator[Database]:
    """Give a database in memory."""
    numbers = count()
    with duckdb.connect() as connection:

        def write(frame: pl.DataFrame) -> Any:
            name = f"t{next(numbers)}"
            connection.register("given", frame.to_arrow())
            connection.execute(f"CREATE TABLE {name} AS FROM given")
            return connection, name

        yield Database(name="duckdb", engine=duckdb_engine, write=write)


def postgres_database(server: str) -> Iterator[Database]:
    """Give a database of a server."""
    import psycopg
    from postgres_tables import fill

    numbers = count()
    address = f"{server}postgres"

    def write(frame: pl.DataFrame) -> str:
        name = f"sql{next(numbers)}"
        types = {
            series.name: _temporal(series.dtype)
            for series in frame
            if series.dtype.is_temporal()
        }
        with psycopg.connect(address, autocommit=True) as connection:
            connection.execute(f"DROP TABLE IF EXISTS {name}")
            fill(connection, name, frame, types)
        return f"{address}#{name}"

    yield Database(name="postgres", engine=postgres_engine, write=write)


def spark_database(session: Any, folder: Path, name: str) -> Iterator[Database]:
    """Give a session, classic or Connect."""
    numbers = count()

    def write(frame: pl.DataFrame) -> Any:
        path = folder / f"{next(numbers)}.parquet"
        # A timestamp without a zone is one of Spark, too.
        pq.write_table(frame.to_arrow(), path)
        return session.read.parquet(str(path))

    yield Database(name=name, engine=spark_engine, write=write)


def _temporal(dtype: Any) -> str:
    if dtype == pl.Date:
        return "date"
    return "timestamp" if dtype.time_zone is None else "timestamptz"
