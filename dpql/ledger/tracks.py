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
from functools import lru_cache
from itertools import accumulate

STEP = Fraction(1, 16)
"""Default orders are multiples of this."""

_MANY = 10**6


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
class Sums:
    """What some releases cost together; ``impure`` of them have no epsilon."""

    epsilon: Fraction = Fraction(0)
    impure: int = 0
    delta: Fraction = Fraction(0)
    renyi: tuple[Fraction, ...] = ()

    @classmethod
    def of(cls, costs: Iterable[Cost], orders: int) -> Sums:
        """Return the sums of costs at so many orders."""
        sums = cls(renyi=(Fraction(0),) * orders)
        for cost in costs:
            sums = sums.plus(cost)
        return sums

    def plus(self, cost: Cost) -> Sums:
        """Return the sums with one more release."""
        return self._moved(cost, 1)

    def minus(self, cost: Cost) -> Sums:
        """Return the sums without one of the releases."""
        return self._moved(cost, -1)

    def _moved(self, cost: Cost, sign: int) -> Sums:
        pairs = zip(self.renyi, cost.renyi, strict=True)
        return Sums(
            epsilon=self.epsilon + sign * (cost.epsilon or Fraction(0)),
            impure=self.impure + sign * (cost.epsilon is None),
            delta=self.delta + sign * cost.delta,
            renyi=tuple(total + sign * each for total, each in pairs),
        )


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
        if not self.orders:
            assert 0 <= self.delta_events < 1, "a delta for events is a probability"
            return
        from dpql.mechanisms.concentrated import require_order

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
        return self.epsilon - self._conversion(order)

    def _conversion(self, order: Fraction) -> Fraction:
        """Return what a divergence of this order lacks to be an epsilon, rounded up."""
        return _converted(order, self.delta_conversion / len(self.orders))

    def sums(self, costs: Iterable[Cost]) -> Sums:
        """Return what releases cost together."""
        return Sums.of(costs, len(self.orders))

    def tracks(self, sums: Sums) -> tuple[Track, ...]:
        """Return the sums of all orders, beside what they may be."""
        pairs = zip(self.orders, sums.renyi, strict=True)
        return tuple(
            Track(order=order, total=total, cap=self.cap(order))
            for order, total in pairs
        )

    def admits(self, costs: Iterable[Cost]) -> bool:
        """Tell whether these releases, all that count, are within the promise."""
        return self.holds(self.sums(costs))

    def holds(self, sums: Sums) -> bool:
        """Tell whether releases that cost so much together are within the promise."""
        if sums.delta > self.delta_events:
            return False
        if not sums.impure and sums.epsilon <= self.epsilon:
            return True
        return any(track.holds for track in self.tracks(sums))

    def amounts_to(self, sums: Sums) -> Fraction | None:
        """Return the least epsilon of a cap that would hold so much, rounded up.

        None if no cap would: a release is not pure, and there is no order.
        """
        found = [] if sums.impure else [sums.epsilon]
        found += [
            max(Fraction(0), total + self._conversion(order))
            for order, total in zip(self.orders, sums.renyi, strict=True)
        ]
        return min(found, default=None)

    def room(self, sums: Sums, cost: Cost) -> int:
        """Return how many more releases of that cost fit, at most a million."""
        fits, more = 0, 1
        while more <= _MANY and self.holds(sums.plus(_times(more, cost))):
            fits, more = more, 2 * more
        more = min(more, _MANY + 1)
        while more - fits > 1:
            middle = (fits + more) // 2
            if self.holds(sums.plus(_times(middle, cost))):
                fits = middle
            else:
                more = middle
        return fits

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
        from dpql.mechanisms.concentrated import best_order

        each = delta_conversion / 2
        orders = tuple(best_order(e, each, step=STEP) for e in (epsilon, epsilon / 2))
    return Promise(
        epsilon=epsilon,
        delta_events=delta_events,
        delta_conversion=delta_conversion,
        orders=orders,
    )


@lru_cache(64)
def _converted(order: Fraction, delta: Fraction) -> Fraction:
    from dpql.mechanisms.concentrated import epsilon_at

    return epsilon_at(order, Fraction(0), delta)


def _times(count: int, cost: Cost) -> Cost:
    """Return what so many releases of one cost cost together."""
    return Cost(
        epsilon=None if cost.epsilon is None else count * cost.epsilon,
        rho=count * cost.rho,
        delta=count * cost.delta,
        renyi=tuple(count * each for each in cost.renyi),
    )


def part_cost(
    order: Fraction, *, epsilon: Fraction | None = None, rho: Fraction | None = None
) -> Fraction:
    """Return the Renyi cost of one part, the least of what is known of it, up."""
    from dpql.mechanisms.concentrated import renyi_up

    assert epsilon is not None or rho is not None, "a part costs something"
    known = [] if epsilon is None else [renyi_up(epsilon, order)]
    known += [] if rho is None else [order * rho]
    return min(known)
