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
from clickhouse import CLICKHOUSE, SETTINGS, kind_of

from dpql.curator.engines import duckdb as duckdb_engine
from dpql.curator.engines import postgres as postgres_engine
from dpql.curator.engines import spark as spark_engine
from dpql.curator.engines.sql.table import Table, checked_kinds, not_read
from dpql.curator.sources.stored import find_columns
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


_CLOCK = "Nullable(DateTime64(6))"


def clickhouse_database(folder: Path) -> Iterator[Database]:
    """Give a ClickHouse of this process, whose dialect is a file of the tests."""
    from chdb.session import Session

    session = Session(str(folder / "clickhouse"))
    settings = ", ".join(f"{name} = {value}" for name, value in SETTINGS.items())
    numbers = count()

    def ask(text: str) -> list[Any]:
        answer = session.query(f"{text}\nSETTINGS {settings}", "ArrowTable")
        return list(
            zip(*(column.to_pylist() for column in answer.columns), strict=True)
        )

    def write(frame: pl.DataFrame) -> str:
        name = f"t{next(numbers)}"
        path = folder / f"{name}.parquet"
        pq.write_table(frame.to_arrow(), path)
        stored = [(row[0], row[1]) for row in ask(f"DESCRIBE TABLE file('{path}')")]
        # Parquet's clocks come as instants of Greenwich; here they have no zone.
        types = ", ".join(
            f"{CLICKHOUSE.named(column)} {dtype if zoned else _CLOCK}"
            for (column, dtype), cells in zip(stored, frame, strict=True)
            for zoned in [getattr(cells.dtype, "time_zone", True)]
        )
        session.query(f"CREATE TABLE {name} ({types}) ENGINE = Memory")
        session.query(f"INSERT INTO {name} SELECT * FROM file('{path}')")
        return name

    def open_source(name: object, data: Data) -> Table:
        if not isinstance(name, str) or not name.isalnum():
            raise not_read(CLICKHOUSE.name, "names of tables", data.source)
        stored = {row[0]: row[1] for row in ask(f"DESCRIBE TABLE {name}")}
        types = {one: stored[one] for one in find_columns(list(stored), data)}
        kinds = {column: (dtype, kind_of(dtype)) for column, dtype in types.items()}
        return Table(
            sql_name=CLICKHOUSE.named(name),
            kinds=checked_kinds(kinds, data, CLICKHOUSE.name),
            dialect=CLICKHOUSE,
            ask=ask,
        )

    engine = ModuleType("clickhouse_engine")
    vars(engine).update(open_source=open_source, sums=duckdb_engine.sums)
    yield Database(name="clickhouse", engine=engine, write=write)
    session.close()


def _temporal(dtype: Any) -> str:
    if dtype == pl.Date:
        return "date"
    return "timestamp" if dtype.time_zone is None else "timestamptz"
