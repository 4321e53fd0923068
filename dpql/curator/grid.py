"""How a declared column becomes whole numbers: quantisers, bins and intervals.

    integer    u = floor((clamp(i) - lower) / step + 1/2),   in whole numbers
    time       u = floor((clamp(i) - lower) / step),         in whole numbers
    others     u = floor((clamp(x) - a) * s + 1/2),          in doubles

    i, x     the canonical cell: WHOLE or REAL
    a, s     lower bound and steps per unit, each the nearest double

A null cell takes the index of the declared fill, or is left out. Cells are doubles
here, so this module has doubles, unlike the rest of the curator. Rounding them costs no
privacy: u is a function of its own row and lies in 0..steps; its error is part of the
plan's accuracy.
Source: MATH 5, quantiser.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from dpql.model.spec import FillNulls, NumberColumn, NumberType, Operator

WHOLE_LIMIT = 1 << 60
"""Integers are counted as 64-bit integers while their bounds keep below this."""

FARTHEST = 1 << 62
"""Integers beyond this count as this: beyond all bounds, and well within 64 bits."""

HALF = 0.5

_LOSSLESS = 1 << 46
_LARGEST = sys.float_info.max
_INFINITE = float("inf")


@dataclass(frozen=True, slots=True, kw_only=True)
class WholeQuantiser:
    """A grid of whole steps over whole numbers; ``floors`` counts only full steps."""

    lower: int
    upper: int
    step: int
    steps: int
    fill: int | None
    floors: bool = False

    def __str__(self) -> str:
        return _described(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class RealQuantiser:
    """A grid over doubles; ``overshoots`` when rounding may leave 0..steps."""

    lower: float
    upper: float
    scale: float
    steps: int
    fill: int | None
    overshoots: bool

    def __str__(self) -> str:
        return _described(self)


Quantiser = WholeQuantiser | RealQuantiser


@dataclass(frozen=True, slots=True, kw_only=True)
class Bins:
    """Where the bins of a histogram start; the last of them ends at ``end``, closed.

    With a quantiser the cells are counted in its steps; else they are clamped doubles.
    """

    starts: tuple[int, ...] | tuple[float, ...]
    end: int | float
    quantiser: Quantiser | None
    lower: float
    upper: float
    fill: float | None

    def number(self, cell: float) -> str:
        """Return the number that a start or the end stands for, as people write it."""
        if self.quantiser is None:
            return f"{cell:.12g}"
        share = Fraction(cell) / self.quantiser.steps
        lower, upper = Fraction(self.lower), Fraction(self.upper)
        return f"{double(lower + share * (upper - lower)):.12g}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Interval:
    """A closed interval of canonical cells; empty when lower > upper.

    None stands for an end that is not there.
    """

    lower: int | float | None
    upper: int | float | None


def is_whole(column: NumberColumn) -> bool:
    """Tell whether the cells of the column are taken as 64-bit integers."""
    farthest = max(abs(column.lower), abs(column.upper))
    return column.type is NumberType.INTEGER and farthest <= WHOLE_LIMIT


def quantiser(column: NumberColumn, steps: int, *, floors: bool = False) -> Quantiser:
    """Return how the cells of a column are counted in so many steps.

    If ``floors``, each counts its full steps; else the nearest number of steps.
    """
    fill = None
    if isinstance(column.nulls, FillNulls):
        nearest = 0 if floors else Fraction(1, 2)
        above = column.nulls.value - column.lower
        share = above / (_width(column) or 1)
        fill = (share * steps + nearest).__floor__()
    step = column.step
    if step is not None and is_whole(column) and steps * step == _width(column):
        return WholeQuantiser(
            lower=int(column.lower),
            upper=int(column.upper),
            step=int(step),
            steps=steps,
            fill=fill,
            floors=floors,
        )
    lower, upper = double(column.lower), double(column.upper)
    scale = double(steps / _width(column))
    # The operations are monotone, so the largest index is that of the upper bound.
    top = (upper - lower) * scale + HALF
    return RealQuantiser(
        lower=lower,
        upper=upper,
        scale=scale,
        steps=steps,
        fill=fill,
        overshoots=not top < steps + 1,
    )


def bins(
    column: NumberColumn, edges: Sequence[Fraction], *, grid: Quantiser | None = None
) -> Bins:
    """Return the bins of a histogram of the column.

    Integers and decimals are rounded to their steps first, and compared exactly; so is
    whatever has a ``grid`` of its own.
    """
    lower, upper = double(column.lower), double(column.upper)
    *starts, end = edges
    fill = column.nulls.value if isinstance(column.nulls, FillNulls) else None
    step = column.step
    if step is not None and (grid is not None or _width(column) / step <= _LOSSLESS):
        return Bins(
            starts=tuple(-((column.lower - e) / step).__floor__() for e in starts),
            end=((end - column.lower) / step).__floor__(),
            quantiser=grid or quantiser(column, int(_width(column) / step)),
            lower=lower,
            upper=upper,
            fill=None,
        )
    return Bins(
        starts=tuple(map(double, starts)),
        end=double(end),
        quantiser=None,
        lower=lower,
        upper=upper,
        fill=None if fill is None else double(fill),
    )


def interval(column: NumberColumn, operator: Operator, value: Fraction) -> Interval:
    """Return the cells for which ``cell operator value`` holds; not for UNEQUAL.

    Integers are compared exactly, others with the nearest double of the value. No
    integer is larger than the farthest, whatever it was stored as.
    """
    first: float
    last: float
    below: float
    above: float
    if is_whole(column):
        down, up, beyond = value.__floor__(), value.__ceil__(), FARTHEST + 1
        below, above = max(up - 1, -beyond), min(down + 1, beyond)
        first, last = min(up, beyond), max(down, -beyond)
    else:
        first = last = double(value)
        below = float(np.nextafter(first, -_INFINITE))
        above = float(np.nextafter(first, _INFINITE))
    match operator:
        case Operator.EQUAL:
            return Interval(lower=first, upper=last)
        case Operator.LESS:
            return Interval(lower=None, upper=below)
        case Operator.AT_MOST:
            return Interval(lower=None, upper=last)
        case Operator.GREATER:
            return Interval(lower=above, upper=None)
        case Operator.AT_LEAST:
            return Interval(lower=first, upper=None)
        case _:
            raise AssertionError("`!=` is a negation of `==`")


def double(x: Fraction) -> float:
    """Return the nearest double, the largest one where x lies beyond all of them."""
    try:
        return x.numerator / x.denominator
    except OverflowError:
        return _LARGEST if x > 0 else -_LARGEST


def _described(found: Quantiser) -> str:
    fill = "" if found.fill is None else f", null as step {found.fill}"
    if isinstance(found, WholeQuantiser) and found.floors:
        fill = f", full ones{fill}"
    return f"{found.lower:.12g} to {found.upper:.12g} in {found.steps} steps{fill}"


def _width(column: NumberColumn) -> Fraction:
    return column.upper - column.lower
