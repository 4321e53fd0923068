"""The ledger: what may be spent on a dataset, what has been, and what came of it.

Every operation is one transaction that reads the whole chain of its dataset, checks it
against the witness, and adds at most a few entries. So a ledger that was tampered with
or rolled back refuses before any randomness is drawn.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from uuid import uuid4

from dpql.errors import LedgerFault
from dpql.ledger.account import Account, Run, State, unit_of
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
    Reserved,
    Shared,
)
from dpql.ledger.page import Page, sealed_run
from dpql.ledger.places import Place, place_of
from dpql.ledger.reader import Reader
from dpql.ledger.receipts import Binding, Receipt, Reservation, Sealed
from dpql.ledger.rules import (
    partners,
    refuse_bound,
    refuse_cap,
    refuse_name,
    refuse_overspending,
    refuse_rollback,
    refuse_runs,
    refuse_state,
    refuse_taken,
    refuse_unit,
    sharers,
)
from dpql.model.plan import Plan
from dpql.model.spec import Neighbours


@dataclass(frozen=True, slots=True, kw_only=True)
class Ledger(Reader):
    """The budgets of an owner's datasets; make one with `dpql.ledger.open_ledger`."""

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
            page.account = Account(dataset=dataset, ledger=page.session.identity())
            refuse_rollback(page.account, self._seen(page.account))
            if place is not None:
                refuse_taken(place, page.account, self._accounts(page))
            return page.add(event)

    def reserve(
        self,
        dataset: str,
        plan: Plan,
        *,
        again: bool = False,
        runs: int | None = None,
        known: Iterable[Head] = (),
        frame: object = None,
    ) -> Reservation | Sealed:
        """Hold back what the plan spends, or return what it released before.

        ``again`` asks for a new draw, to be paid anew. ``runs`` is how often the
        reviewers allow the plan to be run, where they were asked. ``frame`` is what
        the run reads: a path, an address, or a table in memory.

        Raises:
            LedgerFault: the budget does not allow it (DPQL703), the plan protects
                another unit (DPQL704), the allowed runs are used up (DPQL715), or the
                data belong to another budget (DPQL716).
        """
        place = place_of(frame)
        with self._writing(dataset, known) as page:
            refuse_unit(page.account, plan)
            done = page.account.released(plan.digest)
            if done is not None and not again:
                return sealed_run(page.session, dataset, done)
            # Only what is compared with other datasets needs their chains.
            needed = place is not None or runs is not None
            accounts = self._accounts(page) if needed else {}
            if place is not None:
                refuse_bound(place, page.account, accounts)
            refuse_runs(page.account, accounts, plan.digest, runs)
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
        return Reservation(dataset=dataset, run=account.runs[-1], place=place)

    def begin_draw(self, reservation: Reservation) -> Receipt:
        """Spend what was held back; only after this may noise be drawn.

        The first run on a dataset binds its data to it, in the same transaction: from
        here on no other dataset can draw on them.

        Raises:
            LedgerFault: the run was cancelled meanwhile (DPQL709), or the data were
                bound to another dataset (DPQL716).
        """
        dataset, number = reservation.dataset, reservation.run.number
        with self._writing(dataset) as page:
            refuse_state(page.account.run(number), State.RESERVED)
            binding = self._bound(page, reservation.place)
            run = page.add(Drawing(run=number)).run(number)
        assert run is not None
        assert run.drawing is not None
        return Receipt(dataset=dataset, run=run, head=run.drawing, binding=binding)

    def cancel(self, reservation: Reservation) -> int:
        """Give back what was held back, as long as no noise was drawn.

        Returns the number of the entry that says so.

        Raises:
            LedgerFault: the run has gone further (DPQL709).
        """
        number = reservation.run.number
        with self._writing(reservation.dataset) as page:
            refuse_state(page.account.run(number), State.RESERVED)
            return page.add(Cancelled(run=number)).seq

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

    def raise_cap(self, dataset: str, cap: Fraction) -> Account:
        """Allow more to be spent on a dataset.

        Raises:
            LedgerFault: the new cap is not above the old one (DPQL710).
        """
        with self._writing(dataset) as page:
            refuse_cap(cap, above=page.account.cap)
            return page.add(CapRaised(cap=cap))

    def bind(self, dataset: str, location: str, *, shared: bool = False) -> Account:
        """Say where the data of a dataset are by now; what was spent stays spent.

        ``shared`` gives data that other datasets have a further budget. The chain
        says with whom, and so does every release of theirs from then on.

        Raises:
            LedgerFault: the data are, or were, bound to another name (DPQL716), no
                other has them to share (DPQL717), or the place is none (DPQL710).
        """
        place = place_of(location) if location else None
        if place is None:
            raise LedgerFault.of("DPQL710", "the place of the data has no name")
        with self._writing(dataset) as page:
            accounts = self._accounts(page)
            if not shared:
                refuse_taken(place, page.account, accounts)
                return page.add(Bound(location=place.text))
            others = sharers(place, page.account, accounts)
            if not others:
                raise LedgerFault.of(
                    "DPQL717",
                    "no other dataset has these data, so there is nothing to share",
                    hint="leave --shared away, or look with `dpql ledger show` where "
                    "the data of the others are",
                )
            return page.add(Shared(location=place.text, datasets=others))

    def _bound(self, page: Page, place: Place | None) -> Binding:
        """Bind the data of a run that is about to draw; say how they are bound."""
        if place is None:
            return Binding.MEMORY
        accounts = self._accounts(page)
        refuse_bound(place, page.account, accounts)
        if not page.account.places:
            page.add(Bound(location=place.text))
        others = partners(page.account, accounts)
        if others:
            page.add(Joined(datasets=others))
        return Binding.SHARED if page.account.sharing else Binding.BOUND

    def recover(self, dataset: str, run: int | None = None) -> tuple[Run, ...]:
        """End the runs that died: give back what was only held back.

        A run that had begun to draw is marked lost, and stays spent. A run that is in
        truth alive is refused at its next step, so nothing of it is released.

        Raises:
            LedgerFault: there is no run of that number (DPQL709).
        """
        ended: list[int] = []
        with self._writing(dataset) as page:
            if run is not None and page.account.run(run) is None:
                raise LedgerFault.of(
                    "DPQL709",
                    f"there is no run {run}",
                    hint="`dpql ledger show` lists the runs and their numbers",
                )
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
