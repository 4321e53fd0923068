"""What a chain of entries means: the budget of a dataset and the state of its runs.

    (none) --reserve--> RESERVED --begin draw--> DRAWING --seal--> RELEASED
                           |                        |
                        CANCELLED                  LOST

    committed = epsilon of every run that is not CANCELLED, at most the cap

All of it is derived from the entries, by exact arithmetic; nothing is stored twice.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from fractions import Fraction
from typing import assert_never

from dpql.ledger.entry import (
    GENESIS,
    Bound,
    Cancelled,
    Drawing,
    Entry,
    Event,
    Head,
    Lost,
    Opened,
    Owners,
    Released,
    Reserved,
    Shared,
    broken,
)
from dpql.model.plan import Plan
from dpql.model.spec import Neighbours

ZERO = Fraction(0)

ROW = "row"
"""The unit of a dataset each of whose rows is a unit of its own."""

_MARK = re.compile(r"[0-9a-f]{32}", re.ASCII)


class State(StrEnum):
    """How far a run has come."""

    RESERVED = "reserved"
    DRAWING = "drawing"
    RELEASED = "released"
    CANCELLED = "cancelled"
    LOST = "lost"


_SPENT = frozenset({State.DRAWING, State.RELEASED, State.LOST})


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One debit: ``number`` is that of the entry that reserved it.

    ``bound`` says that the dataset was bound to a place when the run drew.
    """

    number: int
    plan: str
    epsilon: Fraction
    cap: Fraction
    before: Fraction
    after: Fraction
    state: State
    drawing: Head | None = None
    envelope: str | None = None
    sealed: int | None = None
    bound: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Account:
    """The budget of one dataset, as of its last entry.

    ``ledger`` is a name that no other ledger has, empty where it has none. ``places``
    are those that the data were bound to, the last one last. ``shares`` are those of
    them that other datasets have too, by the owner's decision.
    """

    dataset: str
    ledger: str = ""
    cap: Fraction = ZERO
    unit: str = ""
    neighbours: Neighbours = Neighbours.ADD_REMOVE
    approvals: int = 0
    places: tuple[str, ...] = ()
    shares: tuple[Shared, ...] = ()
    mark: str = ""
    runs: tuple[Run, ...] = ()
    seq: int = 0
    head: str = GENESIS
    digests: tuple[str, ...] = field(default=(), repr=False)

    @property
    def spent(self) -> Fraction:
        """What runs have spent for good."""
        return self._sum(_SPENT)

    @property
    def reserved(self) -> Fraction:
        """What runs under way hold back."""
        return self._sum(frozenset({State.RESERVED}))

    @property
    def committed(self) -> Fraction:
        """What is spent or held back."""
        return self.spent + self.reserved

    @property
    def left(self) -> Fraction:
        """What a new run may still take."""
        return self.cap - self.committed

    def run(self, number: int) -> Run | None:
        """Return the run of that number."""
        return next((run for run in self.runs if run.number == number), None)

    def released(self, plan: str) -> Run | None:
        """Return the last run that released this plan."""
        found = [
            run for run in self.runs if run.plan == plan and run.state is State.RELEASED
        ]
        return found[-1] if found else None

    def made(self, plan: str) -> int:
        """Return how many runs of a plan were made; cancelled ones do not count."""
        return sum(
            run.plan == plan and run.state is not State.CANCELLED for run in self.runs
        )

    def ordinal(self, run: Run) -> int:
        """Return which run of its plan a run is; cancelled ones do not count."""
        return sum(
            other.plan == run.plan and other.state is not State.CANCELLED
            for other in self.runs
            if other.number <= run.number
        )

    def protects(self, plan: Plan) -> bool:
        """Tell whether a plan protects whom the owner asks to protect."""
        privacy = plan.spec.privacy
        wanted = self.unit, self.neighbours
        return (unit_of(privacy.unit), privacy.neighbours) == wanted

    def holds(self, head: Head) -> bool:
        """Tell whether the chain has that entry, and ended it in that report."""
        return (
            head.dataset == self.dataset
            and 1 <= head.seq <= self.seq
            and self.digests[head.seq - 1] == head.digest
            and head.envelope in ("", self._envelope(head.seq))
        )

    def _envelope(self, seq: int) -> str | None:
        """Return the report that the draw of an entry ended in."""
        for run in self.runs:
            if run.drawing is not None and run.drawing.seq == seq:
                return run.envelope
        return None

    def _sum(self, states: frozenset[State]) -> Fraction:
        return sum((run.epsilon for run in self.runs if run.state in states), ZERO)


