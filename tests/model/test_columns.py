"""Declared columns are seen as numbers and as keys wherever they can be."""

from __future__ import annotations

from fractions import Fraction

import pytest
from expressions import DATA, FIRST, LAST

from dpql.model.calendar import DAY
from dpql.model.columns import CategoryColumn, NumberColumn


@pytest.mark.parametrize(
    ("name", "ends", "step"),
    [
        ("b", (0, 1), 1),
        ("u", (FIRST, LAST), 1),
        ("s", (FIRST * DAY, LAST * DAY), 60),
        ("t", (FIRST * DAY + 90, LAST * DAY - 30), 60),
    ],
)
def test_truth_and_dates_are_numbers(
    name: str, ends: tuple[int, int], step: int
) -> None:
    """0 and 1; days; seconds on the grid of their step, which ends below the last."""
    found = DATA.number(name)
    assert isinstance(found, NumberColumn)
    assert (*map(Fraction, ends), Fraction(step)) == (
        found.lower,
        found.upper,
        found.step,
    )


def test_truth_is_a_key() -> None:
    """False comes first, as 0 does."""
    assert CategoryColumn(name="b", keys=("false", "true")) == DATA.category("b")
