"""Plots have whole coordinates on an axis that holds every interval."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest
from reports.sample_releases import DAY, VERSIONS, make_outcome, small_plan

from dpql.reports.plot import WIDTH, Axis, axis_of, budget_plot, interval_plot
from dpql.reports.predicate_builder import build

STATISTIC = build(
    make_outcome(small_plan()), day=DAY, ledger=None, approvals=(), versions=VERSIONS
).statistics[0]


@pytest.mark.parametrize(
    ("x", "coordinate"), [("2", 0), ("4", 500), ("6", 1000), ("-9", 0), ("99", 1000)]
)
def test_coordinates_stay_on_the_axis(x: str, coordinate: int) -> None:
    """What lies beyond an end is drawn there."""
    assert coordinate == Axis(Fraction(2), Fraction(6)).coordinate(Fraction(x))


def test_an_axis_holds_every_interval() -> None:
    """With a margin of a twentieth, but not below 0 where no number is."""
    expected = {
        (100, 300): Axis(Fraction(90), Fraction(310)),
        (1, 101): Axis(Fraction(0), Fraction(106)),
        (-5, 15): Axis(Fraction(-6), Fraction(16)),
    }
    first, second = STATISTIC.values
    for (low, high), axis in expected.items():
        values = (
            replace(first, lower=Fraction(low), upper=Fraction(low + 1)),
            replace(second, lower=Fraction(high - 1), upper=Fraction(high)),
        )
        assert axis == axis_of(replace(STATISTIC, values=values))


def test_an_interval_is_a_bar_with_a_tick() -> None:
    """An interval without width is one unit wide."""
    (value, *_) = STATISTIC.values
    axis = Axis(value.lower, value.upper)
    drawn = interval_plot(axis, value)
    assert f'class="interval" x="0" y="6" width="{WIDTH}"' in drawn
    far = Axis(value.upper + 1, value.upper + 2)
    assert 'class="interval" x="0" y="6" width="1"' in interval_plot(far, value)


def test_a_budget_shows_what_was_spent_before_and_now() -> None:
    """A quarter before, and a quarter by this release."""
    drawn = budget_plot(Fraction(4), Fraction(1), Fraction(2))
    assert 'class="before" x="0" y="4" width="250"' in drawn
    assert 'class="now" x="250" y="4" width="250"' in drawn
