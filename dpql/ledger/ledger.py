"""The ledger: what may be spent on a dataset, what was spent, and on which reports.

Every operation is one transaction: it reads what its process has not yet checked of the
chain (`dpql.ledger.checked`), checks the chain against the witness, and adds a few
entries. So a ledger that was altered or rolled back refuses before noise is drawn.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from fractions import Fraction
from uuid import uuid4

from dpql.errors import LedgerFault
from dpql.ledger.account import Account, Run, State, unit_of
from dpql.ledger.checked import Checked
from dpql.ledger.data_identity import DataIdentity, identify
from dpql.ledger.entry import (
    Bound,
    Cancelled,
    CapRaised,
    Drawing,
    Head,
    Joined,
    Lost,
    Opened,
    Released,
    Shared,
)
from dpql.ledger.rules import (
    partners,
    refuse_cap,
    refuse_delta,
    refuse_foreign_data,
    refuse_lost,
    refuse_name,
    refuse_rollback,
    refuse_runs,
    refuse_state,
    refuse_taken,
    refuse_unit,
    reservation_of,
    sharers,
)
from dpql.ledger.store import Store
from dpql.ledger.tracks import opened
from dpql.ledger.transaction import (
    Binding,
    Receipt,
    Reservation,
    Sealed,
    Transaction,
    check_files,
    heads_of,
    sealed_file,
    sealed_run,
)
from dpql.ledger.witness import Witness, WitnessFolder
from dpql.model.plan import Plan
from dpql.model.spec import Neighbours


@dataclass(frozen=True, slots=True, kw_only=True)
class Ledger:
    """The budgets of an owner's datasets; make one with `dpql.ledger.open_ledger`."""

    store: Store
    witnesses: tuple[Witness | WitnessFolder, ...] = ()
    checked: Checked = field(default_factory=Checked, repr=False, compare=False)

    def open_account(
        self,
        dataset: str,
        *,
        cap: Fraction,
        unit: str | None,
        neighbours: Neighbours,
        approvals: int = 0,
        location: str | None = None,
        delta: Fraction = Fraction(0),
        events: Fraction = Fraction(0),
    ) -> Account:
        """Open a dataset with a cap on all that is ever spent on it.

        With a ``delta`` releases need not be pure; ``events`` of it are for keys found
        in the data. ``location`` binds the data to this dataset alone.

        Raises:
            LedgerFault: it is open already (DPQL702), name or cap is out of range
                (DPQL710), or the data are bound to another name (DPQL716).
        """
        refuse_name(dataset)
        refuse_cap(cap, above=Fraction(0))
        refuse_delta(delta, events)
        if approvals < 0:
            raise LedgerFault.of("DPQL710", "the number of approvals is negative")
        data = identify(location)
        event = Opened(
            cap=cap,
            unit=unit_of(unit),
            neighbours=neighbours,
            approvals=approvals,
            location=data.text if data else "",
            mark=uuid4().hex,
            delta_events=events,
            delta_conversion=delta - events,
            orders=opened(cap, events, delta - events).orders,
        )
        with self._writing() as transaction:
            session = transaction.session
            if session.rows(dataset):
                raise LedgerFault.of(
                    "DPQL702",
                    f"`{dataset}` is open already",
                    hint="`dpql ledger raise-cap` allows more",
                )
            account = Account(dataset=dataset, ledger=session.ledger_id())
            transaction.account = account
            refuse_rollback(account, self._seen(account))
            if data is not None:
                refuse_taken(data, account, self._accounts(transaction))
            return transaction.add(event)

    def reserve(
        self,
        dataset: str,
        plan: Plan,
        *,
        again: bool = False,
        runs: int | None = None,
        known: Iterable[Head] = (),
        data: object = None,
    ) -> Reservation | Sealed:
        """Hold back what the plan spends, or return what it released before.

        ``again`` asks for a new draw, which is paid again. ``runs`` is how many runs
        of the plan its reviewers allow, None without reviewers. ``data`` is what the
        run reads: a path, a URL or a table in memory.

        Raises:
            LedgerFault: the budget does not allow it (DPQL703), the plan protects
                another unit (DPQL704), the allowed runs are used up (DPQL715), or the
                data belong to another budget (DPQL716).
        """
        identity = identify(data)
        with self._writing(dataset, known) as transaction:
            account = transaction.account
            refuse_unit(account, plan)
            done = account.released(plan.digest)
            if done is not None and not again:
                return sealed_run(transaction.session, dataset, done)
            # Only these two rules compare the dataset with the others.
            needed = identity is not None or runs is not None
            accounts = self._accounts(transaction) if needed else {}
            if identity is not None:
                refuse_foreign_data(identity, account, accounts)
            refuse_runs(account, accounts, plan.digest, runs)
            event = reservation_of(account, plan)
            run = transaction.add(event).runs[-1]
        return Reservation(dataset=dataset, run=run, data=identity)

    def begin_draw(self, reservation: Reservation) -> Receipt:
        """Spend what was held back; noise may be drawn only after this.

        The first run on a dataset binds its data to it in the same transaction, so
        that no other dataset can draw on them later.

        Raises:
            LedgerFault: the run was cancelled meanwhile (DPQL709), or the data were
                bound to another dataset (DPQL716).
        """
        dataset, number = reservation.dataset, reservation.run.number
        with self._writing(dataset) as transaction:
            refuse_state(transaction.account.run(number), State.RESERVED)
            binding = self._bind_run(transaction, reservation.data)
            run = transaction.add(Drawing(run=number)).run(number)
        assert run is not None
        assert run.drawing is not None
        return Receipt(dataset=dataset, run=run, head=run.drawing, binding=binding)

    def cancel(self, reservation: Reservation) -> int:
        """Give back what was held back before a draw; return the entry's number.

        Raises:
            LedgerFault: the run has gone further (DPQL709).
        """
        number = reservation.run.number
        with self._writing(reservation.dataset) as transaction:
            refuse_state(transaction.account.run(number), State.RESERVED)
            return transaction.add(Cancelled(run=number)).seq

    def seal(
        self, receipt: Receipt, envelope: bytes, files: Mapping[str, bytes]
    ) -> Sealed:
        """Store the report of a run and the files it signs, before anybody sees it.

        Raises:
            LedgerFault: the run has ended (DPQL709).
        """
        number = receipt.run.number
        digest = hashlib.sha256(envelope).hexdigest()
        with self._writing(receipt.dataset) as transaction:
            refuse_state(transaction.account.run(number), State.DRAWING)
            for data in (envelope, *files.values()):
                transaction.session.store_file(hashlib.sha256(data).hexdigest(), data)
            run = transaction.add(Released(run=number, envelope=digest)).run(number)
        assert run is not None
        return Sealed(dataset=receipt.dataset, run=run, envelope=envelope)

    def raise_cap(
        self, dataset: str, cap: Fraction, *, independent: bool = False
    ) -> Account:
        """Allow more on a dataset; ``independent``: no answer led to it.

        Raises:
            LedgerFault: the new cap is not above the old one (DPQL710).
        """
        with self._writing(dataset) as transaction:
            refuse_cap(cap, above=transaction.account.cap)
            return transaction.add(CapRaised(cap=cap, independent=independent))

    def bind(self, dataset: str, location: str, *, shared: bool = False) -> Account:
        """Record the new location of a dataset's data; what was spent stays spent.

        ``shared`` gives data that other datasets have a further budget. The chain
        names these datasets, and so does every later release of any of them.

        Raises:
            LedgerFault: the data are, or were, bound to another name (DPQL716), no
                other dataset has them to share (DPQL717), or the location is empty
                (DPQL710).
        """
        data = identify(location) if location else None
        if data is None:
            raise LedgerFault.of("DPQL710", "the location of the data is empty")
        with self._writing(dataset) as transaction:
            accounts = self._accounts(transaction)
            if not shared:
                refuse_taken(data, transaction.account, accounts)
                return transaction.add(Bound(location=data.text))
            others = sharers(data, transaction.account, accounts)
            if not others:
                raise LedgerFault.of(
                    "DPQL717",
                    "no other dataset has these data, so there is nothing to share",
                    hint="leave out --shared; `dpql ledger show` lists all data",
                )
            return transaction.add(Shared(location=data.text, datasets=others))

    def recover(self, dataset: str, run: int | None = None) -> tuple[Run, ...]:
        """End the runs that died, and give back what they only held back.

        One that had begun to draw is marked lost, and stays spent. A run that is still
        alive is refused at its next step.

        Raises:
            LedgerFault: there is no run of that number (DPQL709).
        """
        ended: list[int] = []
        with self._writing(dataset) as transaction:
            if run is not None and transaction.account.run(run) is None:
                raise LedgerFault.of(
                    "DPQL709",
                    f"there is no run {run}",
                    hint="`dpql ledger show` lists the runs and their numbers",
                )
            for one in transaction.account.runs:
                if run is not None and one.number != run:
                    continue
                if one.state is State.RESERVED:
                    transaction.add(Cancelled(run=one.number))
                elif one.state is State.DRAWING:
                    transaction.add(Lost(run=one.number))
                else:
                    continue
                ended.append(one.number)
            runs = transaction.account.runs
        return tuple(one for one in runs if one.number in ended)

    def datasets(self) -> tuple[str, ...]:
        """Return the sorted names of all datasets, also those only a witness knows."""
        with self.store.session(write=False) as session:
            names, ledger = session.datasets(), session.ledger_id()
        seen = (name for one in self.witnesses for name in one.datasets(ledger))
        return tuple(sorted({*names, *seen}))

    def account(self, dataset: str, known: Iterable[Head] = ()) -> Account:
        """Return the budget of a dataset after checking its chain and published heads.

        Raises:
            LedgerFault: the dataset is not open (DPQL701), or its chain was altered
                (DPQL705) or lacks a head that somebody has seen (DPQL706).
        """
        account = self._read(dataset)
        seen = self._seen(account)
        heads = [*seen, *heads_of(dataset, known)]
        if not all(account.holds(head) for head in heads):
            # Another run may have added the entry that the witness knows.
            account = self._read(dataset)
        refuse_lost(account, seen, heads)
        return account

    def verify(self, dataset: str, known: Iterable[Head] = ()) -> Account:
        """Return the budget of a dataset after checking its chain and its reports.

        Raises:
            LedgerFault: as `account` does, or a stored file is missing or altered
                (DPQL711).
        """
        self._read(dataset, whole=True)
        account = self.account(dataset, known)
        with self.store.session(write=False) as session:
            check_files(session, account)
        return account

    def refuse_foreign_data(self, dataset: str, data: object) -> None:
        """Refuse data that are bound to another dataset, or not to this one.

        A table in memory has no location; there the owner's word counts.

        Raises:
            LedgerFault: the data belong to another budget (DPQL716).
        """
        identity = identify(data)
        if identity is None:
            return
        with self.store.session(write=False) as session:
            names = session.datasets()
            accounts = {name: self.checked.account(session, name) for name in names}
        account = accounts.get(dataset, Account(dataset=dataset))
        refuse_foreign_data(identity, account, accounts)

    def file(self, digest: str) -> bytes:
        """Return the bytes of a sealed file by their sha256.

        Raises:
            LedgerFault: the file is missing or altered (DPQL711).
        """
        with self.store.session(write=False) as session:
            return sealed_file(session, digest)

    def _bind_run(self, transaction: Transaction, data: DataIdentity | None) -> Binding:
        """Bind the data of a run that is about to draw; return how they are bound."""
        if data is None:
            return Binding.MEMORY
        accounts = self._accounts(transaction)
        refuse_foreign_data(data, transaction.account, accounts)
        if not transaction.account.locations:
            transaction.add(Bound(location=data.text))
        others = partners(transaction.account, accounts)
        if others:
            transaction.add(Joined(datasets=others))
        return Binding.SHARED if transaction.account.sharing else Binding.BOUND

    @contextmanager
    def _writing(
        self, dataset: str = "", known: Iterable[Head] = ()
    ) -> Iterator[Transaction]:
        for witness in self.witnesses:
            witness.prepare()
        with self.store.session(write=True) as session:
            account = Account(dataset=dataset)
            if dataset:
                account = self.checked.account(session, dataset)
                seen = self._seen(account)
                refuse_lost(account, seen, [*seen, *heads_of(dataset, known)])
            transaction = Transaction(session, account)
            yield transaction
        if transaction.account.seq > account.seq:
            for witness in self.witnesses:
                witness.remember(transaction.account)

    def _accounts(self, transaction: Transaction) -> dict[str, Account]:
        """Return all accounts of the ledger after checking every chain.

        Raises:
            LedgerFault: a chain was altered (DPQL705), or lacks a head that a witness
                has seen (DPQL706).
        """
        session, own = transaction.session, transaction.account
        ledger = session.ledger_id()
        seen = (name for one in self.witnesses for name in one.datasets(ledger))
        accounts = {own.dataset: own} if own.seq else {}
        for name in sorted({*session.datasets(), *seen} - {own.dataset}):
            account = self.checked.account(session, name)
            refuse_rollback(account, self._seen(account))
            accounts[name] = account
        return accounts

    def _read(self, dataset: str, *, whole: bool = False) -> Account:
        with self.store.session(write=False) as session:
            return self.checked.account(session, dataset, whole=whole)

    def _seen(self, account: Account) -> list[Head]:
        """Return the heads that the witnesses have seen of the account's chain."""
        return [head for one in self.witnesses for head in one.heads(account)]
