"""The search for keys as it is run: many keys at once, against one key and the law.

`find` of every mechanism shows what its scalar path shows on the same lanes, at every
length of a coin; and what it shows follows the exact law. Fresh lanes would make each
comparison reject a right law once in 10**9 runs; these are fixed, so none ever does.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from dpql.errors import PlanFault
from dpql.mechanisms import SEARCHES, gaussian, key_threshold, selection, truncated
from dpql.mechanisms.gaussian_law import probability
from dpql.testing import (
    SeededBits,
    Tape,
    chi_square,
    enumerate_outcomes,
    relative_entropy,
)

FALSE_ALARM = 1e-9
DRAWS, LEAST = 10**6, 1000
MOST = 10**6
TINY = Fraction(1, 1 << 100)
HIDDEN = 0
"""The outcome of a key that is not shown; noisy counts that are shown are above 0."""


def _one_selected(noise: Any, units: int, bits: Any) -> int | None:
    return 1 if noise.shows(units, bits) else None


def _one_over_threshold(noise: Any, units: int, bits: Any) -> int | None:
    count = gaussian.perturb(noise.noise, units, bits)
    return count if count >= noise.tau else None


def _one_shown(noise: Any, units: int, bits: Any) -> int | None:
    return None if _one_over_threshold(noise, units, bits) is None else 1


ONE: dict[str, Callable[[Any, int, Any], int | None]] = {
    "selection": _one_selected,
    "truncated_geometric": truncated.noisy_count,
    "gaussian_threshold": _one_over_threshold,
    "gaussian_selection": _one_shown,
}
SPENDS = [("1", "1e-3", 1), ("1/2", "1e-6", 3), ("3", "1/20", 2), ("1/7", "1e-12", 1)]


def _agree(name: str, noise: Any, units: list[int], bits: Any, lane: Any) -> int:
    """Compare what is found of many keys with what each alone gives; return it."""
    expected = {
        index: count
        for index, n in enumerate(units)
        if (count := ONE[name](noise, n, lane(index))) is not None
    }
    counted = np.array(units, np.int64)
    shown, counts = SEARCHES[name].find(noise, counted, bits, most=MOST)
    assert expected == dict(zip(shown.tolist(), counts.tolist(), strict=True))
    return len(expected)


@pytest.mark.parametrize("name", SEARCHES)
@pytest.mark.parametrize(("spend", "delta", "keys"), SPENDS)
def test_many_keys_are_shown_as_each_is(
    name: str, spend: str, delta: str, keys: int
) -> None:
    """Of units that are seldom shown, often, always; more lanes than a stretch."""
    noise = SEARCHES[name].calibrate_keys(Fraction(spend), Fraction(delta), keys=keys)
    usual = SEARCHES[name].units_for(noise, Fraction(1, 2))
    units = np.random.default_rng(7).integers(1, 2 * usual + 2, 8_500).tolist()
    bits = SeededBits("find")
    found = _agree(name, noise, units, SeededBits("find"), bits.lane)
    assert 0 < found < len(units)


@pytest.mark.parametrize("width", range(65, 82))
def test_coins_of_every_length(width: int) -> None:
    """A coin that begins with a set bit is large, also where it fills its bytes."""
    noise = selection.calibrate(Fraction(1), Fraction(1, 1 << (width - 64)))
    assert noise.width == width
    units = [1 + index % noise.certain for index in range(2_000)]
    bits = SeededBits(width)
    found = _agree("selection", noise, units, SeededBits(width), bits.lane)
    assert 0 < found < len(units)
    seldom = SeededBits(width)
    shown, _ = selection.find(noise, np.ones(2_000, np.int64), seldom, most=1)
    assert len(shown) <= 2_000 * noise.delta + 40 * (2_000 * noise.delta) ** 0.5 + 9


@pytest.mark.parametrize("width", range(65, 82))
def test_coins_at_the_table(width: int) -> None:
    """Coins at an entry and beside it, and the first and the last, for every number."""
    noise = selection.calibrate(Fraction(1), Fraction(1, 1 << (width - 64)))
    last = noise.whole - 1
    pairs = [
        (n, coin)
        for n in range(1, len(noise.table))
        for entry in [noise.table[n]]
        for coin in {0, entry - 1, min(entry, last), noise.whole >> 1, last}
    ]
    units, coins = [n for n, _ in pairs], [coin for _, coin in pairs]
    shown, _ = selection.find(
        noise, np.array(units, np.int64), Tape(coins, width=width), most=MOST
    )
    expected = [i for i, (n, coin) in enumerate(pairs) if coin < noise.table[n]]
    assert expected == shown.tolist()


@pytest.mark.parametrize("name", SEARCHES)
def test_more_units_than_the_most_are_the_most(name: str) -> None:
    """Counts are cut at the declared ceiling, which moves no two of them apart."""
    noise = SEARCHES[name].calibrate_keys(Fraction(1), Fraction(1, 1000), keys=1)
    least = SEARCHES[name].units_for(noise, Fraction(1, 2))
    cut, whole = (
        SEARCHES[name].find(
            noise, np.full(500, units, np.int64), SeededBits(5), most=least
        )
        for units in (10**9, least)
    )
    if name.endswith("selection"):
        # Keys alone have no ceiling.
        assert len(cut[0]) == 500
        return
    assert cut[0].tolist() == whole[0].tolist()
    assert cut[1].tolist() == whole[1].tolist()


def _law(name: str, noise: Any, units: int) -> dict[int, Fraction]:
    """Return the exact law of what is shown of a key; far tails of counts left out."""
    if name == "selection":
        chance = Fraction(noise.table[min(units, noise.certain)], noise.whole)
        return {HIDDEN: 1 - chance, 1: chance}
    if name == "truncated_geometric":
        reach, least = noise.reach, noise.least_shown
        masses = {x: truncated.probability(noise, x) for x in range(-reach, reach + 1)}
    else:
        least, reach = noise.tau, 12 * int(noise.sigma2**0.5 + 1)
        masses = {
            x: probability(noise.noise, Fraction(0), x)
            for x in range(-reach, reach + 1)
        }
    # Long fractions are slow; 2**-200 of a law is nothing to a million draws.
    law = {
        units + x: Fraction(mass * (1 << 200) // 1, 1 << 200)
        for x, mass in masses.items()
        if units + x >= least
    }
    chance = sum(law.values(), Fraction(0))
    if name == "gaussian_selection":
        law = {1: chance}
    return {HIDDEN: 1 - chance, **law}


def _drawn(name: str, noise: Any, units: int, draws: int) -> Counter[int]:
    counted = np.full(draws, units, np.int64)
    bits = SeededBits(f"law {name} {units}")
    shown, counts = SEARCHES[name].find(noise, counted, bits, most=MOST)
    observed = Counter(counts.tolist())
    observed[HIDDEN] = draws - len(shown)
    return observed


@pytest.mark.stats
@pytest.mark.heavy
@pytest.mark.parametrize("name", SEARCHES)
@pytest.mark.parametrize(
    ("spend", "delta", "keys"), [("1", "1/100", 1), ("1/2", "1/65536", 2)]
)
def test_what_is_found_follows_the_law(
    name: str, spend: str, delta: str, keys: int
) -> None:
    """Many keys of one unit, of some that are shown in half of runs, and more."""
    noise = SEARCHES[name].calibrate_keys(Fraction(spend), Fraction(delta), keys=keys)
    half = SEARCHES[name].units_for(noise, Fraction(1, 2))
    for units in {1, max(1, half // 2), half, half + 2}:
        law = _law(name, noise, units)
        observed = _drawn(name, noise, units, DRAWS)
        if min(law[HIDDEN], 1 - law[HIDDEN]) * DRAWS > LEAST:
            fit = chi_square(observed, law, false_alarm=FALSE_ALARM, least=LEAST)
            assert fit.passed, (units, fit)
        # Its rate is proved, however seldom a key is shown.
        fit = relative_entropy(observed, law, false_alarm=FALSE_ALARM, least=1)
        assert fit.passed, (units, fit)


@pytest.mark.stats
@pytest.mark.heavy
@pytest.mark.parametrize("name", SEARCHES)
def test_the_law_of_a_little_more_is_rejected(name: str) -> None:
    """The test sees noise of 2% more, and chances of one unit more."""
    finder = SEARCHES[name]
    delta = Fraction(1, 100)
    noise = finder.calibrate_keys(Fraction(1), delta, keys=1)
    units = finder.units_for(noise, Fraction(1, 2))
    observed = _drawn(name, noise, units, DRAWS)
    other = finder.calibrate_keys(Fraction(26, 25), delta, keys=1)
    if name == "truncated_geometric":
        other = replace(other, reach=noise.reach)
    if name.startswith("gaussian"):
        other = replace(other, tau=noise.tau)
    for wrong, n in ((other, units), (noise, units + 1)):
        law = _law(name, wrong, n)
        fit = relative_entropy(observed, law, false_alarm=FALSE_ALARM)
        assert not fit.passed


def _tiny(name: str) -> list[Any]:
    return [pytest.param(name, noise) for noise in SEARCHES[name].miniatures()]


@pytest.mark.contract
@pytest.mark.parametrize(("name", "noise"), [x for one in SEARCHES for x in _tiny(one)])
def test_all_lanes_of_tiny_noises(name: str, noise: Any) -> None:
    """No sampling: every string of bits that a key can draw, and what it shows."""
    finder = SEARCHES[name]

    def shown(given: Any, units: int, bits: Any) -> int:
        found, counts = finder.find(given, np.array([units]), bits, most=MOST)
        return int(counts[0]) if len(found) else HIDDEN

    single = SimpleNamespace(perturb=shown)
    half = finder.units_for(noise, Fraction(1, 2))
    for units in {1, 2, half, half + 3}:
        law = _law(name, noise, units)
        masses, unresolved = enumerate_outcomes(single, noise, units, 21)
        assert unresolved < Fraction(1, 1000)
        assert set(masses) <= set(law)
        for outcome, mass in law.items():
            drawn = masses.get(outcome, Fraction(0))
            assert drawn - TINY <= mass <= drawn + unresolved + TINY


def test_a_threshold_shows_counts_as_they_are() -> None:
    """Noisy counts from tau on, neither clamped nor noised again."""
    noise = key_threshold.calibrate_keys(Fraction(1, 8), Fraction(1, 1000), keys=2)
    units = np.full(20_000, noise.tau, np.int64)
    shown, counts = key_threshold.find(noise, units, SeededBits(2), most=noise.tau)
    assert 0 < len(shown) < len(units)
    assert counts.min() == noise.tau
    assert counts.max() > noise.tau + 2


@pytest.mark.parametrize("name", SEARCHES)
@pytest.mark.parametrize("spend", ["1", "1/1000"])
def test_no_key_at_all(name: str, spend: str) -> None:
    """Where nobody has a key nothing is drawn, and nothing fails."""
    noise = SEARCHES[name].calibrate_keys(Fraction(spend), Fraction(1, 10**6), keys=1)
    none = np.zeros(0, np.int64)
    shown, counts = SEARCHES[name].find(noise, none, SeededBits(1), most=MOST)
    assert shown.tolist() == counts.tolist() == []
    assert shown.dtype == counts.dtype == np.int64


@pytest.mark.parametrize("name", ["gaussian_threshold", "gaussian_selection"])
def test_noise_beyond_any_number_of_units_is_refused(name: str) -> None:
    """A count with it might not fit a machine's number, and end the run."""
    finder, delta = SEARCHES[name], Fraction(1, 3)
    with pytest.raises(PlanFault, match="DPQL413"):
        finder.calibrate_keys(Fraction(1, 10**40), delta, keys=1)
    wide = finder.calibrate_keys(Fraction(1, 10**28), delta, keys=1)
    units = np.full(50, 1 << 62, np.int64)
    shown, _ = finder.find(wide, units, SeededBits(1), most=1 << 62)
    assert len(shown) == len(units)
