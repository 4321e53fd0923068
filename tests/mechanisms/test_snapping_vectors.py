"""Snapping against the golden vectors."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest
from golden import TOLERANCE, cases, close, label

from dpql.errors import PlanFault
from dpql.exact import power_of_two_up, two_to
from dpql.mechanisms import Query, snapping
from dpql.mechanisms.snapping import SnappingNoise
from dpql.mechanisms.snapping_draw import logarithm
from dpql.testing import Tape

pytestmark = pytest.mark.golden

Case = dict[str, Any]


def _query(expect: Case) -> Query:
    return Query(
        sensitivity=Fraction(expect["delta"]),
        lower=Fraction(expect["range_lo"]),
        upper=Fraction(expect["range_hi"]),
    )


@pytest.mark.parametrize("case", cases("snapping_plans"), ids=label)
def test_forward_plan(case: Case) -> None:
    """Every figure of a plan is the golden one."""
    given, expect = case["input"], case["expect"]
    epsilon = Fraction(given["epsilon"]) / expect["l0"]
    alpha = Fraction(given["alpha"])
    noise = snapping.calibrate(_query(expect), epsilon, gamma=Fraction(given["gamma"]))
    delta = noise.sensitivity
    assert Fraction(expect["epsilon_each"]) == epsilon
    assert Fraction(expect["shift"]) == noise.shift
    assert Fraction(expect["B_prime"]) == noise.B_prime
    assert expect["precision_p"] == noise.precision
    assert expect["ustar_fraction_bits"] == noise.precision + 1
    assert expect["Lambda_prime_log2"] == power_of_two_up(noise.lambda_prime)
    assert epsilon == snapping.loss(noise)
    plain = snapping.plain_accuracy(noise, alpha)
    for name, actual in {
        "B": noise.B,
        "epsilon_prime": noise.epsilon_prime,
        "lambda_prime": noise.lambda_prime,
        "accuracy": plain / delta,
        "accuracy_user": plain,
        "accuracy_tight": snapping.accuracy(noise, alpha) / delta,
        "bind_probability_bound": snapping.clamp_bound(noise),
        "bind_probability_worst": snapping.clamp_probability(noise),
    }.items():
        assert close(expect[name], actual, TOLERANCE), name


def _target_query(given: Case) -> Query:
    """Return the query of a target case by MATH 4, written a second time here."""
    n = given.get("n", 1)
    a, b = Fraction(given.get("lower", 0)), Fraction(given.get("upper", 1))
    c, d = Fraction(given.get("lower2", 0)), Fraction(given.get("upper2", 1))
    most = Fraction((n // 2) * -(-n // 2), n * (n - 1)) if n > 1 else Fraction(0)
    shapes = {
        "count": (Fraction(1), Fraction(0), Fraction(n)),
        "sum": (b - a, n * a, n * b),
        "mean": ((b - a) / n, a, b),
        "variance": ((b - a) ** 2 / n, Fraction(0), (b - a) ** 2 * most),
        "covariance": (
            (b - a) * (d - c) / n,
            -(b - a) * (d - c) * most,
            (b - a) * (d - c) * most,
        ),
    }
    sensitivity, lower, upper = shapes[given["statistic"]]
    return Query(sensitivity=sensitivity, lower=lower, upper=upper)


@pytest.mark.parametrize("case", cases("accuracy_to_epsilon"), ids=label)
def test_epsilon_for_accuracy(case: Case) -> None:
    """The closed form of the plain accuracy is the golden one; the tight costs less."""
    given, expect = case["input"], case["expect"]
    query, alpha = _target_query(given), Fraction(given["alpha"])
    gamma, target = Fraction(given["gamma"]), Fraction(given["accuracy_user"])
    assert "add_remove" != given["relation"]
    assert Fraction(expect["accuracy_rescaled"]) == target / query.sensitivity
    found = snapping.least_epsilon(target / query.sensitivity, alpha)
    if target >= query.upper - query.lower:
        for price in (snapping.plain_epsilon_for, snapping.epsilon_for):
            with pytest.raises(PlanFault, match="DPQL411"):
                price(query, target, alpha, gamma=gamma)
    else:
        plain = snapping.plain_epsilon_for(query, target, alpha, gamma=gamma)
        assert found == plain
        assert snapping.epsilon_for(query, target, alpha, gamma=gamma) <= plain
    least = Fraction(expect["epsilon_min"])
    assert least * (1 - Fraction(1, 10**15)) <= found <= least * (1 + TOLERANCE)
    noise = snapping.calibrate(query, found, gamma=gamma)
    assert snapping.plain_accuracy(noise, alpha) <= target
    assert expect["precision_p"] == noise.precision
    assert expect["Lambda_prime_log2"] == noise.grid_exponent


def _ideal(given: Case) -> SnappingNoise:
    return SnappingNoise(
        sensitivity=Fraction(1),
        shift=Fraction(0),
        B_prime=Fraction(0),
        B=Fraction(given["B"]),
        gamma=Fraction(1),
        epsilon=Fraction(1),
        precision=118,
        lambda_prime=Fraction(given["lambda_prime"]),
    )


@pytest.mark.parametrize("case", cases("bias"), ids=label)
def test_bias_and_probabilities(case: Case) -> None:
    """The exact bias and two point probabilities are the golden ones."""
    given, expect = case["input"], case["expect"]
    noise, f = _ideal(given), Fraction(given["f"])
    assert given["Lambda_log2"] == noise.grid_exponent
    clamp = snapping.clamp_probability(noise, f)
    tolerance = TOLERANCE
    assert close(expect["bias"], snapping.bias(noise, f), tolerance)
    assert close(expect["clamp_binds"], clamp, tolerance)
    top = snapping.probability(noise, f, noise.edge)
    assert close(expect["prob_output_plus_B"], top, tolerance)
    zero = snapping.probability(noise, f, 0)
    assert close(expect["prob_output_zero"], zero, tolerance)


@pytest.mark.parametrize("case", cases("ln_rounding"), ids=label)
def test_logarithm_is_rounded_correctly(case: Case) -> None:
    """The sampler's logarithm of U* is the golden one, however near to a midpoint."""
    precision, m = case["p"], case["m"]
    uniform = Fraction((1 << m) + int(case["mant_hex"], 16), 1 << (m + case["e"]))
    assert Fraction(case["U_star"]) == uniform
    expected = int(case["minus_ln"]["mantissa_hex"], 16) * two_to(
        case["minus_ln"]["exponent"]
    )
    noise = replace(_ideal({"B": "8", "lambda_prime": "1"}), precision=precision)
    digits = (1 << m) + int(case["mant_hex"], 16)
    mantissa, exponent = logarithm(noise.kit, digits, m + case["e"])
    assert expected == -int(mantissa) * two_to(int(exponent))


