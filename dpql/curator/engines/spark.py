"""The engine of Spark: beyond one machine, with the same whole numbers.

units   rows of a unit come together by `repartition`; the polars engine bounds and
        sums each partition where it is, and the driver adds the sums; likewise where
        keys are to be found
rows    Spark sums by SQL; where a type is not one that SQL may read, as text that
        should be numbers, the polars engine sums the partitions
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any

from dpql.curator.engines import Searched, Sums, Tick, polars
from dpql.curator.engines.spark_executors import require_executors
from dpql.curator.engines.spark_partitions import PARTS, added, joined
from dpql.curator.engines.sql.dialect import Kind
from dpql.curator.engines.sql.spark import SPARK, kind_of
from dpql.curator.engines.sql.statements import sums_of_table
from dpql.curator.engines.sql.table import Table, checked_kinds, not_read
from dpql.curator.program import Program
from dpql.curator.sources.spark import (
    SCHEME,
    SparkTable,
    is_frame,
    is_session,
    require_ansi,
    silenced,
    table_at,
    table_of,
)
from dpql.curator.sources.stored import find_columns
from dpql.errors import RunFault
from dpql.model.spec import Data

_numbers = count()

_PASSES = "spark.sql.analyzer.maxIterations"
_MOST_PASSES = "10000"
"""How often Spark may go over a text to find its names; 100 are not always enough."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SparkSource:
    """The declared columns of a table; ``kinds`` where SQL may read all of them."""

    session: Any = field(repr=False)
    frame: Any = field(repr=False)
    kinds: dict[str, Kind] | None
    types: dict[str, str]
    source: str


def open_source(frame: object, data: Data) -> SparkSource:
    """Return a table by its location, of a session, or a DataFrame.

    Raises:
        RunFault: DPQL501 to DPQL504, from the schema alone.
    """
    table = _table(frame, data)
    with silenced(table.session):
        found = find_columns(table.frame.columns, data)
        types = dict(table.frame.dtypes)
        chosen = table.frame.select(*map(SPARK.named, found))
        # The types that the polars engine will meet, without a row.
        empty = _plain(chosen, types).limit(0).toArrow()
        polars.open_source(empty, data)
    named = {name: types[name] for name in found}
    kinds = None
    try:
        known = {name: (dtype, kind_of(dtype)) for name, dtype in named.items()}
        kinds = checked_kinds(known, data, SPARK.name)
    except RunFault:
        pass
    return SparkSource(
        session=table.session,
        frame=chosen,
        kinds=kinds,
        types=named,
        source=data.source,
    )


def _table(frame: object, data: Data) -> SparkTable:
    match frame:
        case str() | Path() if str(frame).startswith(SCHEME):
            return table_at(str(frame), data.source)
        case (session, str(name)) if is_session(session):
            return table_of(session, name, data.source)
        case _ if is_frame(frame):
            found: Any = frame
            require_ansi(found.sparkSession, data.source)
            return SparkTable(session=found.sparkSession, frame=found)
    what = "spark:catalog.schema.table, DataFrames of Spark"
    raise not_read(SPARK.name, what, data.source)


def _plain(frame: Any, types: dict[str, str]) -> Any:
    """Return the same columns, of which no text has a collation."""
    columns = [
        f"{SPARK.words(SPARK.named(name))} AS {SPARK.named(name)}"
        if types[name].startswith("string collate")
        else SPARK.named(name)
        for name in frame.columns
    ]
    return frame.selectExpr(*columns)


def sums(
    program: Program, source: SparkSource, *, salt: bytes, tick: Tick | None
) -> Sums:
    """Return the moments or counts of every tally, exactly, for every cell."""
    with silenced(source.session):
        by_sql = program.unit is None and not program.found
        if by_sql and source.kinds is not None:
            return sums_of_table(program, _sql_table(source, source.kinds), tick)
        total, rows = added(program, _parts(program, source, salt))
    return total.sums(rows if program.counts_rows else None)


def key_counts(
    program: Program, source: SparkSource, *, salt: bytes, tick: Tick | None
) -> Searched:
    """Return every key of every search of the program, and the units that have it."""
    del tick
    with silenced(source.session):
        found, rows = joined(program, _parts(program, source, salt), salt)
    return Searched(rows=rows if program.counts_rows else None, counts=tuple(found))


def _sql_table(source: SparkSource, kinds: dict[str, Kind]) -> Table:
    view = f"dpql_rows_{next(_numbers)}"
    source.frame.createOrReplaceTempView(view)

    def ask(text: str) -> list[Any]:
        with _patience(source.session):
            found: list[Any] = source.session.sql(text).collect()
        return found

    return Table(
        sql_name=SPARK.named(view),
        kinds=kinds,
        dialect=SPARK,
        ask=ask,
        end=lambda: source.session.catalog.dropTempView(view),
    )


@contextmanager
def _patience(session: Any) -> Iterator[None]:
    """Let Spark go over a text of many derived columns until all names are found."""
    before = session.conf.get(_PASSES)
    session.conf.set(_PASSES, _MOST_PASSES)
    try:
        yield
    finally:
        session.conf.set(_PASSES, before)


def _parts(program: Program, source: SparkSource, salt: bytes) -> Any:
    """Return an Arrow table of what the polars engine makes of each partition."""
    require_executors(source.session, source.source)
    names = [column.name for column in program.columns]
    frame = _plain(source.frame.select(*map(SPARK.named, names)), source.types)
    if program.unit is not None:
        frame = frame.repartition(*_by_unit(program.unit, source))

    def partition(batches: Iterator[Any]) -> Iterator[Any]:
        # One thread a task: Spark runs as many tasks as there are cores.
        import os

        os.environ.setdefault("POLARS_MAX_THREADS", "1")
        from dpql.curator.engines.spark_partitions import worked

        return worked(program, salt, batches)

    return frame.mapInArrow(partition, PARTS).toArrow()


def _by_unit(unit: str, source: SparkSource) -> list[Any]:
    """Return what brings the rows of a unit together; those of none are spread.

    0.0 and -0.0 are one id.
    """
    connect = type(source.frame).__module__.startswith("pyspark.sql.connect")
    functions: Any
    if connect:
        from pyspark.sql.connect import functions
    else:
        from pyspark.sql import functions
    cell = SPARK.named(unit)
    if source.types[unit] in ("double", "float"):
        cell = f"({cell} + 0.0D)"
    columns = ", ".join(map(SPARK.named, source.types))
    spread = f"CASE WHEN {SPARK.named(unit)} IS NULL THEN xxhash64({columns}) END"
    return [functions.expr(cell), functions.expr(spread)]
