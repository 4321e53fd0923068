"""The ledger: what may be spent on a dataset, what has been, and what came of it.

Every operation is one transaction that reads the whole chain of its dataset, checks it
against the witness, and adds at most a few entries. So a ledger that was tampered with
or rolled back refuses before any randomness is drawn.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from uuid import uuid4

from dpql.errors import LedgerFault
from dpql.ledger.account import Account, Run, State, unit_of
from dpql.ledger.entry import (
    Cancelled,
    CapRaised,
    Drawing,
    Head,
    Lost,
    Opened,
    Released,
    Reserved,
)
from dpql.ledger.page import (
    Page,
    account_of,
    heads_of,
    kept_file,
    places_in,
    refuse_unkept,
    sealed_run,
)
from dpql.ledger.places import place_of
from dpql.ledger.receipts import Receipt, Reservation, Sealed
from dpql.ledger.rules import (
    refuse_bound,
    refuse_cap,
    refuse_name,
    refuse_overspending,
    refuse_rollback,
    refuse_runs,
    refuse_state,
    refuse_unit,
)
from dpql.ledger.store import Store
from dpql.ledger.witness import Memory, Witness
from dpql.model.plan import Plan
from dpql.model.spec import Neighbours


@dataclass(frozen=True, slots=True, kw_only=True)
class Ledger:
    """The budgets of an owner's datasets; make one with `dpql.ledger.open_ledger`."""

    store: Store
    witnesses: tuple[Witness | Memory, ...] = ()

    def open_account(
        self,
        dataset: str,
        *,
        cap: Fraction,
        unit: str | None,
        neighbours: Neighbours,
        approvals: int = 0,
        location: str | None = None,
    ) -> Account:
        """Open a dataset with a cap on everything that is ever spent on it.

        ``location`` binds the data, so that they have no second budget elsewhere.

        Raises:
            LedgerFault: it is open already (DPQL702), name or cap is out of range
                (DPQL710), or the data are bound to another name (DPQL716).
        """
        refuse_name(dataset)
        refuse_cap(cap, above=Fraction(0))
        if approvals < 0:
            raise LedgerFault.of("DPQL710", "the number of approvals is negative")
        place = place_of(location)
        event = Opened(
            cap=cap,
            unit=unit_of(unit),
            neighbours=neighbours,
            approvals=approvals,
            location=place.text if place else "",
            mark=uuid4().hex,
        )
        with self._writing() as page:
            if page.session.rows(dataset):
                raise LedgerFault.of(
                    "DPQL702",
                    f"`{dataset}` is open already",
                    hint="`dpql ledger raise-cap` allows more",
                )
            if place is not None:
                refuse_bound(place, dataset, places_in(page.session))
            page.account = Account(dataset=dataset)
            refuse_rollback(page.account, self._seen(page.account))
            return page.add(event)

    def datasets(self) -> tuple[str, ...]:
        """Return the names of all open datasets, sorted."""
        with self.store.session(write=False) as session:
            return tuple(session.datasets())

    def account(self, dataset: str, known: Iterable[Head] = ()) -> Account:
        """Return the budget of a dataset after checking its whole chain.

        ``known`` are heads from published reports.

        Raises:
            LedgerFault: the dataset is not open (DPQL701), the chain was altered
                (DPQL705) or is older than what is known (DPQL706).
        """
        account = self._read(dataset)
        heads = [*self._seen(account), *heads_of(dataset, known)]
        if not all(account.holds(head) for head in heads):
            # The witness may know an entry that another run has added meanwhile.
            account = self._read(dataset)
        refuse_rollback(account, heads)
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
            bound = places_in(session)
        refuse_bound(place, dataset, bound)

    def reserve(
        self,
        dataset: str,
        plan: Plan,
        *,
        again: bool = False,
        runs: int | None = None,
        known: Iterable[Head] = (),
    ) -> Reservation | Sealed:
        """Hold back what the plan spends, or return what it released before.

        ``again`` asks for a new draw, to be paid anew. ``runs`` is how often the
        reviewers allow the plan to be run, where they were asked.

        Raises:
            LedgerFault: the budget does not allow it (DPQL703), the plan protects
                another unit (DPQL704), or the allowed runs are used up (DPQL715).
        """
        with self._writing(dataset, known) as page:
            refuse_unit(page.account, plan)
            done = page.account.released(plan.digest)
            if done is not None and not again:
                return sealed_run(page.session, dataset, done)
            refuse_runs(page.account, plan.digest, runs)
            refuse_overspending(page.account, plan.spent)
            before = page.account.committed
            event = Reserved(
                plan=plan.digest,
                epsilon=plan.spent,
                cap=page.account.cap,
                before=before,
                after=before + plan.spent,
            )
            account = page.add(event)
        return Reservation(dataset=dataset, run=account.runs[-1])

    def begin_draw(self, reservation: Reservation) -> Receipt:
        """Spend what was held back; only after this may noise be drawn.

        Raises:
            LedgerFault: the run was cancelled meanwhile (DPQL709).
        """
        dataset, number = reservation.dataset, reservation.run.number
        with self._writing(dataset) as page:
            refuse_state(page.account.run(number), State.RESERVED)
            run = page.add(Drawing(run=number)).run(number)
        assert run is not None
        assert run.drawing is not None
        return Receipt(dataset=dataset, run=run, head=run.drawing)

    def cancel(self, reservation: Reservation) -> None:
        """Give back what was held back, as long as no noise was drawn.

        Raises:
            LedgerFault: the run has gone further (DPQL709).
        """
        number = reservation.run.number
        with self._writing(reservation.dataset) as page:
            refuse_state(page.account.run(number), State.RESERVED)
            page.add(Cancelled(run=number))

    def seal(
        self, receipt: Receipt, envelope: bytes, files: Mapping[str, bytes]
    ) -> Sealed:
        """Store the report of a run, and the files it names; only then print it.

        Raises:
            LedgerFault: the run has ended (DPQL709).
        """
        number = receipt.run.number
        digest = hashlib.sha256(envelope).hexdigest()
        with self._writing(receipt.dataset) as page:
            refuse_state(page.account.run(number), State.DRAWING)
            for data in (envelope, *files.values()):
                page.session.keep(hashlib.sha256(data).hexdigest(), data)
            run = page.add(Released(run=number, envelope=digest)).run(number)
        assert run is not None
        return Sealed(dataset=receipt.dataset, run=run, envelope=envelope)

    def kept(self, digest: str) -> bytes:
        """Return the bytes of a sealed file by their sha256.

        Raises:
            LedgerFault: they are not there, or are others (DPQL711).
        """
        with self.store.session(write=False) as session:
            return kept_file(session, digest)

    def raise_cap(self, dataset: str, cap: Fraction) -> Account:
        """Allow more to be spent on a dataset.

        Raises:
            LedgerFault: the new cap is not above the old one (DPQL710).
        """
        with self._writing(dataset) as page:
            refuse_cap(cap, above=page.account.cap)
            return page.add(CapRaised(cap=cap))

    def recover(self, dataset: str, run: int | None = None) -> tuple[Run, ...]:
        """End the runs that died: give back what was only held back.

        A run that had begun to draw is marked lost, and stays spent. A run that is in
        truth alive is refused at its next step, so nothing of it is released.
        """
        ended: list[int] = []
        with self._writing(dataset) as page:
            for one in page.account.runs:
                if run is not None and one.number != run:
                    continue
                if one.state is State.RESERVED:
                    page.add(Cancelled(run=one.number))
                elif one.state is State.DRAWING:
                    page.add(Lost(run=one.number))
                else:
                    continue
                ended.append(one.number)
            runs = page.account.runs
        return tuple(one for one in runs if one.number in ended)

    @contextmanager
    def _writing(self, dataset: str = "", known: Iterable[Head] = ()) -> Iterator[Page]:
        for witness in self.witnesses:
            witness.prepare()
        with self.store.session(write=True) as session:
            page = Page(session, Account(dataset=dataset))
            if dataset:
                page.account = account_of(session, dataset)
                heads = [*self._seen(page.account), *heads_of(dataset, known)]
                refuse_rollback(page.account, heads)
            start = page.account.seq
            yield page
        if page.account.seq > start:
            for witness in self.witnesses:
                witness.remember(page.account)

    def _read(self, dataset: str) -> Account:
        with self.store.session(write=False) as session:
            return account_of(session, dataset)

    def _seen(self, account: Account) -> list[Head]:
        """Return the heads that the witnesses know of the account's chain."""
        heads = [witness.head(account) for witness in self.witnesses]
        return [head for head in heads if head is not None]
