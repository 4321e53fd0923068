"""What has been spent on a dataset across runs: durable, exact, append-only."""

from __future__ import annotations

from pathlib import Path

from dpql.ledger.account import Account, Run, State
from dpql.ledger.entry import Entry, Head
from dpql.ledger.ledger import Ledger
from dpql.ledger.store import Store
from dpql.ledger.transaction import Binding, Receipt, Reservation, Sealed
from dpql.ledger.witness import Witness, WitnessFolder, user_folder

__all__ = [
    "Account",
    "Binding",
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
    """Return the ledger at a location: the path of a file, or ``postgresql://…``.

    ``create`` makes a new one. ``witness`` is the path of the one file that notes its
    heads. Without it, a ledger in a file has a witness ``LOCATION.witness`` beside it,
    and every ledger has one in this user's folder below ``XDG_STATE_HOME``.

    Raises:
        LedgerFault: the location is taken (DPQL702) or cannot be used (DPQL708).
    """
    store: Store
    on_server = location.startswith(_SERVERS)
    if on_server:
        from dpql.ledger.postgres import PostgresStore

        store = PostgresStore(location)
    else:
        from dpql.ledger.sqlite import SqliteStore

        store = SqliteStore(Path(location))
    if create:
        store.create()
    if witness is not None:
        return Ledger(store=store, witnesses=(Witness(Path(witness)),))
    of_user = WitnessFolder(user_folder(), needed=on_server)
    if on_server:
        return Ledger(store=store, witnesses=(of_user,))
    beside = Witness(Path(f"{location}.witness"))
    return Ledger(store=store, witnesses=(beside, of_user))
