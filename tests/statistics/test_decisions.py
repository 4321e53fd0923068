"""Tails against levels: decided as they are, with bounds that agree."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import gmpy2
import pytest
from gmpy2 import mpq

from dpql.exact import exp_down, exp_up
from dpql.statistics import decisions
from dpql.statistics.decisions import Noises, level_of, short_width
from dpql.statistics.tails import LaplaceTail, Tail, laplace_width

ALPHA = Fraction(1, 20)
ONE = 1 << 60
SOME = [
    [weight * ONE for weight in weights]
    for weights in (
        [7],
        [5, 5],
        [9, 4],
        [5, 4, 3],
        [8, 8, 8],
        [9, 9, 2, 2],
        [7, 7, 7, 7],
        [9, 8, 7, 6, 5, 4],
    )
] + [[ONE, ONE - 1], [ONE, 1, 1]]


def _names(weights: list[int]) -> str:
    return "-".join(str(weight // ONE) for weight in weights)


@pytest.mark.parametrize("weights", SOME, ids=_names)
@pytest.mark.parametrize("alpha", ["1/2", "1/20", "1/1000000000"])
def test_decisions_are_those_of_256_bits(weights: list[int], alpha: str) -> None:
    """Where 256 bits are on one side of the level, so is the decision."""
    level = level_of(Fraction(alpha))
    tail = LaplaceTail(weights)
    noises = Noises(weights, level)
    top = max(weights) * 100
    decided = []
    for step, expected in product(range(1, 700), (True, False)):
        is_below = noises.are_below(top * step, 1000, expected=expected)
        decided.append(is_below)
        above = tail.above(gmpy2.mpfr(max(weights)) * step / 10)
        assert is_below == (above < level.alpha)
    assert decided == sorted(decided)
    assert {True, False} == set(decided)


@pytest.mark.parametrize("weights", SOME, ids=_names)
def test_bounds_hold_the_tail_between_them(weights: list[int]) -> None:
    """Rounded down is at most rounded up, and more bits lie between fewer."""
    tail = decisions._tail_of(weights)
    for top in (1, 30, 200):
        last = None
        for bits in (64, 128, 512):
            up, down = decisions._contexts(bits + tail.lost)
            low, high = (
                tail.bound(top * ONE, 9, down, up),
                tail.bound(top * ONE, 9, up, down),
            )
            assert low <= high
            assert high - low <= 2.0 ** (12 - bits) * tail.scale
            if last is not None:
                assert last[0] <= low <= high <= last[1]
            last = low, high


def test_one_weight_is_decided_at_its_very_root() -> None:
    """Of one weight the tail is e^-c, and no bits are too few for that."""
    level = level_of(Fraction(1, 20))
    root = -gmpy2.context(precision=300).log(gmpy2.mpq(1, 20))
    top, bottom = root.as_integer_ratio()
    noises = Noises([1], level)
    for nudge in (-1, 1):
        is_below = noises.are_below((top << 40) + nudge, bottom << 40, expected=True)
        reached = exp_up if nudge > 0 else exp_down
        c = Fraction(int((top << 40) + nudge), int(bottom << 40))
        assert is_below == (reached(-c, bits=600) < Fraction(1, 20))


@pytest.mark.parametrize("weights", SOME, ids=_names)
def test_a_width_is_hardly_above_the_exact_one(weights: list[int]) -> None:
    """36 bits widen it by 2**-35 at most, wherever the search began."""
    falling = sorted(weights, reverse=True)
    level = level_of(ALPHA)
    tail = Tail.of(Fraction(1, 64))
    width = short_width(tail, [mpq(w) for w in weights], ALPHA)
    for start in (0.001, 3.0, 900.0):
        level._last[len(weights)] = start
        found = Fraction(*level.critical(falling).as_integer_ratio())
        whole = found * 64 + sum(weights) * tail.shift
        assert abs(Fraction(*width.as_integer_ratio()) / whole - 1) < Fraction(
            1, 1 << 50
        )
    if len(weights) <= 4:
        exact = laplace_width([Fraction(w) for w in weights], ALPHA)
        assert exact * (1 - Fraction(1, 1 << 70)) <= found
        assert found <= exact * (1 + Fraction(1, 1 << 34))


def test_the_quick_bounds_hold() -> None:
    """e^(-c / max w) <= P <= n e^(-c / sum w), also of weights moved apart."""
    for weights, c in product(SOME[3:], (ONE, 9 * ONE, 40 * ONE)):
        tail = LaplaceTail(weights).above(gmpy2.mpfr(c))
        assert gmpy2.exp(gmpy2.mpfr(-c) / max(weights)) <= tail * (1 + 1e-12)
        apart = sum(weights) * (1 + gmpy2.mpfr(2) ** -16)
        assert tail <= len(weights) * gmpy2.exp(-c / apart)
