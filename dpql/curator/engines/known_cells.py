"""Cells of a batch that may be unknown, and what follows from them.

Nothing here raises or warns; where a cell is unknown, any number may stand. An array
that can be written is nobody else's, so a result may take its place: new memory costs
more than the arithmetic. What is held for later is made read-only.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpql.curator.grid import FARTHEST, Interval
from dpql.model.expression import Operator

Flags = NDArray[np.bool_]

Cells = tuple[NDArray[Any], Flags | None]
"""Numbers, codes or truth values, and where they are known; None is everywhere."""

_BEYOND = 3 * FARTHEST // 2
"""A number beyond all whole cells, and within 64 bits."""

COMPARE: Mapping[Operator, Callable[[Any, Any], Any]] = MappingProxyType(
    {
        Operator.EQUAL: np.equal,
        Operator.UNEQUAL: np.not_equal,
        Operator.LESS: np.less,
        Operator.AT_MOST: np.less_equal,
        Operator.GREATER: np.greater,
        Operator.AT_LEAST: np.greater_equal,
    }
)
_MIRRORED: Mapping[Operator, Operator] = MappingProxyType(
    {
        Operator.EQUAL: Operator.EQUAL,
        Operator.UNEQUAL: Operator.UNEQUAL,
        Operator.LESS: Operator.GREATER,
        Operator.AT_MOST: Operator.AT_LEAST,
        Operator.GREATER: Operator.LESS,
        Operator.AT_LEAST: Operator.AT_MOST,
    }
)


def held(cells: Cells) -> Cells:
    """Return cells whose numbers nobody may change."""
    cells[0].flags.writeable = False
    return cells


def affine(number: NDArray[Any], scale: int, offset: int) -> NDArray[Any]:
    """Return ``scale * number + offset``."""
    if scale != 1:
        number = np.multiply(number, scale, out=_spare(number))
    return number if offset == 0 else np.add(number, offset, out=_spare(number))


def combined(operation: Any, left: NDArray[Any], right: NDArray[Any]) -> NDArray[Any]:
    """Return what a ufunc makes of two arrays of integers."""
    spare = _spare(left)
    found: NDArray[Any] = operation(
        left, right, out=_spare(right) if spare is None else spare
    )
    return found


def _spare(number: NDArray[Any]) -> NDArray[Any] | None:
    return number if number.flags.writeable else None


def flags(known: Flags | None, like: NDArray[Any]) -> Flags:
    """Return where something is known, for so many rows."""
    return np.ones(len(like), np.bool_) if known is None else known


def both(one: Flags | None, other: Flags | None) -> Flags | None:
    """Return where both are known."""
    if one is None or other is None:
        return other if one is None else one
    return one & other


def kleene_and(one: Cells, other: Cells) -> Cells:
    """Return where both are true: known if both are, or if one is known to be false."""
    (left, known), (right, also) = one, other
    if known is None and also is None:
        return left & right, None
    known, also = flags(known, left), flags(also, left)
    true = left & known & right & also
    return true, true | (known & ~left) | (also & ~right)


def or_missing(true: Flags, known: Flags | None, *, missing: bool | None) -> Cells:
    """Return a test of cells, and what is said of missing ones."""
    if missing is None or known is None:
        return true, known
    return np.where(known, true, missing), None


def within(cells: NDArray[Any], ends: Interval) -> Flags:
    """Return which cells lie in an interval."""
    true = np.ones(len(cells), np.bool_)
    if ends.lower is not None:
        true &= cells >= ends.lower
    if ends.upper is not None:
        true &= cells <= ends.upper
    return true


def band(
    number: NDArray[Any], starts: tuple[Any, ...], end: float, known: Flags | None
) -> Cells:
    """Return the last start that a number reaches; unknown outside all bands."""
    reached = np.searchsorted(np.array(starts), number, side="right")
    inside = (reached > 0) & (number <= end)
    return np.where(inside, reached - 1, 0), both(known, inside)


def compared(left: NDArray[Any], operator: Operator, right: NDArray[Any]) -> Flags:
    """Return how cells compare; integers and doubles exactly, whatever their size."""
    floats = [cells.dtype.kind == "f" for cells in (left, right)]
    if floats == [False, True]:
        return _against_doubles(left, operator, right)
    if floats == [True, False]:
        return _against_doubles(right, _MIRRORED[operator], left)
    found: Flags = COMPARE[operator](left, right)
    return found


def _against_doubles(
    whole: NDArray[Any], operator: Operator, doubles: NDArray[Any]
) -> Flags:
    """Return how integers, none beyond 2^62, compare with doubles.

    An integer is at most a double if it is at most its floor, which is an integer.
    """
    inside = np.clip(doubles, -_BEYOND, _BEYOND)
    floor, ceiling = (end(inside).astype(np.int64) for end in (np.floor, np.ceil))
    match operator:
        case Operator.AT_MOST | Operator.GREATER:
            found: Flags = COMPARE[operator](whole, floor)
        case Operator.LESS | Operator.AT_LEAST:
            found = COMPARE[operator](whole, ceiling)
        case _:
            found = (whole == floor) & (floor == ceiling)
            found ^= operator is Operator.UNEQUAL
    return found
