"""What has been spent on a dataset across runs: durable, exact, append-only."""

from __future__ import annotations

from pathlib import Path

from dpql.ledger.account import Account, Run, State
from dpql.ledger.book import Ledger
from dpql.ledger.entry import Entry, Head
from dpql.ledger.receipts import Receipt, Reservation, Sealed
from dpql.ledger.store import Store
from dpql.ledger.witness import Witness

__all__ = [
    "Account",
    "Entry",
    "Head",
    "Ledger",
    "Receipt",
    "Reservation",
    "Run",
    "Sealed",
    "State",
    "Witness",
    "open_ledger",
]

_SERVERS = ("postgresql://", "postgres://")


def open_ledger(
    location: str, *, create: bool = False, witness: str | None = None
) -> Ledger:
    """Return the ledger at a place: the path of a file, or ``postgresql://…``.

    ``create`` makes a new one. ``witness`` is the path of the file that remembers
    heads; beside a file it is ``LOCATION.witness`` unless told otherwise, a server
    has none unless told.

    Raises:
        LedgerFault: the place is taken (DPQL702) or cannot be used (DPQL708).
    """
    store: Store
    if location.startswith(_SERVERS):
        from dpql.ledger.postgres import PostgresStore

        store = PostgresStore(location)
    else:
        from dpql.ledger.sqlite import SqliteStore

        store = SqliteStore(Path(location))
        witness = witness or f"{location}.witness"
    if create:
        store.create()
    return Ledger(store=store, witness=Witness(Path(witness)) if witness else None)
