"""How exactly doubles hold the steps of a column.

Source: MATH 5 (quantiser).
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from dpql.exact import power_of_two_up, two_to

if TYPE_CHECKING:
    from dpql.model.spec import NumberColumn

_DOUBLE = 53


def double_error(column: NumberColumn, steps: int) -> Fraction:
    """Return how far, in steps, an evaluation in doubles can stray before rounding.

    2**(q-50), and 2**(q-52) max(|a|, |b|) / w when a bound or the values
    themselves are no doubles
    """
    from dpql.model.spec import NumberType

    q = power_of_two_up(Fraction(steps))
    error = two_to(q - 50)
    bounds = (column.lower, column.upper)
    if column.type is not NumberType.FLOAT or not all(map(is_double, bounds)):
        farthest = max(abs(bound) for bound in bounds)
        error += two_to(q - 52) * farthest / (column.upper - column.lower)
    return error


def is_double(number: Fraction) -> bool:
    """Tell whether a double holds the number exactly, whatever its exponent."""
    odd = number.denominator & (number.denominator - 1)
    significant = abs(number.numerator)
    significant //= (significant & -significant) or 1
    return not odd and significant.bit_length() <= _DOUBLE
