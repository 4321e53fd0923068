"""The engine of PostgreSQL: it sums rows where they lie, by SQL of ours."""

from __future__ import annotations

from pathlib import Path

from dpql.curator.engines import Sums, Tick
from dpql.curator.engines.sql.postgres import KINDS, POSTGRES
from dpql.curator.engines.sql.statements import sums_of_table
from dpql.curator.engines.sql.table import Table, checked_kinds, not_read
from dpql.curator.program import Program
from dpql.curator.sources.postgres import (
    refuse_unreadable,
    table_at,
    table_of,
)
from dpql.curator.sources.postgres_session import SCHEMES, is_connection
from dpql.curator.sources.postgres_table import Table as StoredTable
from dpql.curator.sources.stored import find_columns
from dpql.errors import RunFault
from dpql.model.spec import Data

DIALECT = POSTGRES


def open_source(frame: object, data: Data) -> Table:
    """Return a table at an address, or of a connection, in a transaction of its own.

    Raises:
        RunFault: DPQL501 to DPQL504, from the schema alone.
    """
    match frame:
        case str() | Path() if str(frame).startswith(SCHEMES):
            stored = table_at(str(frame), data.source)
        case (connection, str(name)) if is_connection(connection):
            stored = table_of(connection, name, data.source)
        case _:
            what = "postgresql://host/database#schema.table, connections"
            raise not_read(POSTGRES.name, what, data.source)
    try:
        return _table(stored, data)
    except RunFault:
        stored.session.end()
        raise


def _table(stored: StoredTable, data: Data) -> Table:
    at = find_columns([column.name for column in stored.columns], data)
    types = {name: stored.columns[index] for name, index in at.items()}
    kinds = checked_kinds(
        {
            name: (
                column.type_name,
                None if column.read is None else KINDS.get(column.type_name),
            )
            for name, column in types.items()
        },
        data,
        POSTGRES.name,
    )
    session = stored.session
    columns = ", ".join(map(POSTGRES.named, types))
    query = f"SELECT {columns} FROM {stored.sql_name} LIMIT 0"  # noqa: S608  names are quoted
    refuse_unreadable(session, query, data)
    return Table(
        sql_name=stored.sql_name,
        kinds=kinds,
        dialect=POSTGRES,
        ask=session.ask,
        end=session.end,
    )


def sums(program: Program, source: Table, *, salt: bytes, tick: Tick | None) -> Sums:
    """Return the moments or counts of every tally, exactly, for every cell."""
    del salt
    return sums_of_table(program, source, tick)