def unit_of(unit: str | None) -> str:
    """Return how a ledger names a unit."""
    return ROW if unit is None else unit


def replay(dataset: str, entries: Sequence[Entry]) -> Account:
    """Return the account that the entries add up to.

    Raises:
        LedgerFault: an entry does what its forerunners do not allow (DPQL705).
    """
    tally = _Tally(Account(dataset=dataset), {}, ZERO, [])
    for entry in entries:
        tally.take(entry)
    return tally.account_now()


def follow(account: Account, entry: Entry) -> Account:
    """Return the account after one more entry; refuse what it does not allow."""
    runs = {run.number: run for run in account.runs}
    tally = _Tally(account, runs, account.committed, list(account.digests))
    tally.take(entry)
    return tally.account_now()


def next_entry(account: Account, event: Event) -> Entry:
    """Return the entry that continues the chain of the account."""
    return Entry(
        dataset=account.dataset,
        seq=account.seq + 1,
        previous=account.head,
        event=event,
    )


def _owner(account: Account, entry: Entry, event: Owners) -> Account:
    if isinstance(event, Opened):
        sound = event.cap > 0 and event.approvals >= 0 and _MARK.fullmatch(event.mark)
        if not sound:
            raise broken(entry.seq)
        return replace(
            account,
            cap=event.cap,
            unit=event.unit,
            neighbours=event.neighbours,
            approvals=event.approvals,
            places=(event.location,) if event.location else (),
            mark=event.mark,
        )
    if isinstance(event, Bound):
        if not event.location:
            raise broken(entry.seq)
        return replace(account, places=(*account.places, event.location))
    if isinstance(event, Shared):
        named = event.location and event.datasets
        if not named or account.dataset in event.datasets:
            raise broken(entry.seq)
        return replace(
            account,
            places=(*account.places, event.location),
            shares=(*account.shares, event),
        )
    if event.cap <= account.cap:
        raise broken(entry.seq)
    return replace(account, cap=event.cap)


@dataclass(slots=True)
class _Tally:
    """An account that is being added up."""

    account: Account
    runs: dict[int, Run]
    committed: Fraction
    digests: list[str]

    def take(self, entry: Entry) -> None:
        """Take in the next entry."""
        if isinstance(entry.event, Opened) != (entry.seq == 1):
            raise broken(entry.seq)
        if isinstance(entry.event, Owners):
            self.account = _owner(self.account, entry, entry.event)
        else:
            self.committed = _run(self.account, self.runs, self.committed, entry)
        self.digests.append(entry.digest)

    def account_now(self) -> Account:
        """Return the account as of the last entry."""
        return replace(
            self.account,
            runs=tuple(self.runs.values()),
            seq=len(self.digests),
            head=self.digests[-1] if self.digests else GENESIS,
            digests=tuple(self.digests),
        )


def _run(
    account: Account, runs: dict[int, Run], committed: Fraction, entry: Entry
) -> Fraction:
    """Take the entry of a run into ``runs``; return what is committed after it."""
    event = entry.event
    assert not isinstance(event, Owners)
    if isinstance(event, Reserved):
        sound = (
            event.epsilon > 0
            and event.cap == account.cap
            and event.before == committed
            and event.after == event.before + event.epsilon <= event.cap
        )
        if not sound:
            raise broken(entry.seq)
        runs[entry.seq] = Run(
            number=entry.seq,
            plan=event.plan,
            epsilon=event.epsilon,
            cap=event.cap,
            before=event.before,
            after=event.after,
            state=State.RESERVED,
        )
        return event.after
    run = runs.get(event.run)
    needed = State.RESERVED if isinstance(event, Drawing | Cancelled) else State.DRAWING
    if run is None or run.state is not needed:
        raise broken(entry.seq)
    runs[run.number] = _moved(run, entry, event, bound=bool(account.places))
    return committed - run.epsilon if isinstance(event, Cancelled) else committed


def _moved(
    run: Run,
    entry: Entry,
    event: Drawing | Released | Cancelled | Lost,
    *,
    bound: bool,
) -> Run:
    match event:
        case Drawing():
            head = Head(dataset=entry.dataset, seq=entry.seq, digest=entry.digest)
            return replace(run, state=State.DRAWING, drawing=head, bound=bound)
        case Released(envelope=envelope):
            return replace(
                run, state=State.RELEASED, envelope=envelope, sealed=entry.seq
            )
        case Cancelled():
            return replace(run, state=State.CANCELLED)
        case Lost():
            return replace(run, state=State.LOST)
        case _:
            assert_never(event)
