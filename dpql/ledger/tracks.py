"""The rule of a ledger of (epsilon, delta): one budget, several ways to stay within.

An owner opens with an epsilon, a delta for events, a delta for conversion and K orders.
Every release has a cost that its plan fixes: epsilon, or none; rho; delta; and a Renyi
cost for each order. One more is admitted if, with it,

    sum of delta <= delta for events,  and one of
    pure       every release has an epsilon, and their sum is at most the cap
    order a    their Renyi costs are at most cap_a(epsilon, delta for conversion / K)

Then all releases together are (epsilon, delta for events + delta for conversion)-DP,
whatever was asked in the light of earlier answers. Orders and shares of delta are fixed
at opening; choosing them after seeing answers is refused by construction, for there is
no way to say it. With no delta and no order it is the rule of a pure ledger.
Source: MATH-delta 2.4, theorem 4.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate

from dpql.mechanisms.concentrated import best_order, cap_down, renyi_up, require_order

STEP = Fraction(1, 16)
"""Default orders are multiples of this."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """What one release costs, exact, and stored as it is: never computed again.

    ``epsilon`` is its total if all its parts are pure, else None. ``renyi`` has one
    cost for each order of the ledger, rounded up, over the parts that one unit touches.
    """

    epsilon: Fraction | None
    rho: Fraction
    delta: Fraction
    renyi: tuple[Fraction, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Track:
    """One order, the sum of costs at it, and the most that it may be."""

    order: Fraction
    total: Fraction
    cap: Fraction

    @property
    def holds(self) -> bool:
        """Whether the releases are within it; a cap at or below 0 closes it."""
        return self.cap > 0 and self.total <= self.cap


@dataclass(frozen=True, slots=True, kw_only=True)
class Promise:
    """What an owner opened a ledger with; it never depends on an answer."""

    epsilon: Fraction
    delta_events: Fraction = Fraction(0)
    delta_conversion: Fraction = Fraction(0)
    orders: tuple[Fraction, ...] = ()

    def __post_init__(self) -> None:
        for order in self.orders:
            require_order(order)
        assert not self.orders or 0 < self.delta_conversion < 1, "orders need a delta"
        assert 0 <= self.delta_events < 1, "a delta for events is a probability"

    @property
    def delta(self) -> Fraction:
        """The delta of all releases together."""
        return self.delta_events + self.delta_conversion

    def cap(self, order: Fraction) -> Fraction:
        """Return the most that the Renyi costs of this order may add up to."""
        return cap_down(order, self.epsilon, self.delta_conversion / len(self.orders))

    def tracks(self, costs: Iterable[Cost]) -> tuple[Track, ...]:
        """Return the sums of all orders, beside what they may be."""
        given = tuple(costs)
        return tuple(
            Track(
                order=order,
                total=sum((cost.renyi[index] for cost in given), Fraction(0)),
                cap=self.cap(order),
            )
            for index, order in enumerate(self.orders)
        )

    def pure(self, costs: Iterable[Cost]) -> Fraction | None:
        """Return the sum of epsilons; None if some release has none."""
        epsilons = [cost.epsilon for cost in costs]
        if None in epsilons:
            return None
        return sum((each for each in epsilons if each is not None), Fraction(0))

    def admits(self, costs: Iterable[Cost]) -> bool:
        """Tell whether these releases, all that count, are within the promise."""
        given = tuple(costs)
        if sum((cost.delta for cost in given), Fraction(0)) > self.delta_events:
            return False
        pure = self.pure(given)
        within = pure is not None and pure <= self.epsilon
        return within or any(track.holds for track in self.tracks(given))

    def admitted(self, costs: Iterable[Cost]) -> bool:
        """Tell whether each release was admitted after those before it."""
        runs = accumulate(((cost,) for cost in costs), lambda one, other: one + other)
        return all(self.admits(run) for run in runs)


def opened(
    epsilon: Fraction, delta_events: Fraction, delta_conversion: Fraction
) -> Promise:
    """Return a promise with the default orders: none without a delta, else two.

    One is best for the whole epsilon, the other for half of it, each at half of the
    delta: multiples of 1/16 with the largest cap_a / a.
    """
    orders: tuple[Fraction, ...] = ()
    if delta_conversion:
        each = delta_conversion / 2
        orders = tuple(best_order(e, each, step=STEP) for e in (epsilon, epsilon / 2))
    return Promise(
        epsilon=epsilon,
        delta_events=delta_events,
        delta_conversion=delta_conversion,
        orders=orders,
    )


def part_cost(
    order: Fraction, *, epsilon: Fraction | None = None, rho: Fraction | None = None
) -> Fraction:
    """Return the Renyi cost of one part, the least of what is known of it, up."""
    assert epsilon is not None or rho is not None, "a part costs something"
    known = [] if epsilon is None else [renyi_up(epsilon, order)]
    known += [] if rho is None else [order * rho]
    return min(known)
