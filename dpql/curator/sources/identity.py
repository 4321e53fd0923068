"""What a server says that a table is, so that all its spellings meet."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from dpql.curator.sources import spark
from dpql.curator.sources.duckdb import SCHEME, is_duckdb
from dpql.curator.sources.postgres_session import SCHEMES, is_connection

if TYPE_CHECKING:
    from dpql.curator.sources.postgres_table import Table


def server_identity(frame: object, source: str) -> str | None:
    """Return the place of a table as its database knows it; None for other data.

    Raises:
        RunFault: DPQL501, no such server or table; DPQL502, a view.
    """
    match frame:
        case str() | Path() if str(frame).startswith(SCHEMES):
            from dpql.curator.sources.postgres import table_at

            return _identity(table_at(str(frame), source))
        case (connection, str(name)) if is_connection(connection):
            from dpql.curator.sources.postgres import table_of

            return _identity(table_of(connection, name, source))
        case (connection, str(name)) if is_duckdb(connection):
            return _duckdb_identity(connection, name)
        case str() | Path() if str(frame).startswith(spark.SCHEME):
            return spark.table_at(str(frame), source).identity
        case (session, str(name)) if spark.is_session(session):
            return spark.table_of(session, name, source).identity
    return None


def _identity(table: Table) -> str:
    try:
        return table.identity()
    finally:
        table.session.end()


def _duckdb_identity(connection: object, name: str) -> str | None:
    """Return the place of a table behind a connection; None in memory."""
    query = """SELECT path FROM duckdb_databases()
        WHERE database_name = current_database()"""
    found = connection.cursor().execute(query).fetchone()  # type: ignore[attr-defined]
    return f"{SCHEME}{found[0]}#{name}" if found and found[0] else None
