"""Private keys with their counts: vectors, all outcomes, all lanes, planted faults."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from golden import cases, close

from dpql.errors import PlanFault
from dpql.exact import exp_down
from dpql.mechanisms.truncated import (
    TruncatedNoise,
    accuracy,
    calibrate,
    chance,
    draw,
    draw_many,
    noisy_count,
    noisy_counts,
    probability,
    true_delta,
    units_for,
)
from dpql.testing import SeededBits, Tape, enumerate_outcomes

Case = dict[str, Any]
SPENDS = [
    ("1", "1e-5"),
    ("0.3", "1e-3"),
    ("3", "0.001"),
    ("0.5", "0.4"),
    ("2", "1e-12"),
]


@pytest.mark.golden
@pytest.mark.parametrize("case", cases("delta/selection"))
def test_truncated_vectors(case: Case) -> None:
    """Reach and true delta, to all digits given."""
    given, expected = case["input"], case["expect"]
    found = calibrate(Fraction(given["epsilon"]), Fraction(given["delta"]))
    assert expected["truncated_reach"] == found.reach
    assert close(expected["truncated_delta"], true_delta(found), Fraction(1, 10**28))


def _law(
    noise: TruncatedNoise, units: int, threshold: int
) -> dict[int | None, Fraction]:
    """Return the law of what is shown of a key with so many units."""
    if not units:
        return {None: Fraction(1)}
    law: dict[int | None, Fraction] = {None: Fraction(0)}
    for x in range(-noise.reach, noise.reach + 1):
        shown = units + x if units + x >= threshold else None
        law[shown] = law.get(shown, Fraction(0)) + probability(noise, x)
    return law


def _stick(noise: TruncatedNoise, threshold: int) -> Fraction:
    """Return the worst hockey stick of neighbours, both directions."""
    factor, worst = exp_down(noise.epsilon), Fraction(0)
    laws = [_law(noise, n, threshold) for n in range(2 * noise.reach + 3)]
    for one, other in pairwise(laws):
        for p, q in ((one, other), (other, one)):
            found = sum(
                (
                    max(Fraction(0), mass - factor * q.get(key, 0))
                    for key, mass in p.items()
                ),
                Fraction(0),
            )
            worst = max(worst, found)
    return worst


@pytest.mark.parametrize(("epsilon", "delta"), SPENDS)
def test_keys_and_counts_are_private_together(epsilon: str, delta: str) -> None:
    """All outcomes of all neighbours: delta at most, and the true one is stated."""
    noise = calibrate(Fraction(epsilon), Fraction(delta))
    stick = _stick(noise, noise.least_shown)
    assert stick <= noise.delta + Fraction(1, 10**60)
    assert abs(stick - true_delta(noise)) < Fraction(1, 10**50)


@pytest.mark.parametrize(("epsilon", "delta"), SPENDS)
def test_a_threshold_one_too_low_is_caught(epsilon: str, delta: str) -> None:
    """Showing from one unit below exceeds delta, and so does a shorter reach."""
    noise = calibrate(Fraction(epsilon), Fraction(delta))
    assert _stick(noise, noise.least_shown - 1) > noise.delta
    if noise.reach > 1:
        short = replace(noise, reach=noise.reach - 1)
        assert true_delta(short) > noise.delta


@pytest.mark.heavy
@pytest.mark.parametrize(
    ("epsilon", "delta"), [("1", "0.01"), ("0.3", "0.1"), ("2", "1e-6")]
)
@pytest.mark.parametrize("digits", [5, 7])
def test_the_law_of_all_lanes(epsilon: str, delta: str, digits: int) -> None:
    """Every lane of few digits, read on where open: the law is the stated one."""
    noise = replace(calibrate(Fraction(epsilon), Fraction(delta)), digits=digits)
    single = SimpleNamespace(
        perturb=lambda given, value, bits: value + draw(given, bits)
    )
    masses, unresolved = enumerate_outcomes(single, noise, 0, 1 + 3 * digits)
    assert unresolved <= Fraction(1, 100)
    assert set(masses) <= set(range(-noise.reach, noise.reach + 1))
    for x, mass in masses.items():
        ideal = probability(noise, x)
        assert mass <= ideal + Fraction(1, 10**50)
        assert ideal <= mass + unresolved + Fraction(1, 10**50)


def test_no_first_digit_at_all() -> None:
    """M = 0 is the largest noise where the last cut is above 0, and open below it."""
    noise = calibrate(Fraction(1), Fraction(1, 10**5))
    assert noise.cuts[noise.reach] > 0
    assert noise.reach == draw(noise, Tape([0], width=64))
    assert -noise.reach == draw(noise, Tape([(1 << 64) - 1], width=64))
    small = calibrate(Fraction(1), Fraction(1, 10**24))
    assert small.cuts[small.reach] == 0
    tape = Tape([0], width=64 + 63)
    assert small.reach == draw(small, tape)
    assert (127,) == tape.consumed


def test_lanes_at_a_cut_are_read_on() -> None:
    """The first word on a cut leaves the lane open, and the digits after it decide."""
    noise = calibrate(Fraction(1, 2), Fraction(1, 10**6))
    for x in (1, 5, noise.reach - 1):
        cut = noise.cuts[x]
        for tail, expected in ((0, x), ((1 << 63) - 1, x - 1)):
            tape = Tape([cut << 63 | tail], width=127)
            assert expected == draw(noise, tape)
        assert x - 1 == draw(noise, Tape([(cut + 1)], width=64))
        flipped = (cut << 63) ^ ((1 << 127) - 1)
        assert -x == draw(noise, Tape([flipped], width=127))


@pytest.mark.parametrize(("epsilon", "delta"), SPENDS)
def test_chances_are_sums_of_the_law(epsilon: str, delta: str) -> None:
    """How probably a key shows, and from how many units on."""
    noise = calibrate(Fraction(epsilon), Fraction(delta))
    for units in (1, 2, noise.reach, noise.reach + 1, 2 * noise.reach, 10**6):
        law = [
            probability(noise, x)
            for x in range(-noise.reach, noise.reach + 1)
            if units + x >= noise.least_shown
        ]
        assert abs(sum(law, Fraction(0)) - chance(noise, units)) < Fraction(1, 10**50)
    for wanted in (Fraction(1, 2), Fraction(95, 100), Fraction(1)):
        units = units_for(noise, wanted)
        assert chance(noise, units) >= wanted > chance(noise, units - 1)


@pytest.mark.parametrize(("epsilon", "delta"), SPENDS)
def test_accuracy_is_the_least(epsilon: str, delta: str) -> None:
    """P(|X| > A) <= alpha at A and not one below; nothing is beyond the reach."""
    noise = calibrate(Fraction(epsilon), Fraction(delta))

    def missed(a: int) -> Fraction:
        return 2 * sum(
            (probability(noise, x) for x in range(a + 1, noise.reach + 1)), Fraction(0)
        )

    for alpha in (Fraction(1, 2), Fraction(1, 20), Fraction(1, 10**9)):
        found = accuracy(noise, alpha)
        assert missed(found) <= alpha
        assert found == 0 or missed(found - 1) > alpha


def test_what_is_shown_is_never_below_the_threshold() -> None:
    """A count is shown as it is drawn, and from reach + 1 on only."""
    noise = calibrate(Fraction(1), Fraction(1, 10**5))
    seen = {noisy_count(noise, 14, Tape([word << 56], width=64)) for word in range(256)}
    assert None in seen
    shown = [count for count in seen if count is not None]
    assert min(shown) >= noise.least_shown == 12
    assert max(shown) > 14
    with pytest.raises(AssertionError, match="absent"):
        noisy_count(noise, 0, Tape([0], width=64))


@pytest.mark.parametrize(
    ("epsilon", "delta"), [("0", "1e-5"), ("1", "0"), ("1e-7", "1e-9")]
)
def test_keys_for_nothing_are_refused(epsilon: str, delta: str) -> None:
    """No epsilon, no delta, and noise beyond a million units."""
    with pytest.raises(PlanFault, match="DPQL413"):
        calibrate(Fraction(epsilon), Fraction(delta))


@pytest.mark.heavy
@pytest.mark.parametrize(("epsilon", "delta"), [*SPENDS, ("1", "1e-24")])
def test_many_lanes_are_single_lanes(epsilon: str, delta: str) -> None:
    """Random lanes, those at and around every cut, of both signs, and the ends."""
    noise = calibrate(Fraction(epsilon), Fraction(delta))
    bits = SeededBits(3)
    many = draw_many(noise, 10_000, SeededBits(3))
    assert [draw(noise, bits.lane(i)) for i in range(10_000)] == many.tolist()
    ends = [0, (1 << 63) - 1]
    cuts = [noise.cuts[x] for x in range(1, noise.reach + 1)]
    digits = [*ends, *cuts, *(x + 1 for x in cuts), *(x - 1 for x in cuts if x)]
    tails = [0, (1 << 189) - 1, 1 << 188]
    lanes = [d << 189 | tail for d in digits for tail in tails]
    lanes += [((1 << 253) - 1) ^ lane for lane in lanes]
    single = [draw(noise, Tape([lane], width=253)) for lane in lanes]
    assert single == draw_many(noise, len(lanes), Tape(lanes, width=253)).tolist()


def test_no_lane_is_searched_by_branches(monkeypatch: pytest.MonkeyPatch) -> None:
    """All take the same halvings: a search that branches tells the noise by time."""
    noise = calibrate(Fraction(1, 10), Fraction(1, 10**6))
    size = 1 << (noise.reach + 1).bit_length()
    halvings: list[int] = []

    class Watched(np.ndarray):
        def take(self, *indices: Any, **options: Any) -> Any:
            halvings.append(len(indices[0]))
            return np.asarray(self).take(*indices, **options)

    array = np.array
    monkeypatch.setattr(np, "array", lambda *x: array(*x).view(Watched))
    monkeypatch.setattr(np, "searchsorted", None)
    found = draw_many(noise, 1000, SeededBits(3))
    assert [1000] * size.bit_length() == halvings
    monkeypatch.undo()
    assert draw_many(noise, 1000, SeededBits(3)).tolist() == found.tolist()


def test_fewer_digits_are_drawn_lane_by_lane() -> None:
    """The miniatures of the enumeration have a vector, too."""
    noise = replace(calibrate(Fraction(1), Fraction(1, 100)), digits=7)
    lanes = range(1 << 8)
    single = [draw(noise, Tape([lane << 70], width=78)) for lane in lanes]
    many = draw_many(noise, 1 << 8, Tape([lane << 70 for lane in lanes], width=78))
    assert single == many.tolist()


def test_counts_of_many_keys_are_those_of_each() -> None:
    """The same keys are shown with the same counts."""
    noise = calibrate(Fraction(1, 2), Fraction(1, 10**4))
    units = np.random.default_rng(5).integers(1, 3 * noise.reach, 5_000)
    bits = SeededBits(8)
    expected = {
        i: count
        for i, n in enumerate(units.tolist())
        if (count := noisy_count(noise, n, bits.lane(i))) is not None
    }
    shown, counts = noisy_counts(noise, units, SeededBits(8))
    assert expected == dict(zip(shown.tolist(), counts.tolist(), strict=True))
    assert 0 < len(expected) < len(units)
