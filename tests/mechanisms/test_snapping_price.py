"""From a target to the least epsilon of snapping, by its own tail and by search."""

from __future__ import annotations

from fractions import Fraction

import mpmath
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpql.errors import PlanFault
from dpql.mechanisms import Query, snapping
from dpql.mechanisms.snapping_price import _keeps, widest_scale

GAMMA = Fraction(1, 10**9)
FINEST = Fraction(1, 10**13)
"""By how much the epsilon found may be above the least, relatively; it is 2e-14."""

QUERY = Query(sensitivity=Fraction(1), lower=Fraction(0), upper=Fraction(10**9))
TARGETS = st.one_of(
    st.fractions(Fraction(1, 100), Fraction(10**4), max_denominator=10**6),
    # At and about the plateaus and jumps, which are multiples of powers of two.
    st.builds(
        lambda odd, power, nudge: odd * Fraction(2) ** power * (1 + nudge),
        st.integers(1, 40),
        st.integers(-6, 12),
        st.sampled_from([Fraction(0), Fraction(1, 10**15), -Fraction(1, 10**15)]),
    ),
)
ALPHAS = st.sampled_from(
    [Fraction(a) for a in ("0.05", "0.01", "0.5", "0.9", "0.999", "1e-6", "1e-30")]
)


def stated(epsilon: Fraction, alpha: Fraction, query: Query = QUERY) -> Fraction:
    """Return what a plan states at this epsilon."""
    return snapping.accuracy(snapping.calibrate(query, epsilon, gamma=GAMMA), alpha)


def priced(target: Fraction, alpha: Fraction) -> Fraction | None:
    """Return the epsilon of a target; None where it is above the ceiling."""
    try:
        return snapping.epsilon_for(QUERY, target, alpha, gamma=GAMMA)
    except PlanFault:
        return None


@settings(max_examples=150, deadline=None)
@given(TARGETS, ALPHAS)
def test_no_smaller_epsilon_states_the_target(
    target: Fraction, alpha: Fraction
) -> None:
    """The epsilon found reaches it; every smaller one, near or far, does not."""
    found = priced(target, alpha)
    if found is None:
        assert stated(Fraction(1000), alpha) > target * (1 - FINEST)
        return
    assert stated(found, alpha) <= target
    for less in (FINEST, Fraction(1, 10**9), Fraction(1, 10**6), Fraction(1, 1000)):
        assert stated(found * (1 - less), alpha) > target
    for k in range(1, 33):
        assert stated(found * Fraction(100 - 2 * k, 100), alpha) > target


@settings(max_examples=60, deadline=None)
@given(TARGETS, ALPHAS)
def test_bisection_of_the_forward_map_ends_at_the_same_epsilon(
    target: Fraction, alpha: Fraction
) -> None:
    """Whatever the jumps, a search that knows no formula finds no smaller epsilon."""
    found = priced(target, alpha)
    if found is None:
        return
    low, high = found / 8, found
    for _ in range(60):
        middle = (low + high) / 2
        reached = stated(middle, alpha) <= target
        low, high = (low, middle) if reached else (middle, high)
    assert high <= found <= high * (1 + FINEST)


@pytest.mark.parametrize("alpha", ["0.05", "0.5", "1e-6"])
@pytest.mark.parametrize("power", [-3, 0, 5])
def test_a_target_inside_a_jump_costs_the_power_of_two(power: int, alpha: str) -> None:
    """Where the grid doubles the accuracy jumps; targets between cost the same."""
    level = Fraction(alpha)
    epsilon = Fraction(2) ** power
    above = stated(epsilon * (1 + FINEST), level)
    below = stated(epsilon * (1 - FINEST), level)
    assert above < below
    for part in (Fraction(1, 1000), Fraction(1, 2), Fraction(999, 1000)):
        target = above + part * (below - above)
        found = snapping.epsilon_for(QUERY, target, level, gamma=GAMMA)
        assert epsilon < found <= epsilon * (1 + FINEST)


def test_the_sensitivity_scales_the_target() -> None:
    """Seven times the sensitivity has seven times the error at the same epsilon."""
    wide = Query(sensitivity=Fraction(7), lower=Fraction(0), upper=Fraction(7 * 10**9))
    for target in (Fraction(5), Fraction(33, 10), Fraction(1000)):
        one, other = (
            snapping.epsilon_for(query, target * query.sensitivity, alpha, gamma=GAMMA)
            for query, alpha in ((QUERY, Fraction(1, 20)), (wide, Fraction(1, 20)))
        )
        assert one == other


@settings(max_examples=60, deadline=None)
@given(
    st.fractions(Fraction(51, 100), Fraction(1), max_denominator=997),
    st.fractions(Fraction(1, 2), Fraction(40), max_denominator=997),
)
def test_tail_by_the_formula_of_the_note(scale: Fraction, target: Fraction) -> None:
    """The two exponentials are exp(-(N-1) L/2l) cosh((N L/2 - a)/l), for L = 1."""
    with mpmath.workdps(50):
        intervals = 2 * target // 1 + 1
        width = mpmath.mpf(scale.numerator) / scale.denominator
        goal = mpmath.mpf(target.numerator) / target.denominator
        head = mpmath.exp(-(mpmath.mpf(intervals) - 1) / (2 * width))
        tail = head * mpmath.cosh((mpmath.mpf(intervals) / 2 - goal) / width)
        digits = Fraction(mpmath.nstr(tail, 40))
    above, below = digits * (1 + FINEST), digits * (1 - FINEST)
    assert _keeps(target, Fraction(1), scale, above)
    assert not _keeps(target, Fraction(1), scale, below)


@settings(max_examples=60, deadline=None)
@given(
    st.fractions(Fraction(1, 4), Fraction(40), max_denominator=997),
    st.fractions(Fraction(51, 100), Fraction(1), max_denominator=997),
)
def test_a_coarser_grid_never_misses_less(target: Fraction, scale: Fraction) -> None:
    """At one scale, what the grid of 2 keeps the grid of 1 keeps: jumps go one way."""
    if target < 1:
        return
    level = Fraction(1, 2)
    for _ in range(40):
        kept = [_keeps(target, grid, scale, level) for grid in map(Fraction, (1, 2))]
        assert kept != [False, True]
        level *= Fraction(3, 4)


def test_the_scale_is_the_largest() -> None:
    """A scale one part in 2**56 wider misses the target, but at the end of a grid."""
    for target in (Fraction(7), Fraction(10, 3), Fraction(123)):
        for alpha in (Fraction(1, 20), Fraction(1, 2)):
            scale = widest_scale(target, alpha)
            grid = Fraction(1)
            while grid < scale:
                grid *= 2
            while grid / 2 >= scale:
                grid /= 2
            assert _keeps(target, grid, scale, alpha)
            wider = scale * (1 + Fraction(1, 2**50))
            grid = 2 * grid if wider > grid else grid
            assert not _keeps(target, grid, wider, alpha)
