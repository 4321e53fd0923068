"""The budget of a dataset and the state of its runs.

    (none) --reserve--> RESERVED --begin draw--> DRAWING --seal--> RELEASED
                           |                        |
                        CANCELLED                  LOST

    committed = epsilon of every run that is not CANCELLED, at most the cap

Exact arithmetic derives all of it from the entries (`dpql.ledger.replay`); nothing is
stored twice.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from fractions import Fraction

from dpql.ledger.entry import GENESIS, Head, Shared
from dpql.ledger.tracks import Cost, Promise, Sums
from dpql.model.plan import Plan
from dpql.model.spec import Neighbours

ZERO = Fraction(0)

ROW = "row"
"""The unit of a dataset in which every row is a unit."""


class State(StrEnum):
    """How far a run has come."""

    RESERVED = "reserved"
    DRAWING = "drawing"
    RELEASED = "released"
    CANCELLED = "cancelled"
    LOST = "lost"


_SPENT = frozenset({State.DRAWING, State.RELEASED, State.LOST})
_COMMITTED = _SPENT | {State.RESERVED}


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One debit: ``number`` is that of the entry that reserved it.

    ``delta`` is that of the promise by which it was admitted.

    ``bound``: the dataset was bound to a location when the run drew. ``shared``: its
    data had other budgets by then, at whatever location.
    """

    number: int
    plan: str
    cost: Cost
    cap: Fraction
    before: Fraction
    after: Fraction
    state: State
    drawing: Head | None = None
    envelope: str | None = None
    sealed: int | None = None
    bound: bool = False
    shared: bool = False
    delta: Fraction = ZERO

    @property
    def epsilon(self) -> Fraction | None:
        """The epsilon of the run; None if it is not pure."""
        return self.cost.epsilon


@dataclass(frozen=True, slots=True, kw_only=True)
class Account:
    """The budget of one dataset, as of its last entry.

    ``ledger`` is the id of the ledger, empty where it has none. ``locations`` are those
    that the data were ever bound to, the newest last. ``shares`` are the locations that
    the owner decided to share with other datasets. ``partners`` are the datasets that
    were given the data of this one later. ``mark`` is the id of the chain. ``raised``:
    the cap was raised, and answers may have had a part in that.

    Without a delta, what is spent is the sum of epsilons. With one it is the epsilon
    that the costs of all runs amount to (`dpql.ledger.tracks`).
    """

    dataset: str
    ledger: str = ""
    cap: Fraction = ZERO
    delta_events: Fraction = ZERO
    delta_conversion: Fraction = ZERO
    orders: tuple[Fraction, ...] = ()
    raised: bool = False
    unit: str = ""
    neighbours: Neighbours = Neighbours.ADD_REMOVE
    approvals: int = 0
    locations: tuple[str, ...] = ()
    shares: tuple[Shared, ...] = ()
    partners: tuple[str, ...] = ()
    mark: str = ""
    runs: tuple[Run, ...] = ()
    seq: int = 0
    head: str = GENESIS
    digests: tuple[str, ...] = field(default=(), repr=False)

    @property
    def delta(self) -> Fraction:
        """The delta of all runs together; 0 where all are pure."""
        return self.delta_events + self.delta_conversion

    @property
    def promise(self) -> Promise:
        """What the owner promises of all runs together."""
        return Promise(
            epsilon=self.cap,
            delta_events=self.delta_events,
            delta_conversion=self.delta_conversion,
            orders=self.orders,
        )

    @property
    def spent(self) -> Fraction:
        """What runs have spent for good."""
        return self._amount(_SPENT)

    @property
    def reserved(self) -> Fraction:
        """What runs under way hold back."""
        return self.committed - self.spent

    @property
    def committed(self) -> Fraction:
        """What is spent or held back."""
        return self._amount(_COMMITTED)

    @property
    def sums(self) -> Sums:
        """What all runs that count cost together."""
        return self._sums(_COMMITTED)

    @property
    def left(self) -> Fraction:
        """What a new run may still take."""
        return self.cap - self.committed

    @property
    def events_left(self) -> Fraction:
        """What is left of the delta for keys that are found in the data."""
        return self.delta_events - self.sums.delta

    @property
    def sharing(self) -> frozenset[str]:
        """The datasets that ever had the same data, as this chain records it."""
        named = (name for share in self.shares for name in share.datasets)
        return frozenset((*named, *self.partners))

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
        """Return how many runs a plan had; cancelled ones do not count."""
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
        """Tell whether a plan protects the unit that the owner asks for."""
        privacy = plan.spec.privacy
        wanted = self.unit, self.neighbours
        return (unit_of(privacy.unit), privacy.neighbours) == wanted

    def holds(self, head: Head) -> bool:
        """Tell whether the chain has that entry, and its run ended in that report."""
        return (
            head.dataset == self.dataset
            and 1 <= head.seq <= self.seq
            and self.digests[head.seq - 1] == head.digest
            and head.envelope in ("", self._envelope(head.seq))
        )

    def _envelope(self, seq: int) -> str | None:
        """Return the digest of the report that the draw of an entry ended in."""
        for run in self.runs:
            if run.drawing is not None and run.drawing.seq == seq:
                return run.envelope
        return None

    @property
    def sums_spent(self) -> Sums:
        """What the runs cost together that have spent for good."""
        return self._sums(_SPENT)

    def _sums(self, states: frozenset[State]) -> Sums:
        costs = (run.cost for run in self.runs if run.state in states)
        return Sums.of(costs, len(self.orders))

    def _amount(self, states: frozenset[State]) -> Fraction:
        amount = self.promise.amounts_to(self._sums(states))
        assert amount is not None, "what no cap would hold was never admitted"
        return amount


def unit_of(unit: str | None) -> str:
    """Return how a ledger names a unit."""
    return ROW if unit is None else unit
