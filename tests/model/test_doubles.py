"""Doubles hold what they hold, and the error of the rest is stated."""

from __future__ import annotations

from fractions import Fraction

import pytest

from dpql.model.doubles import double_error, is_double
from dpql.model.spec import DropNulls, NumberColumn, NumberType


@pytest.mark.parametrize(
    ("number", "expected"),
    [
        (Fraction(1, 3), False),
        (Fraction(1, 1 << 900), True),
        (Fraction((1 << 53) + 1), False),
        (Fraction((1 << 53) - 1), True),
        (Fraction(0), True),
    ],
)
def test_a_double_has_53_bits(number: Fraction, expected: bool) -> None:  # noqa: FBT001  a case
    """And a power of two below."""
    assert expected is is_double(number)


def test_decimals_far_from_0_are_told_apart_less_well() -> None:
    """The error grows with the distance from 0 in widths."""

    def column(lower: int) -> NumberColumn:
        return NumberColumn(
            name="x",
            type=NumberType.DECIMAL,
            lower=Fraction(lower),
            upper=Fraction(lower + 1),
            step=Fraction(1, 100),
            unit=None,
            nulls=DropNulls(),
        )

    near, far = (double_error(column(lower), 100) for lower in (0, 10**9))
    assert 0 < near < Fraction(1, 10**6)
    assert far > 10**8 * near
