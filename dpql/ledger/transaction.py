"""One transaction on the budget of a dataset, and what it hands out."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from dpql.errors import LedgerFault
from dpql.ledger.account import Account, Run
from dpql.ledger.data_identity import DataIdentity
from dpql.ledger.entry import Event, Head
from dpql.ledger.replay import follow, next_entry
from dpql.ledger.store import Session


class Binding(StrEnum):
    """Whether the data of a run have this budget alone.

    ``SHARED``: the owner gave them several. ``MEMORY``: a table in memory has no
    location, so the ledger cannot know.
    """

    BOUND = "bound"
    SHARED = "shared"
    MEMORY = "memory"


@dataclass(frozen=True, slots=True, kw_only=True)
class Reservation:
    """Epsilon held back for one run, durably.

    ``data`` identifies what the run reads; None for a table in memory.
    """

    dataset: str
    run: Run
    data: DataIdentity | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Receipt:
    """Proof that the epsilon of a run is spent: the head that a report carries.

    ``binding`` says how its data are bound to the budget.
    """

    dataset: str
    run: Run
    head: Head
    binding: Binding


@dataclass(frozen=True, slots=True, kw_only=True)
class Sealed:
    """A report that the ledger stored when its run ended."""

    dataset: str
    run: Run
    envelope: bytes


@dataclass(slots=True)
class Transaction:
    """A transaction on one dataset, with its account as of the last entry."""

    session: Session
    account: Account

    def add(self, event: Event) -> Account:
        """Append the event; return the account after it."""
        entry = next_entry(self.account, event)
        self.session.append(entry)
        self.account = follow(self.account, entry)
        return self.account


def heads_of(dataset: str, known: Iterable[Head]) -> list[Head]:
    """Return the known heads of one dataset."""
    return [head for head in known if head.dataset == dataset]


def sealed_run(session: Session, dataset: str, run: Run) -> Sealed:
    """Return the report that a run ended in."""
    assert run.envelope is not None
    return Sealed(dataset=dataset, run=run, envelope=sealed_file(session, run.envelope))


def check_files(session: Session, account: Account) -> None:
    """Refuse a ledger whose stored files are not those that it sealed (DPQL711)."""
    sealed = [run.envelope for run in account.runs if run.envelope is not None]
    for digest in {*session.file_digests(), *sealed}:
        sealed_file(session, digest)


def sealed_file(session: Session, digest: str) -> bytes:
    """Return a sealed file by its sha256; refuse any other bytes (DPQL711)."""
    data = session.file(digest)
    if data is None or hashlib.sha256(data).hexdigest() != digest:
        raise LedgerFault.of(
            "DPQL711",
            f"the file {digest[:16]} that the ledger sealed is missing or altered",
            hint="compare the ledger with a backup",
        )
    return data
