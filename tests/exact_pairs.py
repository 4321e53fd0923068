"""Pairs of laws, of a release on two neighbours, and how far one exceeds the other.

Written from the definitions alone, and from no arithmetic of `dpql.mechanisms`. Masses
are enclosed by integers over 2**BITS; what is found is never below the true divergence.
Outcomes of one likelihood ratio are one class, so nothing is lost by joining them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache, reduce
from itertools import count

from dpql.exact import exp_down, exp_up

BITS = 320
WHOLE = 1 << BITS

Loss = tuple[Fraction, tuple[object, ...]]
"""The logarithm of a ratio: a rational, plus those that have names only."""


@dataclass(slots=True)
class Mass:
    """Enclosures of P and of Q of a class of outcomes."""

    p_low: int
    p_high: int
    q_low: int
    q_high: int


@dataclass(slots=True)
class Pair:
    """Two laws: classes of outcomes that both have, and what P alone has."""

    classes: dict[Loss, Mass] = field(default_factory=dict)
    alone: int = 0

    def add(self, loss: Loss, p: tuple[int, int], q: tuple[int, int]) -> None:
        """Add an outcome; the loss is the logarithm of P over Q."""
        if q[1] == 0:
            self.alone += p[1]
            return
        if p[1] == 0:
            return
        known = self.classes.setdefault(loss, Mass(0, 0, 0, 0))
        known.p_low += p[0]
        known.p_high += p[1]
        known.q_low += q[0]
        known.q_high += q[1]

    def __mul__(self, other: Pair) -> Pair:
        """Return the pair of two independent outcomes."""
        found = Pair()
        mine = sum(x.p_high for x in self.classes.values()) + self.alone
        others = sum(x.p_high for x in other.classes.values())
        found.alone = _up(self.alone * others) + _up(mine * other.alone)
        for (loss, names), a in self.classes.items():
            for (more, others_), b in other.classes.items():
                found.add(
                    (loss + more, tuple(sorted((*names, *others_), key=str))),
                    (a.p_low * b.p_low >> BITS, _up(a.p_high * b.p_high)),
                    (a.q_low * b.q_low >> BITS, max(1, _up(a.q_high * b.q_high))),
                )
        return found


def together(pairs: Iterable[Pair]) -> Pair:
    """Return the pair of all these independent outcomes."""
    nothing = Pair()
    nothing.add((Fraction(0), ()), (WHOLE, WHOLE), (WHOLE, WHOLE))
    return reduce(Pair.__mul__, pairs, nothing)


def hockey_stick_up(pair: Pair, epsilon: Fraction) -> Fraction:
    """Return sum of (P - exp(epsilon) Q) where it is above 0, from above."""
    return Fraction(pair.alone + _excess(pair, exp_bounds(epsilon)[0]), WHOLE)


def adaptive_up(first: Pair, then: Sequence[Pair], epsilon: Fraction) -> Fraction:
    """Return the same where, after each outcome, the worst of some pairs follows."""
    factor, total = exp_bounds(epsilon)[0], first.alone
    for mass in first.classes.values():
        total += max(_scaled(mass, pair, factor) for pair in then)
    return Fraction(total, WHOLE)


def renyi_factor_down(pair: Pair) -> Fraction:
    """Return E_Q[(P/Q)**2] from below: at most exp(2 rho) under rho-zCDP."""
    return sum(
        (Fraction(x.p_low**2, x.q_high * WHOLE) for x in pair.classes.values()),
        Fraction(0),
    )


def _excess(pair: Pair, factor: int) -> int:
    return sum(
        max(0, x.p_high - (factor * x.q_low >> BITS)) for x in pair.classes.values()
    )


def _scaled(mass: Mass, pair: Pair, factor: int) -> int:
    """Return the excess of a pair behind one class of outcomes."""
    total = _up(mass.p_high * pair.alone)
    for x in pair.classes.values():
        most = _up(mass.p_high * x.p_high)
        least = (factor * mass.q_low >> BITS) * x.q_low >> BITS
        total += max(0, most - least)
    return total


def _up(product: int) -> int:
    return -(-product >> BITS)


@lru_cache(1 << 16)
def exp_bounds(x: Fraction) -> tuple[int, int]:
    """Return integers around 2**BITS exp(x)."""
    low = exp_down(x, bits=BITS + 64) * WHOLE
    high = exp_up(x, bits=BITS + 64) * WHOLE
    return low.__floor__(), high.__ceil__()


def shown_or_not(p: Fraction, q: Fraction, name: object) -> Pair:
    """Return the pair of a key that is shown with these probabilities, exactly."""
    found = Pair()
    for word, one, other in (("shown", p, q), ("hidden", 1 - p, 1 - q)):
        both = [((x * WHOLE).__floor__(), (x * WHOLE).__ceil__()) for x in (one, other)]
        if p == q:
            found.add((Fraction(0), ()), *both)
        else:
            found.add((Fraction(0), ((name, word),)), *both)
    return found


@dataclass(frozen=True, slots=True)
class Noise:
    """A symmetric law on whole numbers: P(X = x) in proportion to exp(-fall(x)).

    With a reach it is 0 beyond; else what lies beyond the window is bounded.
    """

    kind: str
    parameter: Fraction
    reach: int | None = None

    def fall(self, x: int) -> Fraction:
        """Return minus the logarithm of the weight of x."""
        if self.kind == "gaussian":
            return x * x / (2 * self.parameter)
        return self.parameter * abs(x)

    def masses(self) -> tuple[int, list[tuple[int, int]], int]:
        """Return the window, P(X = x) for x = 0, 1, ..., and P(X > window), all up."""
        return _masses(self)

    def mass(self, x: int) -> tuple[int, int]:
        """Return P(X = x); 0 to the bound of a tail where x is beyond the window."""
        window, found, _ = self.masses()
        return found[abs(x)] if abs(x) <= window else (0, 0)


@lru_cache(256)
def _masses(noise: Noise) -> tuple[int, list[tuple[int, int]], int]:
    weights: list[tuple[int, int]] = []
    for x in count():
        if noise.reach is not None and x > noise.reach:
            break
        weights.append(exp_bounds(-noise.fall(x)))
        if noise.reach is None and weights[-1][1] >> (BITS - 160) == 0:
            break
    low = 2 * sum(x[0] for x in weights[1:]) + weights[0][0]
    high = 2 * sum(x[1] for x in weights[1:]) + weights[0][1]
    rest = 0
    if noise.reach is None:
        # From one term to the next they fall by this factor at least.
        last = len(weights) - 1
        ratio = exp_bounds(noise.fall(last) - noise.fall(last + 1))[1]
        rest = -(-weights[-1][1] * ratio // (WHOLE - ratio))
        high += 2 * rest
    masses = [((a << BITS) // high, -(-(b << BITS) // low)) for a, b in weights]
    return len(weights) - 1, masses, -(-(rest << BITS) // low)


def moved(noise: Noise, distance: int) -> Pair:
    """Return the pair of a number that is moved by so many steps."""
    found = Pair()
    for loss, p, q in _outcomes(noise, distance, 0):
        found.add((loss, ()), p, q)
    found.alone += 2 * noise.masses()[2]
    return found


def counted(
    noise: Noise, least: int, units: int, others: int, *, name: object = None
) -> Pair:
    """Return the pair of a key of so many units, shown from ``least`` on with them.

    A key that no unit has is never shown.
    """
    found = Pair()
    hidden = [0, 0, 0, 0]
    if units == 0 or others == 0:
        hidden = [WHOLE, WHOLE, WHOLE, WHOLE]
        if others == 0 and units:
            shown = [x for x in _support(noise, units) if x >= least]
            low = sum(noise.mass(x - units)[0] for x in shown)
            high = sum(noise.mass(x - units)[1] for x in shown) + noise.masses()[2]
            found.alone += high
            hidden[:2] = [WHOLE - high, WHOLE - low]
        elif units == 0 and others:
            shown = [x for x in _support(noise, others) if x >= least]
            low = sum(noise.mass(x - others)[0] for x in shown)
            high = sum(noise.mass(x - others)[1] for x in shown) + noise.masses()[2]
            hidden[2:] = [WHOLE - high, WHOLE - low]
    else:
        for outcome, loss, p, q in _numbered(noise, units, others):
            if outcome >= least:
                found.add((loss, ()), p, q)
            else:
                hidden = [x + y for x, y in zip(hidden, (*p, *q), strict=True)]
        found.alone += 2 * noise.masses()[2]
        hidden[1] += noise.masses()[2]
        hidden[3] += noise.masses()[2]
    label = (Fraction(0), ()) if units == others else (Fraction(0), ((name, "hidden"),))
    found.add(label, (hidden[0], hidden[1]), (hidden[2], hidden[3]))
    return found


def _support(noise: Noise, units: int) -> range:
    window = noise.masses()[0]
    return range(units - window, units + window + 1)


def _numbered(
    noise: Noise, one: int, other: int
) -> Iterator[tuple[int, Fraction, tuple[int, int], tuple[int, int]]]:
    window = noise.masses()[0]
    for outcome in range(min(one, other) - window, max(one, other) + window + 1):
        p, q = noise.mass(outcome - one), noise.mass(outcome - other)
        loss = noise.fall(outcome - other) - noise.fall(outcome - one)
        yield outcome, loss, p, q


def _outcomes(
    noise: Noise, one: int, other: int
) -> Iterator[tuple[Fraction, tuple[int, int], tuple[int, int]]]:
    for _, loss, p, q in _numbered(noise, one, other):
        yield loss, p, q


def worst_moves(moves: Iterable[tuple[int, ...]]) -> set[tuple[int, ...]]:
    """Return those that no other exceeds in every place; the order is left aside."""
    found = {tuple(sorted(map(abs, one), reverse=True)) for one in moves}
    return {
        one
        for one in found
        if not any(
            one != other and all(a <= b for a, b in zip(one, other, strict=True))
            for other in found
        )
    }
