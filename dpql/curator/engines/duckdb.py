"""The engine of DuckDB: it sums rows where they lie, by SQL of ours."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from dpql.curator.engines import Sums, Tick
from dpql.curator.engines.sql.duckdb import DUCKDB, kind_of
from dpql.curator.engines.sql.statements import sums_of_table
from dpql.curator.engines.sql.table import Table, checked_kinds, not_read
from dpql.curator.program import Program
from dpql.curator.sources.duckdb import (
    SCHEME,
    is_duckdb,
    located_relation,
    table_relation,
)
from dpql.curator.sources.stored import find_columns
from dpql.model.spec import Data

DIALECT = DUCKDB

_NAME = "dpql_rows"
"""What a relation is called in a statement."""


def open_source(frame: object, data: Data) -> Table:
    """Return a table of a database file, of a connection, or a relation.

    Raises:
        RunFault: DPQL501 to DPQL504, from the schema alone.
    """
    relation = _relation(frame, data)
    found = find_columns(relation.columns, data)
    types = {name: str(relation.types[at]) for name, at in found.items()}
    return Table(
        sql_name=DUCKDB.named(_NAME),
        kinds=checked_kinds(
            {name: (dtype, kind_of(dtype)) for name, dtype in types.items()},
            data,
            DUCKDB.name,
        ),
        dialect=DUCKDB,
        ask=lambda text: relation.query(_NAME, text).fetchall(),
    )


def _relation(frame: object, data: Data) -> Any:
    match frame:
        case str() | Path() if str(frame).startswith(SCHEME):
            return located_relation(str(frame), data)
        case (connection, str(name)) if is_duckdb(connection):
            return table_relation(connection, name, data)
        case _ if is_duckdb(frame) and hasattr(frame, "project"):
            return frame
    raise not_read(DUCKDB.name, "duckdb:FILE#table, relations", data.source)


def sums(program: Program, source: Table, *, salt: bytes, tick: Tick | None) -> Sums:
    """Return the moments or counts of every tally, exactly, for every cell."""
    del salt
    return sums_of_table(program, source, tick)
