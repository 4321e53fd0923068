"""What can be asked of a ledger, and how a transaction on it begins and ends."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from dpql.ledger.account import Account
from dpql.ledger.entry import Head
from dpql.ledger.page import (
    Page,
    account_of,
    heads_of,
    kept_file,
    refuse_unkept,
)
from dpql.ledger.places import place_of
from dpql.ledger.rules import refuse_bound, refuse_lost, refuse_rollback
from dpql.ledger.store import Store
from dpql.ledger.witness import Memory, Witness


@dataclass(frozen=True, slots=True, kw_only=True)
class Reader:
    """The part of a ledger that adds nothing to it."""

    store: Store
    witnesses: tuple[Witness | Memory, ...] = ()

    def datasets(self) -> tuple[str, ...]:
        """Return the names of all datasets, sorted.

        Those that a witness knows are among them though their entries be gone:
        `account` refuses them.
        """
        with self.store.session(write=False) as session:
            names, ledger = session.datasets(), session.identity()
        seen = (name for one in self.witnesses for name in one.datasets(ledger))
        return tuple(sorted({*names, *seen}))

    def account(self, dataset: str, known: Iterable[Head] = ()) -> Account:
        """Return the budget of a dataset after checking its whole chain.

        ``known`` are heads from published reports.

        Raises:
            LedgerFault: the dataset is not open (DPQL701), the chain was altered
                (DPQL705) or is older than what is known (DPQL706).
        """
        account = self._read(dataset)
        seen = self._seen(account)
        heads = [*seen, *heads_of(dataset, known)]
        if not all(account.holds(head) for head in heads):
            # The witness may know an entry that another run has added meanwhile.
            account = self._read(dataset)
        refuse_lost(account, seen, heads)
        return account

    def verify(self, dataset: str, known: Iterable[Head] = ()) -> Account:
        """Return the budget of a dataset after checking its chain and its reports.

        Raises:
            LedgerFault: as `account` does, or a stored file is missing or altered
                (DPQL711).
        """
        account = self.account(dataset, known)
        with self.store.session(write=False) as session:
            refuse_unkept(session, account)
        return account

    def refuse_place(self, dataset: str, frame: object) -> None:
        """Refuse data that are bound to another dataset, or not to this one.

        Data in memory have no place, and are the owner's word.

        Raises:
            LedgerFault: the place of the data belongs to another budget (DPQL716).
        """
        place = place_of(frame)
        if place is None:
            return
        with self.store.session(write=False) as session:
            names = session.datasets()
            accounts = {name: account_of(session, name) for name in names}
        account = accounts.get(dataset, Account(dataset=dataset))
        refuse_bound(place, account, accounts)

    def kept(self, digest: str) -> bytes:
        """Return the bytes of a sealed file by their sha256.

        Raises:
            LedgerFault: they are not there, or are others (DPQL711).
        """
        with self.store.session(write=False) as session:
            return kept_file(session, digest)

    @contextmanager
    def _writing(self, dataset: str = "", known: Iterable[Head] = ()) -> Iterator[Page]:
        for witness in self.witnesses:
            witness.prepare()
        with self.store.session(write=True) as session:
            page = Page(session, Account(dataset=dataset))
            if dataset:
                page.account = account_of(session, dataset)
                seen = self._seen(page.account)
                refuse_lost(page.account, seen, [*seen, *heads_of(dataset, known)])
            start = page.account.seq
            yield page
        if page.account.seq > start:
            for witness in self.witnesses:
                witness.remember(page.account)

    def _accounts(self, page: Page) -> dict[str, Account]:
        """Return all accounts of the ledger, every chain checked.

        Raises:
            LedgerFault: one was altered (DPQL705), or is older than what a witness
                knows, or gone (DPQL706).
        """
        session = page.session
        ledger = session.identity()
        seen = (name for one in self.witnesses for name in one.datasets(ledger))
        found = {page.account.dataset: page.account} if page.account.seq else {}
        for name in sorted({*session.datasets(), *seen} - {page.account.dataset}):
            account = account_of(session, name)
            refuse_rollback(account, self._seen(account))
            found[name] = account
        return found

    def _read(self, dataset: str) -> Account:
        with self.store.session(write=False) as session:
            return account_of(session, dataset)

    def _seen(self, account: Account) -> list[Head]:
        """Return the heads that the witnesses know of the account's chain."""
        return [head for one in self.witnesses for head in one.heads(account)]
