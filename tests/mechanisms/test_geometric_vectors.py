"""The geometric mechanism against the golden vectors."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from golden import TOLERANCE, cases, close, label
from mechanisms.digits import digit_count, digit_words, tail_word

from dpql.errors import PlanFault
from dpql.exact import exp_down, exp_up
from dpql.mechanisms import Query, geometric
from dpql.mechanisms.geometric import GeometricNoise

pytestmark = pytest.mark.golden

Case = dict[str, Any]


def _tail(theta: Fraction, a: int) -> Fraction:
    """Return P(|X| > a) to 1e-70 or so."""
    return 2 * exp_up(-theta * (a + 1)) / (1 + exp_down(-theta))


@pytest.mark.parametrize("case", cases("geometric"), ids=label)
def test_accuracy_and_its_inverse(case: Case) -> None:
    """Accuracy, the note's ceiling and the least epsilon are the golden ones."""
    given, expect = case["input"], case["expect"]
    alpha, steps = Fraction(given["alpha"]), int(given["delta_int"])
    epsilon = Fraction(given["epsilon"])
    theta = epsilon / steps
    noise = GeometricNoise(
        sensitivity=Fraction(steps),
        lattice=Fraction(1),
        rounded=False,
        epsilon=epsilon,
    )
    exact = expect["accuracy_exact"]
    assert Fraction(expect["theta"]) == noise.theta == theta
    assert exact == geometric.accuracy(noise, alpha)
    assert expect["accuracy_seed_001"] == geometric.nominal_accuracy(noise, alpha)
    assert close(expect["tail_at_accuracy"], _tail(theta, exact), TOLERANCE)
    if expect["tail_one_less"] is not None:
        assert close(expect["tail_one_less"], _tail(theta, exact - 1), TOLERANCE)
    found = steps * geometric.theta_for(exact, alpha)
    assert close(expect["epsilon_min_for_accuracy"], found, TOLERANCE)


@pytest.mark.parametrize("case", cases("geometric"), ids=label)
def test_priced_epsilon(case: Case) -> None:
    """Pricing lands on the golden epsilon from above, or says why it cannot."""
    given, expect = case["input"], case["expect"]
    alpha, sensitivity = Fraction(given["alpha"]), Fraction(given["delta_int"])
    target = Fraction(expect["accuracy_exact"])
    wide = Fraction(10**40)
    query = Query(sensitivity=sensitivity, lower=-wide, upper=wide, lattice=Fraction(1))
    least = Fraction(expect["epsilon_min_for_accuracy"])
    if target == 0 or least > 1000 or alpha == 1:
        code = "DPQL410" if target == 0 else "DPQL412"
        with pytest.raises(PlanFault, match="DPQL413" if alpha == 1 else code):
            geometric.epsilon_for(query, target, alpha, gamma=Fraction(1))
        return
    priced = geometric.epsilon_for(query, target, alpha, gamma=Fraction(1))
    assert least <= priced * (1 + Fraction(1, 10**38))
    assert priced <= least * (1 + TOLERANCE)


@pytest.mark.parametrize("case", cases("geometric_bits"), ids=label)
def test_digits_of_a_geometric_number(case: Case) -> None:
    """The oracle's coins are the golden ones."""
    theta, count = Fraction(case["theta"]), case["I"]
    assert count == digit_count(theta)
    assert case["word_bits"] == 64
    assert [int(w) for w in case["words"]] == digit_words(theta, count, 64)
    long = case["words128"]
    assert [int(w) for w in long] == digit_words(theta, len(long), 128)
    assert int(case["tail_word"]) == tail_word(theta, count, 64)
