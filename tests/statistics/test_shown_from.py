"""The option `shown_from`: from how many units on a key may be shown."""

from __future__ import annotations

import pytest

from dpql.statistics.option import Usage
from dpql.statistics.shown_from import SHOWN_FROM

USAGE = Usage(inputs=(), known=False, rows=100)


@pytest.mark.parametrize("number", [None, 1, 2, 100])
def test_a_number_of_units_that_may_be_there_is_taken(number: int | None) -> None:
    """From one unit to as many as there may be rows, or none at all."""
    assert [] == list(SHOWN_FROM.check(number, USAGE))


@pytest.mark.parametrize("number", [-1, 0, 101])
def test_other_numbers_are_refused(number: int) -> None:
    """No key has fewer than one unit or more than there are rows."""
    (objection,) = SHOWN_FROM.check(number, USAGE)
    assert "DPQL374" == objection.code
    assert f"`shown_from` is {number}," in objection.message


def test_a_ceiling_at_fault_is_no_ceiling() -> None:
    """One mistake is reported once."""
    unknown = Usage(inputs=(), known=False, rows=None)
    assert [] == list(SHOWN_FROM.check(101, unknown))
