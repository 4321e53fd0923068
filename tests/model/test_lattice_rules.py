"""Common steps, constants, and numbers that are also something else."""

from __future__ import annotations

from fractions import Fraction

import pytest
from expressions import DATA
from hypothesis import given
from hypothesis import strategies as st

from dpql.model.expression import CalendarPart, Constant, PartOf, Reference
from dpql.model.lattice_rules import (
    Untyped,
    as_number,
    as_truth,
    common,
    common_step,
    constant,
)

STEPS = st.fractions(0, 100, max_denominator=50)


@given(steps=st.lists(STEPS, min_size=1, max_size=4))
def test_all_steps_are_multiples_of_the_common_one(steps: list[Fraction]) -> None:
    """It is the largest such; 0 counts for nothing, alone it is 1."""
    found = common_step(*steps)
    times = [step / found for step in steps]
    assert all(one.denominator == 1 for one in times)
    assert found > 0
    if any(steps):
        whole = [int(one) for one in times if one]
        assert not any(all(one % p == 0 for one in whole) for p in (2, 3, 5, 7))


@pytest.mark.parametrize("step", [Fraction(1, 3), Fraction(7), Fraction(20)])
def test_the_constant_0_has_no_step_of_its_own(step: Fraction) -> None:
    """Beside another it takes its step, whether below 1 or above."""
    nothing, other = constant(Fraction(0)), constant(step)
    assert (step, (1, 1)) == common(nothing, other)
    assert (Fraction(1), (1, 1)) == common(nothing, nothing)


@pytest.mark.parametrize(
    ("part", "column", "first"),
    [
        (CalendarPart.YEAR, "u", 2012),
        (CalendarPart.MONTH_OF_YEAR, "u", 1),
        (CalendarPart.WEEKDAY, "s", 1),
        (CalendarPart.HOUR, "s", 0),
    ],
)
def test_some_parts_are_numbers(part: CalendarPart, column: str, first: int) -> None:
    """Years, months of the year, weekdays and hours; others are keys alone."""
    node = DATA.lattice.typed(PartOf(part=part, column=column))
    assert first == as_number(node, DATA.lattice).shape.low
    month = DATA.lattice.typed(PartOf(part=CalendarPart.MONTH, column=column))
    with pytest.raises(Untyped):
        as_number(month, DATA.lattice)


@pytest.mark.parametrize("name", ["k", "u", "s"])
def test_keys_and_dates_are_no_numbers_and_no_conditions(name: str) -> None:
    """They say so, with a hint."""
    node = DATA.lattice.typed(Reference(column=name))
    for wrong in (lambda: as_number(node, DATA.lattice), lambda: as_truth(node)):
        with pytest.raises(Untyped) as caught:
            wrong()
        assert caught.value.hint


def test_a_truth_is_a_number_and_a_number_is_no_truth() -> None:
    """1 and 0."""
    yes = DATA.lattice.typed(Constant(value="true"))
    assert 1 == as_number(yes, DATA.lattice).shape.low == as_truth(yes).shape.high
    with pytest.raises(Untyped):
        as_truth(constant(Fraction(1)))
