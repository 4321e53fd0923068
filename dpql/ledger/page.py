"""What a transaction of the ledger reads and adds, for one dataset."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass, replace

from dpql.errors import LedgerFault
from dpql.ledger.account import Account, Run
from dpql.ledger.entry import Event, Head, read_chain
from dpql.ledger.receipts import Sealed
from dpql.ledger.replay import follow, next_entry, replay
from dpql.ledger.store import Session


@dataclass(slots=True)
class Page:
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


def account_of(session: Session, dataset: str) -> Account:
    """Return the account of a dataset, its chain checked; one may have no entries.

    Raises:
        LedgerFault: it was altered (DPQL705).
    """
    account = replay(dataset, read_chain(dataset, session.rows(dataset)))
    return replace(account, ledger=session.identity())


def sealed_run(session: Session, dataset: str, run: Run) -> Sealed:
    """Return the report that a run ended in."""
    assert run.envelope is not None
    return Sealed(dataset=dataset, run=run, envelope=kept_file(session, run.envelope))


def refuse_unkept(session: Session, account: Account) -> None:
    """Refuse a ledger whose stored files are not those that it sealed (DPQL711)."""
    sealed = [run.envelope for run in account.runs if run.envelope is not None]
    for digest in {*session.kept_digests(), *sealed}:
        kept_file(session, digest)


def kept_file(session: Session, digest: str) -> bytes:
    """Return a sealed file by its sha256; refuse another one (DPQL711)."""
    data = session.kept(digest)
    if data is None or hashlib.sha256(data).hexdigest() != digest:
        raise LedgerFault.of(
            "DPQL711",
            f"the file {digest[:16]} that the ledger sealed is missing or altered",
            hint="compare the ledger with a backup",
        )
    return data
