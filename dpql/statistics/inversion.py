"""All x that noisy parts do not contradict: a test turned into an interval.

Let sum coef_i(x) B_i be 0 at the true x for the true parts, every coef_i falling and
affine. Then x is kept iff |sum coef_i(x) B~_i| <= c(w), w_i = |coef_i(x)|, and the true
x is kept with probability 1 - alpha or more.

c is a norm of w, so that "sum coef_i(x) B~_i > c" fires on one interval of x. If it
fires at the lower end of the range, the interval's other end is where it stops firing;
if it does not, nothing is excluded from below. Likewise from above, with the signs
turned. A test that fires at both ends of the range leaves the far end alone.

No width is computed: the test fires iff the tail at theta (sum - shift sum w_i) is
below alpha, which is decided exactly. An end is the nearest point to the middle, where
the sum is 0, at which the test fires: on a grid of 2**64 steps of the range, of those
points whose distance from the middle has 36 significant bits. So it follows from the
noisy parts alone, and doubles may guess where it is.
Source: MATH-statistics 3.3.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Protocol

from gmpy2 import lcm, mpq, mpz

from dpql.statistics.decisions import Noises, level_of, short_width
from dpql.statistics.guess import Noise, farthest
from dpql.statistics.short_numbers import index_above, least, short
from dpql.statistics.tails import Tail

GRID = 64
"""Binary places of the grid of a range."""

END = 1 << GRID

Interval = tuple[mpq, mpq]


@dataclass(frozen=True, slots=True, kw_only=True)
class Family:
    """The tests of one unknown x in lower..upper, one coefficient for each noisy part.

    ``coefficients`` are pairs: coef_i at the lower and at the upper end of the range,
    the first not below the second. Between the ends coef_i is affine.
    """

    lower: Fraction
    upper: Fraction
    coefficients: tuple[tuple[Fraction, Fraction], ...]


class Keeps(Protocol):
    """What turns noisy parts into an interval of the unknown of a family."""

    def kept(self, noisy: Sequence[int]) -> Interval:
        """Return an interval that holds every x in the range that the parts allow.

        Ensures: the true x lies in it with probability 1 - alpha or more; lower <=
        upper.
        """


class Inversion:
    """The tests of a family at one level, ready for the parts of many cells."""

    def __init__(self, family: Family, tail: Tail, alpha: Fraction) -> None:
        ends = [end for pair in family.coefficients for end in pair]
        self._common = lcm(*(end.denominator for end in ends))
        self.pieces = [
            (
                mpz(first * self._common) << GRID,
                mpz((last - first) * self._common),
            )
            for first, last in family.coefficients
        ]
        self._lower = mpq(family.lower)
        self._step = mpq(family.upper - family.lower) / END
        self._slopes = [mpq(rise, self._common) for _, rise in self.pieces]
        self._noise = Noise.of(tail.theta, tail.shift, alpha)
        self._gain = mpz(tail.theta.numerator * tail.shift.denominator)
        self._loss = mpz(tail.theta.numerator * tail.shift.numerator)
        self._bottom = mpz(tail.theta.denominator * tail.shift.denominator)
        self._level = level_of(alpha)

    def kept(self, noisy: Sequence[int]) -> Interval:
        """Return an interval that holds every x in the range that the parts allow."""
        cell = _Cell(self, noisy)
        least, most = 0, END
        if self._fires(cell, 0, 1):
            least = END if self._fires(cell, END, 1) else self._edge(cell, 0, 1)
        if self._fires(cell, END, -1):
            most = 0 if self._fires(cell, 0, -1) else self._edge(cell, END, -1)
        return self._lower + least * self._step, self._lower + most * self._step

    def _fires(
        self, cell: _Cell, point: int, sign: int, *, expected: bool = True
    ) -> bool:
        """Tell whether the parts, with that sign, contradict a point of the grid."""
        total = sign * (cell.first + cell.rise * point)
        if total <= 0:
            return False
        weights = [abs(at_lower + rise * point) for at_lower, rise in self.pieces]
        beyond = self._gain * total - self._loss * sum(weights)
        if beyond <= 0:
            return False
        noises = Noises(weights, self._level)
        return noises.are_below(beyond, self._bottom, expected=expected)

    def _edge(self, cell: _Cell, fired: int, sign: int) -> int:
        """Return the end: the test fires at ``fired``, not at the other end."""
        middle = cell.middle()
        if middle in (0, END) and self._fires(cell, middle, sign, expected=False):
            middle = END - fired
        way = 1 if fired > middle else -1
        reach = abs(fired - middle)

        def passes(index: int, *, expected: bool) -> bool:
            point = middle + way * min(short(index), reach)
            return self._fires(cell, point, sign, expected=expected)

        guess = self._guess(cell, middle, way, sign)
        index = least(passes, 0, index_above(reach), index_above(min(guess, reach)))
        return middle + way * min(short(index), reach)

    def _guess(self, cell: _Cell, middle: int, way: int, sign: int) -> int:
        """Return about how far from the middle the test begins to fire."""
        scale = self._common << GRID
        found = farthest(
            [
                (mpq(a + rise * middle, scale), way * slope)
                for (a, rise), slope in zip(self.pieces, self._slopes, strict=True)
            ],
            (
                mpq(sign * (cell.first + cell.rise * middle), scale),
                mpq(sign * way * cell.rise, self._common),
            ),
            self._noise,
            self._level.alike(len(self.pieces)),
        )
        return int(found * END)


class _Cell:
    """The sum of the noisy parts of one cell: affine in the points of the grid."""

    __slots__ = ("first", "rise")

    def __init__(self, inversion: Inversion, noisy: Sequence[int]) -> None:
        pairs = list(zip(inversion.pieces, noisy, strict=True))
        self.first = sum((piece[0] * part for piece, part in pairs), mpz(0))
        self.rise = sum((piece[1] * part for piece, part in pairs), mpz(0))

    def middle(self) -> int:
        """Return a point next to that where the sum is 0, if it falls; else 0."""
        if self.rise >= 0:
            return 0
        return int(min(max(self.first // -self.rise, 0), END))


@dataclass(frozen=True, slots=True)
class Method:
    """How intervals are found: by the law of the noise, and once in another way.

    Plans of an older format have methods of their own. What a method is given is the
    tail of its law.

    The rounds that narrow a spread end where the sum of weights is at least ``enough``
    times that of the last one.
    """

    inversion: Callable[[Family, Any, Fraction], Keeps]
    width: Callable[[Any, Sequence[mpq], Fraction], mpq]
    enough: mpq


NOW = Method(inversion=Inversion, width=short_width, enough=1 - mpq(1, 1 << 40))
