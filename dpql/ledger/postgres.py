"""The ledger in PostgreSQL, for teams that share one.

A writing transaction locks the table of entries, so that nobody writes between check
and debit. The server must sync before it answers; every session asks for that.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, LiteralString

from dpql.errors import LedgerFault
from dpql.ledger.entry import Entry, Row

if TYPE_CHECKING:
    import psycopg

_WAIT = 30
"""Seconds that a connection may take."""

_SETTINGS: tuple[LiteralString, ...] = (
    "SET synchronous_commit = on",
    "SET lock_timeout = '60s'",
    "SET statement_timeout = '120s'",
    "SET client_min_messages = error",
)

_SCHEMA: tuple[LiteralString, ...] = (
    """CREATE TABLE dpql_entry (
        dataset text NOT NULL,
        seq bigint NOT NULL CHECK (seq > 0),
        body text NOT NULL,
        digest text NOT NULL,
        PRIMARY KEY (dataset, seq)
    )""",
    """CREATE TABLE dpql_kept (
        digest text NOT NULL PRIMARY KEY,
        data bytea NOT NULL
    )""",
    """CREATE FUNCTION dpql_refuse() RETURNS trigger LANGUAGE plpgsql AS
        $$ BEGIN RAISE EXCEPTION 'the ledger is append-only'; END $$""",
    """CREATE TRIGGER dpql_entry_append_only
        BEFORE UPDATE OR DELETE OR TRUNCATE ON dpql_entry
        FOR EACH STATEMENT EXECUTE FUNCTION dpql_refuse()""",
    """CREATE TRIGGER dpql_kept_append_only
        BEFORE UPDATE OR DELETE OR TRUNCATE ON dpql_kept
        FOR EACH STATEMENT EXECUTE FUNCTION dpql_refuse()""",
    """DO $$ BEGIN EXECUTE format(
        'COMMENT ON TABLE dpql_entry IS %L',
        replace(gen_random_uuid()::text, '-', '')
    ); END $$""",
)

_NAMED = "SELECT coalesce(obj_description(to_regclass('dpql_entry'), 'pg_class'), '')"
_NAME = re.compile(r"[0-9a-f]{32}", re.ASCII)

_EXISTS = "SELECT to_regclass('dpql_entry') IS NOT NULL"

_TRIGGERS = """SELECT count(*) FROM pg_trigger
    WHERE tgname IN ('dpql_entry_append_only', 'dpql_kept_append_only')
    AND tgrelid IN (to_regclass('dpql_entry'), to_regclass('dpql_kept'))
    AND tgenabled IN ('O', 'A') AND tgfoid = to_regproc('dpql_refuse')"""

_EXPECTED_TRIGGERS = 2

_REFUSAL = "BEGIN RAISE EXCEPTION 'the ledger is append-only'; END"
_BODY = "SELECT btrim(prosrc) FROM pg_proc WHERE oid = to_regproc('dpql_refuse')"
_SYNCED = "SELECT current_setting('fsync')::bool"


@dataclass(frozen=True, slots=True)
class PostgresSession:
    """One transaction on an open connection."""

    connection: psycopg.Connection[tuple[Any, ...]]

    def ledger_id(self) -> str:
        """Return the id that the ledger shares with its copies only; may be empty."""
        named = str(_single(self.connection, _NAMED))
        return named if _NAME.fullmatch(named) else ""

    def datasets(self) -> list[str]:
        """Return the names of all datasets, sorted."""
        query = 'SELECT DISTINCT dataset COLLATE "C" FROM dpql_entry ORDER BY 1'
        return [str(name) for (name,) in self.connection.execute(query)]

    def rows(self, dataset: str, first: int = 1) -> list[Row]:
        """Return the entries of a dataset from a number on, in order."""
        query = (
            "SELECT seq, body, digest FROM dpql_entry "
            "WHERE dataset = %s AND seq >= %s ORDER BY seq"
        )
        return [Row(*row) for row in self.connection.execute(query, (dataset, first))]

    def append(self, entry: Entry) -> None:
        """Add an entry."""
        self.connection.execute(
            "INSERT INTO dpql_entry (dataset, seq, body, digest) VALUES (%s,%s,%s,%s)",
            (entry.dataset, entry.seq, entry.body.decode(), entry.digest),
        )

    def store_file(self, digest: str, data: bytes) -> None:
        """Store the bytes of a sealed file under their sha256."""
        self.connection.execute(
            "INSERT INTO dpql_kept VALUES (%s, %s) ON CONFLICT DO NOTHING",
            (digest, data),
        )

    def file_digests(self) -> list[str]:
        """Return the sha256 of each sealed file, sorted, as it was stored."""
        query = 'SELECT digest FROM dpql_kept ORDER BY digest COLLATE "C"'
        return [str(digest) for (digest,) in self.connection.execute(query)]

    def file(self, digest: str) -> bytes | None:
        """Return the bytes that were stored under a sha256."""
        query = "SELECT data FROM dpql_kept WHERE digest = %s"
        row = self.connection.execute(query, (digest,)).fetchone()
        return bytes(row[0]) if row else None


@dataclass(frozen=True, slots=True)
class PostgresStore:
    """A ledger on a server; the address may hold a password, so no message shows it."""

    address: str = field(repr=False)

    def create(self) -> None:
        """Make an empty ledger; refuse a database that has one."""
        with self._transaction() as connection:
            if _single(connection, _EXISTS):
                raise LedgerFault.of("DPQL702", "the database has a ledger already")
            for statement in _SCHEMA:
                connection.execute(statement)

    @contextmanager
    def session(self, *, write: bool) -> Iterator[PostgresSession]:
        """Open a transaction; commit at its end, or undo all of it."""
        with self._transaction() as connection:
            if not _single(connection, _EXISTS):
                raise LedgerFault.of(
                    "DPQL700",
                    "the database has no ledger",
                    hint="`dpql ledger open` makes one",
                )
            if write:
                connection.execute("LOCK TABLE dpql_entry IN EXCLUSIVE MODE")
                _require_synced(connection)
            _require_triggers(connection)
            yield PostgresSession(connection)

    @contextmanager
    def _transaction(self) -> Iterator[psycopg.Connection[tuple[Any, ...]]]:
        try:
            import psycopg
        except ImportError:
            raise LedgerFault.of(
                "DPQL713",
                "a ledger in PostgreSQL needs the package psycopg",
                hint="pip install 'dpql[postgres]'",
            ) from None
        try:
            with psycopg.connect(self.address, connect_timeout=_WAIT) as connection:
                for statement in _SETTINGS:
                    connection.execute(statement)
                yield connection
        except psycopg.errors.LockNotAvailable:
            raise LedgerFault.of(
                "DPQL707",
                "another run is writing to the ledger",
                hint="try again in a moment",
            ) from None
        except psycopg.Error:
            # The message of the server may quote the address with its password.
            raise LedgerFault.of(
                "DPQL708",
                "the ledger cannot be read or written",
                hint="check whether the server runs and lets this user in",
            ) from None


def _require_triggers(connection: psycopg.Connection[tuple[Any, ...]]) -> None:
    whole = (
        _single(connection, _TRIGGERS) == _EXPECTED_TRIGGERS
        and _single(connection, _BODY) == _REFUSAL
    )
    if not whole:
        raise LedgerFault.of("DPQL712", "the triggers of the ledger were altered")


def _require_synced(connection: psycopg.Connection[tuple[Any, ...]]) -> None:
    if not _single(connection, _SYNCED):
        raise LedgerFault.of(
            "DPQL708",
            "the server does not sync what it writes, so no debit would be durable",
            hint="switch `fsync` on in the server's settings",
        )


def _single(
    connection: psycopg.Connection[tuple[Any, ...]], query: LiteralString
) -> Any:
    row = connection.execute(query).fetchone()
    return row[0] if row else None
