"""What a store of ledgers must be able to do: a file or a server."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Protocol

from dpql.ledger.entry import Entry, Row


class Session(Protocol):
    """One transaction: at its end all that it wrote is durable, or nothing is.

    No other session writes while a writing session is open.
    """

    def ledger_id(self) -> str:
        """Return the id that the ledger shares with its copies only; may be empty."""
        ...

    def datasets(self) -> list[str]:
        """Return the names of all datasets, sorted."""
        ...

    def rows(self, dataset: str, first: int = 1) -> list[Row]:
        """Return the entries of a dataset from a number on, in order."""
        ...

    def append(self, entry: Entry) -> None:
        """Add an entry."""
        ...

    def store_file(self, digest: str, data: bytes) -> None:
        """Store the bytes of a sealed file under their sha256."""
        ...

    def file_digests(self) -> list[str]:
        """Return the sha256 of each sealed file, sorted, as it was stored."""
        ...

    def file(self, digest: str) -> bytes | None:
        """Return the bytes that were stored under a sha256."""
        ...


class Store(Protocol):
    """Where a ledger is stored; every failure is a `LedgerFault`."""

    def create(self) -> None:
        """Make an empty ledger; refuse a location that is taken."""
        ...

    def session(self, *, write: bool) -> AbstractContextManager[Session]:
        """Return a transaction; waiting for another one has a limit."""
        ...
