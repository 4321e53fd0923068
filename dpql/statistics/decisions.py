"""Whether the tail of a sum of Laplace noises is below a level, decided as it is.

The tail is that of `tails`, of the weights as they are there when they were moved
apart. It is bounded from both sides in ever more bits until both bounds are on one side
of the level, so the answer is that of the real numbers, on every machine. Most need no
tail, since for n weights

    e^(-c / max w_i) <= P(|sum w_i L_i| > c) <= n e^(-c / sum w_i)

A critical point is K rounded up to a short number.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import cache
from typing import Any

from gmpy2 import RoundDown, RoundUp, context, mpfr, mpq, mpz

from dpql.exact import ln_down, ln_up
from dpql.statistics import guess
from dpql.statistics.short_numbers import index_above, least, short
from dpql.statistics.tails import Tail, moved_apart

_STAGES = (64, 128, 256, 1024, 8192)
"""Bits of the bounds, one after the other, until they decide."""

_FINE = 60
"""Binary digits behind the point of a critical point."""

_LOG = 64
_MOST = 6
"""The most noises in a sum: there are no more parts of one."""

_PAIR = 2


class Level:
    """A level and its logarithms, rounded to 2**-64."""

    def __init__(self, alpha: Fraction) -> None:
        self.alpha = mpq(alpha)
        one = 1 << _LOG
        self.surely = [
            # Weights that were moved apart are larger by less than 2**-16.
            int(ln_up(max(n, 1) / alpha) * (one + (one >> 16) if n > 1 else one)) + 1
            for n in range(_MOST + 1)
        ]
        self.hardly = int(ln_down(1 / alpha) * one)
        self._alike: list[mpq] = []
        self._last: dict[int, float] = {}

    def critical(self, falling: Sequence[int]) -> mpq:
        """Return K of falling weights, at least 0, rounded up to a short number.

        The search begins near the last one of so many: that of the round before.
        """
        count = len(falling)
        if falling[0] == falling[-1]:
            return falling[0] * self.alike(count)[count - 1]
        start = self._last.get(count) or guess.together(falling, self.alike(count))
        noises = Noises(falling, self)
        found = guess.critical(falling, self.alpha, start, noises.nearly)
        self._last[count] = found
        return _short(noises, falling[0], int(found * (1 << _FINE)))

    def alike(self, count: int) -> list[mpq]:
        """Return K of one weight of 1, of two, and so on, to ``count``."""
        one = 1 << _FINE
        while len(self._alike) < count:
            weights = [one] * (len(self._alike) + 1)
            before = self._alike[-1] if self._alike else mpq(1)
            noises = Noises(weights, self)
            self._alike.append(_short(noises, one, int(before * one)) / one)
        return self._alike


@cache
def level_of(alpha: Fraction) -> Level:
    """Return the level, made once."""
    return Level(alpha)


class Noises:
    """Laplace noises with whole weights, of which not all are 0, and a level."""

    __slots__ = ("_all", "_held", "_largest", "_level", "_tail")

    def __init__(self, weights: Sequence[int], level: Level) -> None:
        self._held = [weight for weight in weights if weight]
        self._level = level
        self._largest = max(self._held) * level.hardly
        self._all = sum(self._held) * level.surely[len(self._held)]
        self._tail: _Equal | _Pair | _Several | None = None

    @property
    def surely(self) -> int:
        """K is surely less than so many 2**-64 largest weights."""
        return self._level.surely[len(self._held)] * len(self._held)

    def nearly(self, critical: int) -> mpfr:
        """Return the tail at ``critical`` times 2**-60 largest weights, from above."""
        tail = self._tail = self._tail or _tail_of(self._held)
        up, down = _contexts(_STAGES[0] + tail.lost)
        top = critical * max(self._held)
        return up.div(tail.bound(top, 1 << _FINE, up, down), tail.scale)

    def are_below(self, top: int, bottom: int, *, expected: bool) -> bool:
        """Tell whether P(|sum w_i L_i| > top/bottom) is below the level.

        What is ``expected`` is tried first; it does not change the answer.
        """
        scaled = top << _LOG
        if scaled <= self._largest * bottom:
            return False
        if scaled >= self._all * bottom:
            return True
        tail = self._tail = self._tail or _tail_of(self._held)
        wanted = tail.scale * self._level.alpha
        for bits in _STAGES:
            up, down = _contexts(bits + tail.lost)
            if expected and tail.bound(top, bottom, up, down) < wanted:
                return True
            if tail.bound(top, bottom, down, up) >= wanted:
                return False
            if not expected and tail.bound(top, bottom, up, down) < wanted:
                return True
        return False


def short_width(tail: Tail, weights: Sequence[mpq], alpha: Fraction) -> mpq:
    """Return c(w) at ``alpha``, from above, for weights at least 0."""
    scale = (1 << _FINE) / max(weights)
    falling = sorted((int(-(-weight * scale // 1)) for weight in weights), reverse=True)
    critical = level_of(alpha).critical(falling) / scale
    return critical / mpq(tail.theta) + sum(weights) * mpq(tail.shift)


def _short(noises: Noises, largest: int, guessed: int) -> mpq:
    """Return the least short number of 2**-60 largest weights with a tail below."""

    def passes(index: int, *, expected: bool) -> bool:
        top = short(index) * largest
        return noises.are_below(top, 1 << _FINE, expected=expected)

    high = index_above(noises.surely)
    found = least(passes, 0, high, index_above(guessed))
    return mpq(short(found) * largest, 1 << _FINE)


@cache
def _contexts(bits: int) -> tuple[context, context]:
    """Return the contexts of so many bits that round up and down."""
    return (
        context(precision=bits, round=RoundUp),
        context(precision=bits, round=RoundDown),
    )


class _Equal:
    """The tail of two weights that are the same."""

    scale, lost = 1, 0

    def __init__(self, weight: int) -> None:
        self._weight = weight

    def bound(self, top: int, bottom: int, to: Any, _: Any) -> mpfr:
        """Return the tail at top/bottom, rounded as ``to`` says."""
        below = bottom * self._weight
        factor = to.add(1, to.div(top, 2 * below))
        return to.mul(factor, to.exp(to.div(-top, below)))


class _Pair:
    """The tail of two weights, times the difference of their squares, the scale."""

    def __init__(self, less: int, more: int) -> None:
        self._less, self._more = less, more
        self._squares = less * less, more * more
        self.scale = self._squares[1] - self._squares[0]
        self.lost = 2 + 2 * more.bit_length() - self.scale.bit_length()

    def bound(self, top: int, bottom: int, to: Any, fro: Any) -> mpfr:
        """Return the tail times the scale, rounded as ``to`` says, not as ``fro``."""
        less, more = self._squares
        plus = to.mul(to.exp(to.div(-top, bottom * self._more)), more)
        minus = fro.mul(fro.exp(fro.div(-top, bottom * self._less)), less)
        return to.sub(plus, minus)


class _Several:
    """The tail of one weight, or of three or more that are apart."""

    scale = 1

    def __init__(self, weights: Sequence[mpz]) -> None:
        self._weights = weights[::-1]
        squares = [weight * weight for weight in self._weights]
        bottoms = [mpz(1)] * len(squares)
        for i, square in enumerate(squares):
            for j in range(i):
                gap = squares[j] - square
                bottoms[i] *= gap
                bottoms[j] *= gap
        self._coefficients = [
            (square ** (len(squares) - 1), bottom)
            for square, bottom in zip(squares, bottoms, strict=True)
        ]
        self.lost = max(
            0, *(a.bit_length() - b.bit_length() + 1 for a, b in self._coefficients)
        )

    def bound(self, top: int, bottom: int, to: Any, fro: Any) -> mpfr:
        """Return the tail at top/bottom, rounded as ``to`` says, not as ``fro``.

        The largest weight's term is added, the next is taken off, and so on.
        """
        total = mpfr(0)
        pairs = zip(self._weights, self._coefficients, strict=True)
        for i, (weight, coefficient) in enumerate(pairs):
            way = fro if i % 2 else to
            power = way.exp(way.div(-top, bottom * weight))
            term = way.mul(way.div(*coefficient), power)
            total = to.sub(total, term) if i % 2 else to.add(total, term)
        return total


def _tail_of(weights: list[int]) -> _Equal | _Pair | _Several:
    """Return the tail of weights above 0."""
    if len(weights) != _PAIR:
        return _Several(moved_apart(weights))
    less, more = sorted(weights)
    return _Equal(less) if less == more else _Pair(less, more)
