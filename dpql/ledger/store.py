"""What a place that keeps a ledger must be able to do."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Protocol

from dpql.ledger.entry import Entry, Row


class Session(Protocol):
    """One transaction: all that is written in it becomes durable at its end, or none.

    No other session writes while a writing session is open.
    """

    def identity(self) -> str:
        """Return a name that no other ledger has, but copies; empty if it has none."""
        ...

    def datasets(self) -> list[str]:
        """Return the names of all datasets, sorted."""
        ...

    def rows(self, dataset: str) -> list[Row]:
        """Return the entries of a dataset in the order of their numbers."""
        ...

    def append(self, entry: Entry) -> None:
        """Add an entry."""
        ...

    def keep(self, digest: str, data: bytes) -> None:
        """Keep the bytes of a sealed file under their sha256."""
        ...

    def kept_digests(self) -> list[str]:
        """Return the sha256 under which each sealed file was kept, sorted."""
        ...

    def kept(self, digest: str) -> bytes | None:
        """Return the bytes that were kept under a sha256."""
        ...


class Store(Protocol):
    """A place that keeps a ledger; every failure is a `LedgerFault`."""

    def create(self) -> None:
        """Make an empty ledger; refuse a place that is taken."""
        ...

    def session(self, *, write: bool) -> AbstractContextManager[Session]:
        """Return a transaction; waiting for another one is bounded."""
        ...
