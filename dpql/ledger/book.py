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

from dpql.errors import LedgerFault
from dpql.ledger.account import (
    Account,
    Run,
    State,
    follow,
    next_entry,
    refuse_state,
    replay,
)
from dpql.ledger.entry import (
    Cancelled,
    CapRaised,
    Drawing,
    Event,
    Head,
    Lost,
    Opened,
    Released,
    Reserved,
    read_chain,
)
from dpql.ledger.receipts import Receipt, Reservation, Sealed
from dpql.ledger.rules import (
    refuse_cap,
    refuse_name,
    refuse_overspending,
    refuse_rollback,
    refuse_runs,
    refuse_unit,
    unit_of,
)
from dpql.ledger.store import Session, Store
from dpql.ledger.witness import Witness
from dpql.model.plan import Plan
from dpql.model.spec import Neighbours


@dataclass(frozen=True, slots=True, kw_only=True)
class Ledger:
    """The budgets of an owner's datasets; make one with `dpql.ledger.open_ledger`."""

    store: Store
    witness: Witness | None = None

    def open_account(
        self,
        dataset: str,
        *,
        cap: Fraction,
        unit: str | None,
        neighbours: Neighbours,
        approvals: int = 0,
    ) -> Account:
        """Open a dataset with a cap on everything that is ever spent on it.

        Raises:
            LedgerFault: it is open already (DPQL702), or name or cap is out of
                range (DPQL710).
        """
        refuse_name(dataset)
        refuse_cap(cap, above=Fraction(0))
        if approvals < 0:
            raise LedgerFault.of("DPQL710", "the number of approvals is negative")
        event = Opened(
            cap=cap, unit=unit_of(unit), neighbours=neighbours, approvals=approvals
        )
        with self._writing() as page:
            if page.session.rows(dataset):
                raise LedgerFault.of(
                    "DPQL702",
                    f"`{dataset}` is open already",
                    hint="`dpql ledger raise-cap` allows more",
                )
            page.account = Account(dataset=dataset)
            refuse_rollback(page.account, self._seen(dataset))
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
        # The witness is asked first: asked afterwards, it may know an entry that
        # another run has added meanwhile.
        seen = self._seen(dataset)
        with self.store.session(write=False) as session:
            account = _account(session, dataset)
        refuse_rollback(account, [*seen, *_of(dataset, known)])
        return account

    verify = account

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
                return _sealed(page.session, dataset, done)
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
            return _kept(session, digest)

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
    def _writing(
        self, dataset: str = "", known: Iterable[Head] = ()
    ) -> Iterator[_Page]:
        with self.store.session(write=True) as session:
            page = _Page(session, Account(dataset=dataset))
            if dataset:
                page.account = _account(session, dataset)
                heads = [*self._seen(dataset), *_of(dataset, known)]
                refuse_rollback(page.account, heads)
            start = page.account.seq
            yield page
        if self.witness is not None and page.account.seq > start:
            self.witness.remember(page.account)

    def _seen(self, dataset: str) -> list[Head]:
        head = None if self.witness is None else self.witness.head(dataset)
        return [] if head is None else [head]


@dataclass(slots=True)
class _Page:
    """A transaction on one dataset, with its account as of the last entry."""

    session: Session
    account: Account

    def add(self, event: Event) -> Account:
        """Append the event; return the account after it."""
        entry = next_entry(self.account, event)
        self.session.append(entry)
        self.account = follow(self.account, entry)
        return self.account


def _of(dataset: str, known: Iterable[Head]) -> list[Head]:
    return [head for head in known if head.dataset == dataset]


def _account(session: Session, dataset: str) -> Account:
    rows = session.rows(dataset)
    if not rows:
        raise LedgerFault.of(
            "DPQL701",
            "that dataset is not open in the ledger",
            hint="the owner opens it: `dpql ledger open DATASET --epsilon CAP`",
        )
    return replay(dataset, read_chain(dataset, rows))


def _sealed(session: Session, dataset: str, run: Run) -> Sealed:
    assert run.envelope is not None
    return Sealed(dataset=dataset, run=run, envelope=_kept(session, run.envelope))


def _kept(session: Session, digest: str) -> bytes:
    data = session.kept(digest)
    if data is None or hashlib.sha256(data).hexdigest() != digest:
        raise LedgerFault.of(
            "DPQL711",
            f"the file {digest[:16]} that the ledger sealed is missing or altered",
            hint="compare the ledger with a backup",
        )
    return data
