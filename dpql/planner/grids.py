"""How fine the values of a column are counted.

    lossless    Q = (upper - lower) / step, for integers and decimals
    binary      Q = 2**q, q = 20 + ceil log2 max(1, rows * epsilon)

within 2**46 steps where values are summed and 2**31 where products are, so that a
product fits 63 bits; fewer where more than 2**40, or 2**31, rows are declared, so that
sums of half words would fit them as well.

Source: MATH 5 (quantiser, Q, overflow).
"""

from __future__ import annotations

from fractions import Fraction

from dpql.exact import power_of_two_up, two_to
from dpql.model.doubles import double_error
from dpql.model.limits import LARGEST_WHOLE
from dpql.model.plan import Grid
from dpql.model.spec import NumberColumn, NumberType

_LEAST = 20
_FINEST = {1: 46, 2: 31}
_SIGNED = (1 << 63) - 1
_LARGEST = two_to(1023)
_SMALLEST = two_to(-1022)
_HALF = Fraction(1, 2)


def choose_grid(
    column: NumberColumn,
    *,
    power: int,
    rows: int,
    epsilon: Fraction,
    exact: bool = False,
) -> Grid:
    """Return the grid of a column for a statistic that multiplies ``power`` factors.

    The values of an ``exact`` column are whole numbers of steps, and no more than fit.
    """
    bits = _finest_bits(power, rows)
    width = column.upper - column.lower
    if column.step is not None:
        steps = (width / column.step).__floor__()
        if exact:
            return _grid(column, steps, Fraction(0))
        if steps <= 1 << bits:
            shake = double_error(column, steps)
            lossless = column.type is NumberType.INTEGER or shake < _HALF
            return _grid(column, steps, Fraction(0) if lossless else _HALF + shake)
    wanted = _LEAST + power_of_two_up(max(Fraction(1), rows * epsilon))
    steps = 1 << max(min(wanted, bits), min(_LEAST, bits))
    return _grid(column, steps, _HALF + double_error(column, steps))


def is_countable(column: NumberColumn) -> bool:
    """Tell whether the cells of the column fit the numbers that they are counted in.

    Integers must be counted as such; the bounds of others, their width and any number
    of steps to a unit must be finite doubles of full precision.
    """
    farthest = max(abs(column.lower), abs(column.upper))
    if column.type is NumberType.INTEGER:
        return farthest <= LARGEST_WHOLE
    width = column.upper - column.lower
    most = Fraction(1 << max(_FINEST.values()))
    return max(farthest, width, most / width) < _LARGEST and 1 / width > _SMALLEST


def finest(power: int, rows: int) -> int:
    """Return the most steps of a grid for so many declared rows."""
    return 1 << _finest_bits(power, rows)


def _finest_bits(power: int, rows: int) -> int:
    """Return the most bits of a grid for so many declared rows."""
    bits = _FINEST[power]
    while bits > 1 and _SIGNED // (1 << ((bits + 1) // 2)) ** power < rows:
        bits -= 1
    return bits


def _grid(column: NumberColumn, steps: int, error: Fraction) -> Grid:
    return Grid(
        column=column.name,
        lower=column.lower,
        upper=column.upper,
        steps=steps,
        error=error,
    )
