"""The ledger in a file: sqlite, write-ahead log, every commit synced.

A connection lives for one transaction, so nothing stays open while a run reads data,
and a forked child inherits nothing. Triggers let rows be added, but neither changed nor
deleted; the chain of hashes reveals whoever gets around the triggers.
"""

from __future__ import annotations

import os
import re
import sqlite3
import stat
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

from dpql.durable import alone_in, claim
from dpql.errors import LedgerFault
from dpql.ledger.entry import Entry, Row

_WAIT = 60
"""Seconds that a transaction waits for another one."""

_APPLICATION = 0x6470716C
"""The letters ``dpql`` tell a ledger from any other sqlite file."""

_LARGEST = (1 << 31) - 1
"""The greatest version number that sqlite can write into a file."""

_SCHEMA = (
    """CREATE TABLE entry (
        dataset TEXT NOT NULL,
        seq INTEGER NOT NULL CHECK (seq > 0),
        body TEXT NOT NULL,
        digest TEXT NOT NULL,
        PRIMARY KEY (dataset, seq)
    ) STRICT""",
    """CREATE TABLE kept (
        digest TEXT NOT NULL PRIMARY KEY,
        data BLOB NOT NULL
    ) STRICT""",
    *(
        f"""CREATE TRIGGER {table}_{verb.lower()} BEFORE {verb} ON {table}
        BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END"""
        for table in ("entry", "kept")
        for verb in ("UPDATE", "DELETE")
    ),
    # A conflict clause may replace a row without firing the trigger of DELETE.
    """CREATE TRIGGER entry_insert BEFORE INSERT ON entry
        WHEN NEW.seq IS NOT (
            SELECT coalesce(max(seq), 0) + 1 FROM entry WHERE dataset = NEW.dataset
        )
        BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END""",
    """CREATE TRIGGER kept_insert BEFORE INSERT ON kept
        WHEN EXISTS (SELECT 1 FROM kept WHERE digest = NEW.digest)
        BEGIN SELECT RAISE(IGNORE); END""",
)

_UNFINISHED = ".dpql-ledger."
_UNFINISHED_0_1 = ".ledger."
"""How the name of an unfinished ledger begins, and began in dpql 0.1."""

_UNFINISHED_NAME = re.compile(
    r"\.dpql-ledger\.[a-z0-9_]{8}(-wal|-shm|-journal)?", re.ASCII
)

_BUSY = frozenset({sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED})
_PRIMARY = 0xFF


@dataclass(frozen=True, slots=True)
class SqliteSession:
    """One transaction on an open connection."""

    connection: sqlite3.Connection

    def ledger_id(self) -> str:
        """Return the id that the ledger shares with its copies only; may be empty."""
        (number,) = self.connection.execute("PRAGMA user_version").fetchone()
        return f"{number:032x}" if number > 0 else ""

    def datasets(self) -> list[str]:
        """Return the names of all datasets, sorted."""
        query = "SELECT DISTINCT dataset FROM entry ORDER BY dataset"
        return [str(name) for (name,) in self.connection.execute(query)]

    def rows(self, dataset: str, first: int = 1) -> list[Row]:
        """Return the entries of a dataset from a number on, in order."""
        query = (
            "SELECT seq, body, digest FROM entry "
            "WHERE dataset = ? AND seq >= ? ORDER BY seq"
        )
        return [Row(*row) for row in self.connection.execute(query, (dataset, first))]

    def append(self, entry: Entry) -> None:
        """Add an entry."""
        self.connection.execute(
            "INSERT INTO entry (dataset, seq, body, digest) VALUES (?, ?, ?, ?)",
            (entry.dataset, entry.seq, entry.body.decode(), entry.digest),
        )

    def store_file(self, digest: str, data: bytes) -> None:
        """Store the bytes of a sealed file under their sha256."""
        self.connection.execute(
            "INSERT INTO kept (digest, data) VALUES (?, ?) ON CONFLICT DO NOTHING",
            (digest, data),
        )

    def file_digests(self) -> list[str]:
        """Return the sha256 of each sealed file, sorted, as it was stored."""
        query = "SELECT digest FROM kept ORDER BY digest"
        return [str(digest) for (digest,) in self.connection.execute(query)]

    def file(self, digest: str) -> bytes | None:
        """Return the bytes that were stored under a sha256."""
        query = "SELECT data FROM kept WHERE digest = ?"
        row = self.connection.execute(query, (digest,)).fetchone()
        return bytes(row[0]) if row else None


@dataclass(frozen=True, slots=True)
class SqliteStore:
    """A ledger in a file."""

    path: Path

    def create(self) -> None:
        """Make an empty ledger; refuse a location that is taken."""
        # The ledger is built under a temporary name and then renamed, so that a crash
        # cannot leave half of one behind. Makers take turns, so an unfinished file
        # in the folder is from a maker that was killed.
        with _faults(), alone_in(self.path.parent) as locked:
            if locked:
                _sweep(self.path.parent)
            self._create()

    def _create(self) -> None:
        try:
            handle, name = tempfile.mkstemp(dir=self.path.parent, prefix=_UNFINISHED)
            os.close(handle)
        except OSError as error:
            raise _unusable() from error
        unfinished = Path(name)
        try:
            with _faults():
                _build(unfinished)
                claim(unfinished, self.path)
        except FileExistsError:
            raise LedgerFault.of(
                "DPQL702", "a file of that name is there already"
            ) from None
        finally:
            unfinished.unlink(missing_ok=True)

    @contextmanager
    def session(self, *, write: bool) -> Iterator[SqliteSession]:
        """Open a transaction; commit at its end, or undo all of it."""
        _require_file(self.path)
        with _faults(), _opened(self.path, write=write) as connection:
            connection.execute("BEGIN IMMEDIATE" if write else "BEGIN")
            try:
                _require_schema(connection)
                yield SqliteSession(connection)
                connection.execute("COMMIT")
            finally:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")


