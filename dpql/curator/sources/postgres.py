"""Tables of PostgreSQL as rows: at an address, or through a connection of the owner.

    postgresql://host/database#schema.table

Passwords come from where libpq finds them by itself. An address with one is refused: it
would stand in the list of processes, in the history of the shell and in scripts.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any
from urllib.parse import parse_qsl, quote, urlencode, urlsplit

import polars as pl

from dpql.curator.columns import canonical_columns
from dpql.curator.sources.canonical import FrameCanonicaliser
from dpql.curator.sources.postgres_session import (
    Columns,
    Session,
    session_at,
    session_on,
)
from dpql.curator.sources.postgres_table import Table, find_table
from dpql.curator.sources.prefetch import Task
from dpql.curator.sources.source import Fragment, Request
from dpql.curator.sources.stored import find_columns, whole_ids
from dpql.errors import RunFault
from dpql.model.spec import Data

_SECRETS = ("password", "sslpassword")
_CONNECT_SECONDS = "30"


def table_at(location: str, source: str) -> Table:
    """Return the table at an address.

    Raises:
        RunFault: DPQL501, no server, database or table, or a password in the address;
            DPQL502, a view, or the drivers are missing.
    """
    address, _, name = location.partition("#")
    try:
        session = session_at(_address(address, source))
    except ImportError:
        raise RunFault.of(
            "DPQL502",
            f"the data of `{source}` are in PostgreSQL, whose driver is missing",
            hint="install it: pip install 'dpql[postgres]'",
        ) from None
    except RunFault:
        raise
    except Exception:  # noqa: BLE001  the message of the server may quote the address
        raise RunFault.of(
            "DPQL501",
            f"the database of `{source}` cannot be reached",
            hint="check whether psql reaches it; passwords belong into ~/.pgpass",
        ) from None
    return find_table(session, name, source)


def table_of(connection: Any, name: str, source: str) -> Table:
    """Return the table of that name; the connection must be in no transaction.

    Raises:
        RunFault: as `table_at`.
    """
    return find_table(session_on(connection), name, source)


def _address(address: str, source: str) -> str:
    """Return the address with a limit on how long it may take to connect.

    Raises:
        RunFault: DPQL501, it holds a password, or is no address.
    """
    try:
        parts = urlsplit(address)
        options = dict(parse_qsl(parts.query, keep_blank_values=True))
        secret = parts.password is not None or any(x in options for x in _SECRETS)
    except ValueError:
        raise RunFault.of(
            "DPQL501", f"the address of the data of `{source}` is not a valid one"
        ) from None
    if secret:
        raise RunFault.of(
            "DPQL501",
            f"the address of the data of `{source}` holds a password",
            hint="change it, for it was seen; put the new one into ~/.pgpass",
        )
    options.setdefault("connect_timeout", _CONNECT_SECONDS)
    # libpq takes a plus sign for itself, and no blank.
    query = urlencode(options, quote_via=quote)
    return parts._replace(query=query).geturl()


def postgres_fragment(table: Table, data: Data) -> Fragment:
    """Return the rows of a table.

    Raises:
        RunFault: DPQL501, it may not be read; DPQL503, a column is missing.
    """
    try:
        return _fragment(table, data)
    except RunFault:
        table.session.end()
        raise


def _fragment(table: Table, data: Data) -> Fragment:
    at = find_columns([column.name for column in table.columns], data)
    stored = {name: table.columns[index] for name, index in at.items()}
    types = {
        column.name: stored[column.name].stands_for(column.content)
        for column in canonical_columns(data)
    }

    def query(names: list[str], rest: str = "") -> str:
        reads = ", ".join(
            f"{stored[name].read} AS c{index}" for index, name in enumerate(names)
        )
        return f"SELECT {reads} FROM {table.sql_name}{rest}"  # noqa: S608  names are quoted

    def tasks(request: Request) -> Iterator[Task[pl.DataFrame]]:
        canonical = FrameCanonicaliser(request)
        arrow = [stored[name].arrow for name in canonical.names]
        for columns in table.session.batches(query(canonical.names), arrow):
            yield partial(_frames, canonical, columns)

    def row_count() -> int:
        query = f"SELECT pg_catalog.count(*) FROM {table.sql_name}"  # noqa: S608  the name is quoted
        return int(table.session.ask(query)[0][0])

    readable = [name for name, column in stored.items() if column.read is not None]
    refuse_unreadable(table.session, query(readable, " LIMIT 0"), data)
    return Fragment(
        types=types,
        tasks=tasks,
        row_count=row_count,
        whole_ids=whole_ids(types),
        end=table.session.end,
    )


def refuse_unreadable(session: Session, query: str, data: Data) -> None:
    """Look up the table without its rows, which locks it against changes, too.

    Raises:
        RunFault: DPQL501, it may not be read.
    """
    try:
        session.ask(query)
    except Exception:  # noqa: BLE001  the server's words are withheld
        raise RunFault.of(
            "DPQL501",
            f"the table of `{data.source}` may not be read",
            hint="grant SELECT on it to the role that connects",
        ) from None


def _frames(canonical: FrameCanonicaliser, columns: Columns) -> Iterator[pl.DataFrame]:
    cells = columns()
    yield canonical(dict(zip(canonical.names, cells, strict=True)), len(cells[0]))
