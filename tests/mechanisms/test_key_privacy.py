"""Every neighbour of every tiny data set: no search for keys loses more than it says.

A data set is, to a search, how many units each key has; neighbours change some of these
by one. All outcomes are summed, certified from above, by laws written from definitions
(tests/exact_pairs.py). The same sums exceed the claim where a fault is planted.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import cache
from itertools import combinations_with_replacement, product
from typing import Any

import pytest
from exact_pairs import (
    BITS,
    Noise,
    Pair,
    counted,
    hockey_stick_up,
    renyi_factor_down,
    shown_or_not,
    together,
)

from dpql.exact import exp_up
from dpql.mechanisms import SEARCHES, key_threshold, selection, truncated
from dpql.mechanisms.concentrated import epsilon_up
from dpql.mechanisms.gaussian import calibrate_joint
from dpql.mechanisms.selection import Selection

EPSILONS = [Fraction(x) for x in ("1/5", "1/2", "1", "2", "4")]
DELTAS = [Fraction(x) for x in ("1/2", "1/10", "1/100", "1e-6")]
TINY = [(e, d) for e in EPSILONS for d in DELTAS if e > Fraction(1, 2) or d > 1e-3]
CONVERTED = Fraction(1, 50)
ALL = {1: 10**4, 2: 60, 3: 14, 4: 9}
"""Numbers of units that are all tried, by how many keys change."""


def pair_of(noise: Any, units: int, others: int, name: object = None) -> Pair:
    """Return the laws of what is seen of a key, of so many units and of others."""
    if isinstance(noise, Selection):
        table, last = noise.table, len(noise.table) - 1
        p, q = (Fraction(table[min(n, last)], noise.whole) for n in (units, others))
        return shown_or_not(p, q, (name, units, others))
    if isinstance(noise, key_threshold.KeyThreshold):
        law, least = Noise("gaussian", noise.sigma2), noise.tau
    else:
        law, least = Noise("geometric", noise.epsilon, noise.reach), noise.least_shown
    return counted(law, least, units, others, name=(name, units, others))


def last_of(noise: Any) -> int:
    """Return a number of units from which on nothing changes, but for tails."""
    if isinstance(noise, key_threshold.KeyThreshold):
        return noise.tau + 4 * int(noise.sigma2**0.5 + 1)
    certain: int = noise.certain if isinstance(noise, Selection) else 2 * noise.reach
    return certain + 2


def numbers(noise: Any, changed: int) -> Sequence[int]:
    """Return numbers of units to try: all of them, or of many keys the extreme ones."""
    last, many = last_of(noise), isinstance(noise, key_threshold.KeyThreshold)
    if last <= ALL[changed] and not (many and changed > 2):
        return range(last + 1)
    if many and changed > 2:
        return [0, 1, noise.tau]
    return sorted({0, 1, 2, last // 4, last // 2, last - 4, last - 2, last})


def neighbours(noise: Any, *, up: int, down: int) -> Iterator[Pair]:
    """Yield the pairs of all neighbours: keys that have one unit more, or one less."""
    tried = numbers(noise, up + down)

    @cache
    def one(n: int, m: int) -> Pair:
        return pair_of(noise, n, m)

    for more in combinations_with_replacement(tried, up):
        for less in combinations_with_replacement(tried, down):
            yield together(
                [*(one(n + 1, n) for n in more), *(one(n, n + 1) for n in less)]
            )


def worst(noise: Any, epsilon: Fraction, *, up: int, down: int = 0) -> Fraction:
    """Return the largest divergence of neighbours, both ways."""
    both = {(up, down), (down, up)}
    return max(
        hockey_stick_up(pair, epsilon)
        for a, b in both
        for pair in neighbours(noise, up=a, down=b)
    )


@pytest.mark.heavy
@pytest.mark.parametrize("name", ["selection", "truncated_geometric"])
@pytest.mark.parametrize(("epsilon", "delta"), TINY)
def test_one_key(name: str, epsilon: Fraction, delta: Fraction) -> None:
    """All numbers of units, and the delta of truncated noise is what it states."""
    noise = SEARCHES[name].calibrate_keys(epsilon, delta, keys=1)
    found = worst(noise, epsilon, up=1)
    assert found <= delta
    if name == "truncated_geometric":
        assert abs(found - truncated.true_delta(noise)) < Fraction(1, 1 << BITS // 2)
    else:
        assert found > delta * (1 - Fraction(1, 1 << 60))


@pytest.mark.heavy
@pytest.mark.parametrize("name", ["selection", "truncated_geometric"])
@pytest.mark.parametrize(("up", "down"), [(2, 0), (1, 1), (3, 0), (2, 2)])
@pytest.mark.parametrize(
    ("epsilon", "delta"), [("2", "1/10"), ("4", "1/100"), ("6", "1/2"), ("3", "1e-9")]
)
def test_the_keys_of_a_unit(
    name: str, epsilon: str, delta: str, up: int, down: int
) -> None:
    """Of a unit that comes, with some keys, and of one that replaces another."""
    spend, most = Fraction(epsilon), Fraction(delta)
    noise = SEARCHES[name].calibrate_keys(spend, most, keys=up + down)
    assert worst(noise, spend, up=up, down=down) <= most
    # Fewer keys cost no more.
    assert worst(noise, spend, up=1) <= most


@pytest.mark.heavy
@pytest.mark.parametrize("keys", [1, 2, 3])
@pytest.mark.parametrize(
    ("rho", "delta"), [("1/2", "1/10"), ("1", "1/100"), ("2", "1e-6"), ("1/9", "1/3")]
)
def test_keys_above_a_threshold(rho: str, delta: str, keys: int) -> None:
    """Delta of new keys, rho of the others, and both at an epsilon."""
    spend, most = Fraction(rho), Fraction(delta)
    noise = key_threshold.calibrate_keys(spend, most, keys=keys)
    new = together(pair_of(noise, 1, 0) for _ in range(keys))
    assert hockey_stick_up(new, Fraction(1000)) <= most
    moved = together([pair_of(noise, noise.tau, noise.tau + 1)] * keys)
    assert renyi_factor_down(moved) <= exp_up(2 * spend)
    if keys < 3:
        epsilon = epsilon_up(spend, CONVERTED)
        assert worst(noise, epsilon, up=keys) <= most + CONVERTED


@pytest.mark.parametrize("replaced", [1, 2])
def test_replaced_units_at_a_threshold(replaced: int) -> None:
    """New keys are on one side, changes on both: twice the rho, and no more delta."""
    spend, most = Fraction(1), Fraction(1, 20)
    noise = key_threshold.calibrate_keys(spend, most, keys=2 * replaced)
    epsilon = epsilon_up(spend, CONVERTED)
    assert worst(noise, epsilon, up=replaced, down=replaced) <= most + CONVERTED


def test_a_pre_threshold_costs_nothing() -> None:
    """Counts that are moved down are those of another data set, or absent."""
    noise = truncated.calibrate(Fraction(1), Fraction(1, 100))
    for least, n in product((1, 2, 5), range(30)):
        one, other = (selection.above_pre_threshold(x, least) for x in (n, n + 1))
        for p, q in ((one, other), (other, one)):
            pair = pair_of(noise, p, q)
            assert hockey_stick_up(pair, noise.epsilon) <= noise.delta


def _planted() -> Iterator[tuple[str, Any, Fraction, Fraction, int, int]]:
    """Yield noises with a fault: name, noise, epsilon, delta, keys up and down."""
    epsilon, delta = Fraction(2), Fraction(1, 50)
    for name in ("selection", "truncated_geometric"):
        one = SEARCHES[name].calibrate_keys(epsilon, delta, keys=1)
        yield f"{name}: l0 forgotten", one, epsilon, delta, 2, 0
        yield f"{name}: replaced as added", one, epsilon, delta, 1, 1
    good = truncated.calibrate(epsilon, delta)
    yield "threshold one too low", _Early(good), epsilon, delta, 1, 0
    short = replace(good, reach=good.reach - 1)
    yield "reach one too short", short, epsilon, delta, 1, 0
    small = replace(good, epsilon=epsilon * Fraction(51, 50))
    yield "noise 2% too small", small, epsilon, delta, 1, 0
    for bits in (8, 64):
        risen, half = _risen(delta, bits), Fraction(1, 2)
        yield f"exp(epsilon) up, {bits} bits", risen, half, delta, 1, 0
    table = selection.calibrate(epsilon, delta)
    early = replace(table, table=(0, *table.table[2:]))
    yield "a unit too early", early, epsilon, delta, 1, 0


class _Early:
    """Truncated noise whose keys are shown from one unit too few on."""

    def __init__(self, noise: truncated.TruncatedNoise) -> None:
        self.epsilon, self.reach = noise.epsilon, noise.reach
        self.least_shown = noise.least_shown - 1


def _risen(delta: Fraction, bits: int) -> Selection:
    """Return a selection whose exp(epsilon) is rounded up to so many bits."""
    epsilon = Fraction(1, 2)
    good = selection.calibrate(epsilon, delta)
    rise = Fraction((exp_up(epsilon) * (1 << bits)).__ceil__(), 1 << bits)
    table, whole = [0], good.whole
    while table[-1] < whole:
        last, chance = table[-1], delta * whole
        grown = (rise * last + chance).__floor__()
        left = (whole - (whole - last - chance) / rise).__floor__()
        table.append(min(grown, left, whole))
    return replace(good, table=tuple(table))


@pytest.mark.parametrize(
    ("noise", "epsilon", "delta", "up", "down"),
    [pytest.param(*fault[1:], id=fault[0]) for fault in _planted()],
)
def test_planted_faults_are_flagged(
    noise: Any, epsilon: Fraction, delta: Fraction, up: int, down: int
) -> None:
    """The same sums exceed the claim."""
    assert worst(noise, epsilon, up=up, down=down) > delta


def test_planted_faults_of_a_threshold_are_flagged() -> None:
    """One too low; sigma2 too small by 2%; l2 without l0; replaced as added."""
    spend, most, keys = Fraction(1), Fraction(1, 100), 2
    good = key_threshold.calibrate_keys(spend, most, keys=keys)

    def new(noise: key_threshold.KeyThreshold) -> Fraction:
        pair = together(pair_of(noise, 1, 0) for _ in range(keys))
        return hockey_stick_up(pair, Fraction(1000))

    def factor(noise: key_threshold.KeyThreshold, changed: int) -> Fraction:
        return renyi_factor_down(together([pair_of(noise, 30, 31)] * changed))

    def of_rho(rho: Fraction, squared: int) -> key_threshold.KeyThreshold:
        return replace(good, noise=calibrate_joint(1, squared, rho))

    assert new(good) <= most < new(replace(good, tau=good.tau - 1))
    claimed = exp_up(2 * spend)
    assert factor(good, keys) <= claimed
    assert factor(of_rho(spend * Fraction(100, 98), keys), keys) > claimed
    assert factor(of_rho(spend, 1), keys) > claimed
    assert factor(good, 2 * keys) > claimed