@contextmanager
def _opened(path: Path, *, write: bool) -> Iterator[sqlite3.Connection]:
    """Open the file; open it read-only where this user may not write."""
    if write or (os.access(path, os.W_OK) and os.access(path.parent, os.W_OK)):
        with closing(_connect(path)) as connection:
            yield connection
        return
    before = _stamp(path)
    # Without a log, sqlite reads the file itself and takes no lock.
    mode = "mode=ro" if before[-1] else "mode=ro&immutable=1"
    try:
        with closing(_connect(path, mode)) as connection:
            yield connection
    finally:
        if not before[-1] and _stamp(path) != before:
            raise _busy()


def _stamp(path: Path) -> tuple[int, ...]:
    """Return what changes when somebody writes; the size of the log is last."""
    file, log = _status(path), _status(path.with_name(f"{path.name}-wal"))
    own = (file.st_ino, file.st_mtime_ns, file.st_size) if file else ()
    return *own, log.st_size if log else 0


def _connect(path: Path, mode: str = "mode=rw") -> sqlite3.Connection:
    # This mode keeps sqlite from creating a missing file.
    connection = sqlite3.connect(
        f"{path.absolute().as_uri()}?{mode}",
        uri=True,
        isolation_level=None,
        timeout=_WAIT,
    )
    try:
        connection.execute("PRAGMA trusted_schema = OFF")
        connection.execute("PRAGMA synchronous = FULL")
    except BaseException:
        connection.close()
        raise
    return connection


def _build(path: Path) -> None:
    with closing(_connect(path)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("BEGIN IMMEDIATE")
        for statement in _SCHEMA:
            connection.execute(statement)
        connection.execute(f"PRAGMA application_id = {_APPLICATION}")
        number = 1 + uuid4().int % _LARGEST
        connection.execute(f"PRAGMA user_version = {number}")
        connection.execute("COMMIT")


def _sweep(folder: Path) -> None:
    """Delete the unfinished ledgers of makers that were killed.

    The caller keeps other makers out of the folder. A file with a second name is a
    finished ledger, and stays.
    """
    with suppress(OSError):
        for path in folder.glob(f"{_UNFINISHED}*"):
            ours = _UNFINISHED_NAME.fullmatch(path.name) and path.lstat().st_nlink == 1
            if ours and path.is_file() and not path.is_symlink():
                path.unlink()


def _drop_unfinished_name(path: Path) -> None:
    """Delete the temporary name of a ledger whose maker was killed at the last step."""
    with suppress(OSError):
        for prefix in (_UNFINISHED, _UNFINISHED_0_1):
            for other in path.parent.glob(f"{prefix}*"):
                if not other.is_symlink() and other.samefile(path):
                    other.unlink()


def _require_file(path: Path) -> None:
    status = _status(path)
    if status is not None and status.st_nlink > 1:
        _drop_unfinished_name(path)
        status = _status(path)
    if status is None or not stat.S_ISREG(status.st_mode):
        raise LedgerFault.of(
            "DPQL700",
            "there is no ledger at that location",
            hint="`dpql ledger open DATASET --epsilon CAP --unit COLUMN` makes one",
        )
    if status.st_nlink > 1:
        # The log of recent entries is named after the file: under a second name nobody
        # would see these entries.
        raise LedgerFault.of(
            "DPQL700",
            "the file of the ledger has a second name",
            hint="remove the other hard link",
        )


def _status(path: Path) -> os.stat_result | None:
    try:
        return path.lstat()
    except OSError:
        return None


def _require_schema(connection: sqlite3.Connection) -> None:
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    if application != _APPLICATION:
        raise LedgerFault.of("DPQL700", "the file is not a ledger")
    query = "SELECT sql FROM sqlite_master WHERE sql IS NOT NULL"
    found = {" ".join(str(text).split()) for (text,) in connection.execute(query)}
    if found != {" ".join(text.split()) for text in _SCHEMA}:
        raise LedgerFault.of(
            "DPQL712",
            "the tables or triggers of the ledger were altered",
            hint="keep the file as it is, and compare it with a backup",
        )


@contextmanager
def _faults() -> Iterator[None]:
    try:
        yield
    except sqlite3.Error as error:
        code = getattr(error, "sqlite_errorcode", 0) & _PRIMARY
        if code in _BUSY:
            raise _busy() from error
        raise _unusable() from error
    except FileExistsError:
        raise
    except (OSError, UnicodeError) as error:
        # sqlite3 may quote bytes of a damaged file that are not text.
        raise _unusable() from error


def _busy() -> LedgerFault:
    return LedgerFault.of(
        "DPQL707",
        "another run is writing to the ledger",
        hint="try again in a moment",
    )


def _unusable() -> LedgerFault:
    return LedgerFault.of(
        "DPQL708",
        "the ledger cannot be read or written",
        hint="look for a full disk, a missing permission or a damaged file",
    )
