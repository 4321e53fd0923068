"""Keys of fewer than t units never: what is right, and three ways to get it wrong.

epsilon 1, delta 1e-5, t = 10, and the geometric threshold of MATH 10. Each wrong
reading shows keys that it had promised never to show, or shows some too often.
"""

from __future__ import annotations

from fractions import Fraction

import pytest
from exact_pairs import WHOLE, Noise

from dpql.mechanisms import SEARCHES, selection, truncated
from dpql.mechanisms.accounting import threshold
from dpql.mechanisms.selection import above_pre_threshold

EPSILON, DELTA, LEAST = Fraction(1), Fraction(1, 10**5), 10


def at_least(theta: Fraction, x: int) -> Fraction:
    """Return P(X >= x) of geometric noise, from below."""
    noise = Noise("geometric", theta)
    window = noise.masses()[0]
    return Fraction(sum(noise.mass(y)[0] for y in range(x, window + 1)), WHOLE)


def close(found: Fraction, expected: str) -> bool:
    """Tell whether a probability has the digits of MATH-delta 3.5."""
    return abs(found / Fraction(expected) - 1) < Fraction(1, 30)


def test_small_keys_dropped_and_counts_unshifted() -> None:
    """A key of t units is shown as if there were no t: far more often than delta."""
    tau = threshold(EPSILON, DELTA, 1, 1)
    assert tau == 13
    assert close(at_least(EPSILON, tau - LEAST), "0.0364")
    right = above_pre_threshold(LEAST, LEAST)
    assert at_least(EPSILON, tau - right) <= DELTA


def test_units_filtered_and_rows_noised() -> None:
    """Ten units of three rows each pass the filter of units, and then many rows do."""
    theta = EPSILON / 3
    tau = threshold(theta, DELTA, 1, 3)
    assert tau == 36
    assert close(at_least(theta, tau - 3 * LEAST), "0.079")


def test_noise_for_absent_keys() -> None:
    """Untruncated noise shows keys that were never to be shown."""
    tau = threshold(EPSILON, DELTA, 1, 1)
    assert close(at_least(EPSILON, tau), "1.7e-6")


@pytest.mark.parametrize("name", SEARCHES)
def test_the_first_that_may_be_shown(name: str) -> None:
    """A key of t units is shown with delta at most, one of fewer is absent."""
    finder = SEARCHES[name]
    noise = finder.calibrate_keys(EPSILON, DELTA, keys=1)
    assert [above_pre_threshold(n, LEAST) for n in range(LEAST + 2)] == [0] * LEAST + [
        1,
        2,
    ]
    assert 0 < finder.chance(noise, 1) <= DELTA
    assert finder.chance(noise, 0) == 0
    for units in range(1, 60):
        before, after = (finder.chance(noise, n) for n in (units, units + 1))
        assert before <= after


def test_what_readers_are_told() -> None:
    """Half from 12 units on, 95% from 14 and surely from 23: no pre-threshold."""
    noise = selection.calibrate(EPSILON, DELTA)
    chances = [Fraction(1, 2), Fraction(95, 100), Fraction(1)]
    assert [12, 14, 23] == [noise.units_for(each) for each in chances]
    assert truncated.calibrate(EPSILON, DELTA).least_shown == 12
