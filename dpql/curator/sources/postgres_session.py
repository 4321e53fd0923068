"""A transaction on a PostgreSQL server: questions, and rows as Arrow.

Everything is read in one transaction that sees one state of the database, can write
nothing and ends in time. ADBC reads addresses, for it is the fastest; a connection of
psycopg is read by COPY.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from typing import Any, Protocol

from dpql.curator.sources.source import BATCH_ROWS

SCHEMES = ("postgresql://", "postgres://")
"""How an address of a server begins."""

_BATCH_BYTES = 1 << 26
"""Bytes of rows that are decoded at once, about."""

_TIMEOUT = "21600000"
"""Milliseconds that a statement may take where the owner has set no other limit."""

_BEGIN = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
_SETTINGS = (
    # So that no byte is converted, or looked at.
    "SET LOCAL client_encoding = 'SQL_ASCII'",
    "SET LOCAL client_min_messages = error",
    "SET LOCAL lock_timeout = '60s'",
    "SET LOCAL jit = off",
    f"""SELECT pg_catalog.set_config('statement_timeout', '{_TIMEOUT}', true)
        WHERE pg_catalog.current_setting('statement_timeout')
            OPERATOR(pg_catalog.=) '0'""",
)
_STATE = """SELECT pg_catalog.current_setting('transaction_isolation'),
    pg_catalog.current_setting('transaction_read_only'),
    pg_catalog.current_setting('client_encoding')"""
_WANTED = ("repeatable read", "on", "SQL_ASCII")

Columns = Callable[[], list[Any]]
"""Gives the Arrow columns of some rows."""

_COPY_OUT = 3
"""The state of a connection that sends rows, as libpq numbers it."""

_FAILED = (5, 7)
"""States of an answer that is none."""


class NotOurs(Exception):
    """A connection cannot hold a transaction of ours; it says nothing of the data."""


class Session(Protocol):
    """What a connection is used for; ``busy`` if it is in a transaction already."""

    busy: bool

    def ask(self, query: str, *texts: str) -> list[tuple[Any, ...]]:
        """Return the rows of an answer, for texts in place of $1 and so on."""
        ...

    def batches(self, query: str, types: Sequence[Any]) -> Iterator[Columns]:
        """Yield calls that give the columns of some rows, of these Arrow types."""
        ...

    def end(self) -> None:
        """End the transaction; what is not called ends with the session."""
        ...


def begun(session: Session) -> Session:
    """Return a session in a transaction that reads one state, and only reads.

    Raises:
        NotOurs: its connection is in a transaction already.
    """
    if session.busy:
        raise NotOurs
    try:
        session.ask(_BEGIN)
        for setting in _SETTINGS:
            session.ask(setting)
        state = session.ask(_STATE)
    except Exception:  # noqa: BLE001  it may quote anything
        raise NotOurs from None
    if state != [_WANTED]:
        raise NotOurs
    return session


def is_connection(thing: object) -> bool:
    """Tell whether a thing is a connection of psycopg, or of ADBC to PostgreSQL."""
    kind = type(thing)
    if kind.__module__.startswith("psycopg") and kind.__name__ == "Connection":
        return True
    return kind.__module__.startswith("adbc_driver_manager") and _is_postgres(thing)


def _is_postgres(connection: Any) -> bool:
    try:
        vendor = connection.adbc_get_info()["vendor_name"]
    except Exception:  # noqa: BLE001  of another make
        return False
    return bool(vendor == "PostgreSQL")


def session_on(connection: Any) -> Session:
    """Return a session on a connection that the owner goes on using afterwards."""
    if type(connection).__module__.startswith("psycopg"):
        return PsycopgSession(connection)
    return AdbcSession(connection, _rolled_back)


def session_at(address: str) -> Session:
    """Return a session at an address; its connection ends with it."""
    import adbc_driver_postgresql.dbapi as adbc

    connection = adbc.connect(address, autocommit=True)
    return AdbcSession(connection, _closed)


def _rolled_back(connection: Any) -> None:
    # A connection that its owner has closed is in no transaction any more.
    with suppress(Exception):
        if connection._autocommit:  # noqa: SLF001  nothing public tells
            with connection.cursor() as cursor:
                cursor.execute("ROLLBACK")
        else:
            connection.rollback()


def _closed(connection: Any) -> None:
    with suppress(Exception):
        connection.close()


class AdbcSession:
    """A connection of ADBC, which gives Arrow by itself."""

    def __init__(self, connection: Any, end: Callable[[Any], None]) -> None:
        self._connection = connection
        self.end = weakref.finalize(self, end, connection)
        # Nothing tells; a transaction that has asked anything refuses to begin.
        self.busy = False

    def ask(self, query: str, *texts: str) -> list[tuple[Any, ...]]:
        """Return the rows of an answer, for texts in place of $1 and so on."""
        with self._connection.cursor() as cursor:
            cursor.execute(query, texts or None)
            return list(cursor.fetchall()) if cursor.description else []

    def batches(self, query: str, types: Sequence[Any]) -> Iterator[Columns]:
        """Yield calls that give the columns of some rows."""
        with self._connection.cursor() as cursor:
            cursor.execute(query)
            for batch in cursor.fetch_record_batch():
                for start in range(0, batch.num_rows, BATCH_ROWS):
                    part = batch.slice(start, BATCH_ROWS)
                    yield partial(_columns, part, len(types))


def _columns(batch: Any, count: int) -> list[Any]:
    return [batch.column(index) for index in range(count)]


class PsycopgSession:
    """A connection of psycopg, spoken to below its transactions and types."""

    def __init__(self, connection: Any) -> None:
        self._libpq = connection.pgconn
        # The connection is kept alive, and out of our transaction afterwards.
        self._connection = connection
        self.busy = self._libpq.transaction_status != 0
        if not self.busy:
            self._end = weakref.finalize(self, _ended, connection)

    def end(self) -> None:
        """End the transaction, if it is ours."""
        if not self.busy:
            self._end()

    def ask(self, query: str, *texts: str) -> list[tuple[Any, ...]]:
        """Return the rows of an answer, for texts in place of $1 and so on."""
        if texts:
            values = [text.encode() for text in texts]
            found = self._libpq.exec_params(query.encode(), values)
        else:
            found = self._libpq.exec_(query.encode())
        if found.status in _FAILED:
            raise OSError("the server did not answer")
        return [
            tuple(
                None if (cell := found.get_value(row, column)) is None else _text(cell)
                for column in range(found.nfields)
            )
            for row in range(found.ntuples)
        ]

    def batches(self, query: str, types: Sequence[Any]) -> Iterator[Columns]:
        """Yield calls that give the columns of some rows."""
        from dpql.curator.sources.postgres_copy import decoded_rows

        copy = f"COPY ({query}) TO STDOUT (FORMAT BINARY)"
        if self._libpq.exec_(copy.encode()).status != _COPY_OUT:
            raise OSError("the server sends no rows")
        ended = False
        try:
            for rows in self._rows():
                yield partial(decoded_rows, rows, types)
            ended = True
        finally:
            if not ended:
                self._libpq.get_cancel().cancel()
                while self._libpq.get_copy_data(0)[0] > 0:
                    pass
            failed = False
            while (answer := self._libpq.get_result()) is not None:
                failed |= answer.status in _FAILED
        if failed:
            raise OSError("the server ended before the rows did")

    def _rows(self) -> Iterator[list[bytes]]:
        held: list[bytes] = []
        size, header = 0, True
        while True:
            length, row = self._libpq.get_copy_data(0)
            if length < 0:
                break
            if header:
                row = bytes(row)[_header(row) :]
                header = False
            if len(row) <= len(_TRAILER):
                continue
            held.append(row)
            size += len(row)
            if len(held) >= BATCH_ROWS or size >= _BATCH_BYTES:
                yield held
                held, size = [], 0
        if held:
            yield held


_SIGNATURE = b"PGCOPY\n\xff\r\n\0"
_TRAILER = b"\xff\xff"


def _header(row: Any) -> int:
    """Return the length of what comes before the first row."""
    start = len(_SIGNATURE) + 4
    assert bytes(row[: len(_SIGNATURE)]) == _SIGNATURE, "it is a binary copy"
    return start + 4 + int.from_bytes(bytes(row[start : start + 4]), "big")


def _text(cell: bytes) -> str:
    return bytes(cell).decode(errors="surrogateescape")


def _ended(connection: Any) -> None:
    with suppress(Exception):
        connection.pgconn.exec_(b"ROLLBACK")
