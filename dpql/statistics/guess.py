"""Where a tail meets its level, guessed in doubles.

Nothing rests on a guess: `inversion` and `tails` decide by directed rounding, and a bad
guess costs them a few more steps. Where doubles cannot tell, None is returned.

The tail of `tails` is a divided difference,

    sum_i e^(-c/w_i) prod_{j != i} w_i^2/(w_i^2 - w_j^2) = h[w_1^2, ..., w_n^2],
    h(y) = y^(n-1) e^(-c/sqrt(y))

which has a limit where two weights are the same. Weights that were moved apart by
2**-20 are taken as two equal ones in their middle, which is right to 2**-40.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from math import exp, expm1, log  # noqa: TID251  a guess, no promise

import gmpy2
from gmpy2 import mpfr, mpq

_APART = 1 + 2.0**-20
_SAME = 1 + 2.0**-19
_LEAST = 2.0**-11
"""Least product of the distances of weights that doubles are trusted with."""

_TINY = 1e-300
_NEAR = 2.0**-40
"""Least relative step of a search in doubles."""

_ONE = 1 << 60
_ROUNDS = 60
_PAIR = 2


def log_tail(critical: float, weights: Sequence[float]) -> float | None:
    """Return ln P(|sum w_i L_i| > c), nearly, for weights above 0 and c >= 0."""
    ordered = sorted(weights)
    largest = ordered[-1]
    c = critical / largest
    if len(ordered) == 1:
        return -c
    if len(ordered) == _PAIR:
        return _pair(ordered[0] / largest, c) - c
    nodes = [ordered[0] / largest]
    for weight in ordered[1:]:
        nodes.append(max(weight / largest, nodes[-1] * _APART))
    found = _several(nodes, c)
    return log(found) - c if found > 0 else None


def critical(
    falling: Sequence[int], level: mpq, start: float, tail: Callable[[int], mpfr]
) -> float:
    """Return K of falling weights over the first, nearly; at worst the start.

    ``tail`` gives the tail at 2**-60 first weights where doubles cannot tell.
    """
    weights = [weight / falling[0] for weight in falling if weight]
    target = log(level)

    def excess(c: float) -> float | None:
        if c <= 0:
            return -c - target
        found = log_tail(c, weights)
        if found is None:
            found = float(gmpy2.log(tail(int(c * _ONE))))
        return found - target

    found = root(excess, start, -1.0)
    return found if found is not None and found > 0 else start


def together(falling: Sequence[float], alike: Sequence[mpq]) -> float:
    """Return a bound of K over the first weight, from those of equal weights.

    K is a norm of the weights, and w = (w_1 - w_2)(1, 0, ..) + (w_2 - w_3)(1, 1, 0, ..)
    and so on. ``alike`` are K of one weight of 1, of two, and so on.
    """
    behind = (*falling[1:], 0.0)
    pairs = zip(falling, behind, alike, strict=False)
    bound = sum((weight - after) * float(known) for weight, after, known in pairs)
    return bound / falling[0]


def root(
    function: Callable[[float], float | None], first: float, slope: float
) -> float | None:
    """Return where a nearly straight function of about such a slope is 0."""
    low = function(first)
    if low is None or slope == 0:
        return None
    before = low / slope
    second = first - before
    high = function(second)
    for _ in range(_ROUNDS):
        if high is None or low == high:
            return second if high == 0 else None
        step = high * (second - first) / (high - low)
        first, low = second, high
        second -= step
        # The next step would be less than this one by about the one before it.
        if abs(step * before) <= _NEAR * second * second:
            return second
        before = step
        high = function(second)
    return None


def _pair(less: float, c: float) -> float:
    """Return ln(tail) + c of the weights ``less`` <= 1 and 1, without cancellation."""
    apart = 1 - less
    if apart == 0:
        return log(1 + c / 2)
    missing = apart * (1 + less)
    return log((missing - less * less * expm1(-c * apart / less)) / missing)


def _several(nodes: list[float], c: float) -> float:
    """Return the tail of three or more rising weights, times e^c; 0 if doubles fail."""
    squares = [w * w for w in nodes]
    apart = 1.0
    for less, more in pairwise(squares):
        apart *= 1 - less / more
    if apart >= _LEAST:
        power = len(nodes) - 1
        total = 0.0
        for i, y in enumerate(squares):
            term = y**power * exp(c - c / nodes[i])
            for j, other in enumerate(squares):
                if j != i:
                    term /= y - other
            total += term
        return total
    same = [more <= less * _SAME for less, more in pairwise(nodes)]
    if same == [True, False, True]:
        return _two_pairs((nodes[0] + nodes[1]) / 2, (nodes[2] + nodes[3]) / 2, c)
    if same == [True, False]:
        return _pair_and_one((nodes[0] + nodes[1]) / 2, nodes[2], c)
    if same == [False, True]:
        return _pair_and_one((nodes[1] + nodes[2]) / 2, nodes[0], c)
    return 0.0


def _two_pairs(less: float, more: float, c: float) -> float:
    """Return the tail of two weights, each twice, times e^c."""
    gap = more * more - less * less
    if gap < _LEAST:
        return 0.0
    (low, rise), (high, slope) = (_hill(w, 3, c) for w in (less, more))
    return (rise + slope - 2 * (high - low) / gap) / (gap * gap)


def _pair_and_one(twice: float, once: float, c: float) -> float:
    """Return the tail of a weight that comes twice and of another, times e^c."""
    gap = once * once - twice * twice
    if abs(gap) < _LEAST:
        return 0.0
    (low, rise), (high, _) = (_hill(w, 2, c) for w in (twice, once))
    return ((high - low) / gap - rise) / gap


def _hill(w: float, power: int, c: float) -> tuple[float, float]:
    """Return h(w^2) e^c and its derivative by w^2."""
    h = w ** (2 * power) * exp(c - c / w)
    return h, h * (power + c / (2 * w)) / (w * w)


@dataclass(frozen=True, slots=True)
class Noise:
    """The noise of parts and a level, in doubles."""

    theta: float
    shift: float
    level: float

    @classmethod
    def of(cls, theta: Fraction, shift: Fraction, level: Fraction) -> Noise:
        """Return the noise with numbers that are near."""
        return cls(float(theta), float(shift), float(level))


def farthest(
    weights: Sequence[tuple[mpq, mpq]],
    total: tuple[mpq, mpq],
    noise: Noise,
    alike: Sequence[mpq],
) -> float:
    """Return d with a tail of the level at c(d), nearly; at worst a bound of it, or 1.

    Weights and the total are affine in d, given as their values at 0 and their rises:
    c(d) = theta (total - shift sum |w|).
    """
    lines = [(float(a), float(rise)) for a, rise in weights]
    at_zero, slope = float(total[0]), float(total[1])
    theta, shift, target = noise.theta, noise.shift, log(noise.level)

    def excess(d: float) -> float | None:
        sizes = [size for a, rise in lines if (size := abs(a + rise * d)) > _TINY]
        if not sizes:
            return None
        c = theta * (at_zero + slope * d - shift * sum(sizes))
        largest = max(sizes)
        if c <= 0:
            return -c - largest * target
        if len(sizes) == _PAIR:
            return largest * (_pair(min(sizes) / largest, c / largest) - target) - c
        found = log_tail(c, sizes)
        return None if found is None else largest * (found - target)

    if slope <= 0:
        return 1.0
    falling = sorted((abs(a) for a, _ in lines), reverse=True)
    reach = (
        falling[0] * together(falling, alike) / theta + shift * sum(falling) - at_zero
    )
    first = min(max(reach / slope, _TINY), 1.0)
    found = root(excess, first, -theta * slope)
    return found if found is not None and 0 < found < 1 else first
