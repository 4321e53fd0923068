"""Faults that are planted into whole plans with private keys: each is flagged.

The same sums find no fault in the plans as they are (test_private_plans.py).
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest
from exact_pairs import Noise, Pair, adaptive_up, hockey_stick_up

from dpql.exact import exp_up
from dpql.mechanisms import SEARCHES, selection
from dpql.mechanisms.selection import Selection
from tests.mechanisms.test_key_privacy import pair_of
from tests.planner.test_private_plans import (
    CASES,
    Model,
    model_of,
    planned,
    violations,
)


def _model(name: str) -> Model:
    case = next(one for one in CASES if one.id == name)
    return model_of(case, planned(name))


def _with_noise(model: Model, factor: Fraction) -> Model:
    (noise, *more), *others = model.steps
    changed = replace(noise, parameter=noise.parameter * factor)
    return replace(model, steps=((changed, *more), *others))


def _with_search(model: Model, noise: Any) -> Model:
    return replace(model, searches=(noise, *model.searches[1:]))


class _Early:
    """Truncated noise whose keys are shown from one unit too few on."""

    def __init__(self, noise: Any) -> None:
        self.epsilon, self.reach = noise.epsilon, noise.reach
        self.least_shown = noise.least_shown - 1


def _risen(noise: Selection, bits: int) -> Selection:
    """Return a selection whose exp(epsilon) is rounded up to so many bits."""
    rise = Fraction((exp_up(noise.epsilon) * (1 << bits)).__ceil__(), 1 << bits)
    table, whole, chance = [0], noise.whole, noise.delta * noise.whole
    while table[-1] < whole:
        last = table[-1]
        left = (whole - (whole - last - chance) / rise).__floor__()
        table.append(min((rise * last + chance).__floor__(), left, whole))
    return replace(noise, table=tuple(table))


def test_sigma2_too_small_by_two_percent() -> None:
    """The divergence of order 2 tells it; the whole has more to spare."""
    model = _model("a normal sum")
    assert "rho" in violations(_with_noise(model, Fraction(98, 100)))
    assert violations(_with_noise(model, Fraction(1))) == set()


def test_l2_without_l0() -> None:
    """Noise for one cell of a unit that moves two."""
    assert "rho" in violations(_with_noise(_model("a normal sum"), Fraction(1, 2)))
    model = _model("all normal")
    (noise,) = model.searches
    one = SEARCHES["gaussian_threshold"].calibrate_keys(noise.rho, noise.delta, keys=1)
    assert "whole" in violations(_with_noise(_with_search(model, one), Fraction(1, 4)))


@pytest.mark.parametrize("name", ["replaced", "rows replaced"])
def test_replace_one_without_the_factor(name: str) -> None:
    """A search, or a step, that takes a replaced unit for an added one."""
    model = _model(name)
    ((epsilon, delta),) = model.claims
    added = SEARCHES["truncated_geometric"].calibrate_keys(epsilon, delta, keys=1)
    assert {"whole", "search"} <= violations(_with_search(model, added))
    assert "whole" in violations(_with_noise(model, Fraction(2)))


def test_replace_one_without_the_factor_in_squares() -> None:
    """Gaussian noise of half the squares."""
    assert "rho" in violations(_with_noise(_model("replaced, normal"), Fraction(1, 2)))


def test_a_threshold_one_too_low() -> None:
    """Of truncated noise and of Gaussian noise."""
    for name in ("units and a sum", "replaced"):
        model = _model(name)
        early = _Early(model.searches[0])
        assert {"whole", "search"} <= violations(_with_search(model, early))
    model = _model("all normal")
    lower = replace(model.searches[0], tau=model.searches[0].tau - 1)
    assert "search" in violations(_with_search(model, lower))


@pytest.mark.parametrize("bits", [8, 40])
def test_an_exponential_rounded_up(bits: int) -> None:
    """In the recursion of the chances to be shown: by the search's own claim.

    The whole is worst for a key that nobody had, and the first chance is delta as ever.
    """
    for name in ("others", "a mean"):
        model = _model(name)
        risen = _risen(model.searches[0], bits)
        assert "search" in violations(_with_search(model, risen))


def test_a_share_of_delta_chosen_after_the_answers() -> None:
    """A search that shows nothing gives its delta to the next one: more than both.

    Shares that are fixed before, as in a plan, add up.
    """
    epsilon, delta = Fraction(1), Fraction(1, 50)
    half = selection.calibrate(epsilon, delta / 2)
    whole = selection.calibrate(epsilon, delta)
    first = pair_of(half, 1, 0)
    fixed = adaptive_up(first, [pair_of(half, 1, 0)], 2 * epsilon)
    assert fixed <= delta
    hidden, shown = Pair(alone=0), Pair(alone=first.alone)
    for loss, mass in first.classes.items():
        (hidden if "hidden" in str(loss) else shown).classes[loss] = mass
    chosen = adaptive_up(hidden, [pair_of(whole, 1, 0)], 2 * epsilon)
    chosen += adaptive_up(shown, [pair_of(half, 1, 0)], 2 * epsilon)
    assert chosen > delta * Fraction(14, 10)


def test_the_deltas_of_a_plan_are_fixed_before() -> None:
    """Those of its searches add up to no more than the plan's, on every path."""
    for case in CASES:
        made = planned(case.id)
        events = sum((step.delta for step in made.steps), Fraction(0))
        assert 0 < events <= made.delta_spent <= made.delta
        if made.in_rho:
            assert events <= made.delta / 2


def test_noise_that_is_forgotten() -> None:
    """A further step of the keys that are found, of which nobody thought."""
    model = _model("others")
    (noise, moves, rho), *_ = model.steps
    again = replace(model, steps=((noise, moves, rho), (noise, moves, rho)))
    assert "whole" in violations(again)
    assert hockey_stick_up(Pair(), Fraction(0)) == 0
    assert isinstance(noise, Noise)
