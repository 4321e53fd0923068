"""From a declared column to the numbers an engine needs to count its cells in steps.

    integer    u = floor((clamp(i) - lower) / step + 1/2),   in whole numbers
    others     u = floor((clamp(x) - a) * s + 1/2),          in doubles

    i, x     the integer nearest to the cell, ties up, or the double nearest to it
    a, s     lower bound and steps per unit, each the nearest double

A cell without a number (missing, NaN, not of its type) takes the index of the declared
fill, or is left out. Cells come as doubles, so this module has doubles, unlike the rest
of the curator. Rounding them costs no privacy: u is a function of its own row and lies
in 0..steps; its error is part of the plan's accuracy.
Source: MATH 5, quantiser.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from dpql.model.plan import Grid
from dpql.model.spec import FillNulls, NumberColumn, NumberType

WHOLE_LIMIT = 1 << 60
"""Integers are counted as 64-bit integers while their bounds keep below this."""

FARTHEST = 1 << 62
"""Integers beyond this count as this: beyond all bounds, and well within 64 bits."""

HALF = 0.5

_LOSSLESS = 1 << 46
_LARGEST = sys.float_info.max


@dataclass(frozen=True, slots=True, kw_only=True)
class Whole:
    """A grid of whole steps over whole numbers."""

    lower: int
    upper: int
    step: int
    steps: int
    fill: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Scaled:
    """A grid over doubles; ``overshoots`` when rounding may leave 0..steps."""

    lower: float
    upper: float
    scale: float
    steps: int
    fill: int | None
    overshoots: bool


Ruler = Whole | Scaled


@dataclass(frozen=True, slots=True, kw_only=True)
class Cuts:
    """Where the bins of a histogram start; the last of them ends at ``end``, closed.

    With a ruler the numbers are counted in its steps; else they are clamped doubles.
    """

    starts: tuple[int, ...] | tuple[float, ...]
    end: int | float
    ruler: Ruler | None
    lower: float
    upper: float
    fill: float | None


def is_whole(column: NumberColumn) -> bool:
    """Tell whether the cells of the column are taken as 64-bit integers."""
    farthest = max(abs(column.lower), abs(column.upper))
    return column.type is NumberType.INTEGER and farthest <= WHOLE_LIMIT


def ruler(column: NumberColumn, steps: int) -> Ruler:
    """Return how the cells of a column are counted in so many steps."""
    fill = None
    if isinstance(column.nulls, FillNulls):
        share = (column.nulls.value - column.lower) / (column.upper - column.lower)
        fill = (share * steps + Fraction(1, 2)).__floor__()
    step = column.step
    if step is not None and is_whole(column) and steps * step == _width(column):
        return Whole(
            lower=int(column.lower),
            upper=int(column.upper),
            step=int(step),
            steps=steps,
            fill=fill,
        )
    lower, upper = double(column.lower), double(column.upper)
    scale = double(steps / _width(column))
    # The operations are monotone, so the largest index is that of the upper bound.
    top = (upper - lower) * scale + HALF
    return Scaled(
        lower=lower,
        upper=upper,
        scale=scale,
        steps=steps,
        fill=fill,
        overshoots=not top < steps + 1,
    )


def ruler_of(column: NumberColumn, grid: Grid) -> Ruler:
    """Return how the cells of a column are counted on a grid of the plan."""
    return ruler(column, grid.steps)


def cuts(column: NumberColumn, edges: Sequence[Fraction]) -> Cuts:
    """Return where a histogram of the column cuts.

    Integers and decimals are rounded to their steps first, and compared exactly.
    """
    lower, upper = double(column.lower), double(column.upper)
    *starts, end = edges
    fill = column.nulls.value if isinstance(column.nulls, FillNulls) else None
    step = column.step
    if step is not None and _width(column) / step <= _LOSSLESS:
        return Cuts(
            starts=tuple(-((column.lower - e) / step).__floor__() for e in starts),
            end=((end - column.lower) / step).__floor__(),
            ruler=ruler(column, int(_width(column) / step)),
            lower=lower,
            upper=upper,
            fill=None,
        )
    return Cuts(
        starts=tuple(map(double, starts)),
        end=double(end),
        ruler=None,
        lower=lower,
        upper=upper,
        fill=None if fill is None else double(fill),
    )


def double(x: Fraction) -> float:
    """Return the nearest double, the largest one where x lies beyond all of them."""
    try:
        return x.numerator / x.denominator
    except OverflowError:
        return _LARGEST if x > 0 else -_LARGEST


def _width(column: NumberColumn) -> Fraction:
    return column.upper - column.lower