def _lane(noise: SnappingNoise, sign: int, e: int, mantissa: int) -> Tape:
    """Return the tape on which the sampler sees this S, e and M."""
    m = noise.precision + 1
    digits = (1 << m) + mantissa
    length = e + m
    width = max(snapping.width(noise) - 1, length)
    digits <<= width - length
    first = snapping.width(noise) - 1
    if sign > 0:
        digits ^= ((1 << first) - 1) << (width - first)
        digits |= 1 << width
    return Tape([digits], width=width + 1)


@pytest.mark.parametrize("case", cases("snap_samples"), ids=label)
def test_sample_from_explicit_bits(case: Case) -> None:
    """One whole sample from known bits is exact, ties and clamps included."""
    given, plan = case["input"], case["plan"]
    reach = Fraction(given["B_prime"])
    query = Query(sensitivity=Fraction(1), lower=-reach, upper=reach)
    noise = snapping.calibrate(
        query, Fraction(given["epsilon"]), gamma=Fraction(given["gamma"])
    )
    assert (plan["p"], plan["m"]) == (noise.precision, noise.precision + 1)
    assert plan["Lambda_log2"] == noise.grid_exponent
    assert Fraction(plan["lambda_prime"]) == noise.lambda_prime
    assert Fraction(plan["B"]) == noise.B
    tape = _lane(noise, given["sign"], given["e"], int(given["mant_hex"], 16))
    step = snapping.perturb(noise, Fraction(given["f"]), tape)
    assert Fraction(case["expect"]["output"]) == snapping.outcome(noise, step)
    if case["expect"]["multiple"] is not None:
        assert case["expect"]["multiple"] == step
