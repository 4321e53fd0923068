"""Whole steps that stand for the cells of a column, by numpy in place.

numpy does with one array what polars does with a new one for each operation, which
takes several times as long. Whatever the cells are, nothing warns and no step is beyond
the last one. Doubles hold whole numbers below 2**53, so steps of real numbers stay
doubles where there are no more of them.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from dpql.curator.factors import Factor
from dpql.curator.grid import FARTHEST, HALF, Quantiser, RealQuantiser, WholeQuantiser

_WHOLE_DOUBLES = 1 << 53


def steps(cells: pl.Series, quantiser: Quantiser) -> NDArray[Any]:
    """Return the steps of canonical cells, 0 to the last one, integers or doubles.

    A null cell has those of the fill; where there is none it has any, and the caller
    leaves the row out.
    """
    stand_in = _stand_in(quantiser)
    null = quantiser.lower if stand_in is None else stand_in
    found = _quantised(cells, quantiser, null)
    if quantiser.fill is not None and stand_in is None:
        np.putmask(found, cells.is_null().to_numpy(), quantiser.fill)
    return found


def whole_steps(cells: pl.Series, quantiser: Quantiser) -> NDArray[np.int64]:
    """Return the same steps as integers."""
    if isinstance(quantiser, WholeQuantiser) or quantiser.fill is not None:
        return steps(cells, quantiser).astype(np.int64, copy=False)
    with np.errstate(all="ignore"):
        numbers = cells.cast(pl.Float64).fill_null(quantiser.lower).to_numpy()
        return _cut(_above(numbers, quantiser), quantiser)


def whole_numbers(cells: pl.Series, quantiser: WholeQuantiser) -> NDArray[Any]:
    """Return whole cells as a new array, each moved to the bound that it is beyond.

    A null cell has any number within the bounds.
    """
    return clamped(cells.fill_null(quantiser.lower).to_numpy(), quantiser)


def factor_steps(
    batch: pl.DataFrame, factors: Iterable[Factor]
) -> dict[Factor, NDArray[Any]]:
    """Return the steps of each factor in a batch of canonical columns."""
    return {x: steps(batch.get_column(x.column), x.quantiser) for x in factors}


@cache
def _stand_in(quantiser: Quantiser) -> float | None:
    """Return a number whose step is the fill, if there is one."""
    fill = quantiser.fill
    if fill is None:
        return None
    if isinstance(quantiser, WholeQuantiser):
        return quantiser.lower + fill * quantiser.step
    number = quantiser.lower + fill / quantiser.scale
    found = _quantised(pl.Series([number]), quantiser, number)
    return number if found[0] == fill else None


def _quantised(cells: pl.Series, quantiser: Quantiser, null: float) -> NDArray[Any]:
    with np.errstate(all="ignore"):
        if isinstance(quantiser, WholeQuantiser):
            return _of_whole(cells.fill_null(null).to_numpy(), quantiser)
        return _of_real(cells.cast(pl.Float64).fill_null(null).to_numpy(), quantiser)


def clamped(numbers: NDArray[Any], quantiser: Quantiser) -> NDArray[Any]:
    """Return a copy of the numbers, each moved to the bound that it is beyond."""
    inside: NDArray[Any] = np.clip(numbers, quantiser.lower, quantiser.upper)
    return inside


def _of_whole(numbers: NDArray[Any], quantiser: WholeQuantiser) -> NDArray[Any]:
    found = clamped(numbers, quantiser)
    found -= quantiser.lower
    if quantiser.floors:
        found //= quantiser.step
    elif quantiser.step != 1:
        found *= 2
        found += quantiser.step
        found //= 2 * quantiser.step
    return found


def _of_real(numbers: NDArray[Any], quantiser: RealQuantiser) -> NDArray[Any]:
    above = _above(numbers, quantiser)
    if quantiser.steps <= _WHOLE_DOUBLES:
        if quantiser.overshoots:
            np.minimum(above, quantiser.steps, out=above)
        np.floor(above, out=above)
        return above
    return _cut(above, quantiser)


def _above(numbers: NDArray[Any], quantiser: RealQuantiser) -> NDArray[np.float64]:
    """Return the steps of doubles above the lower bound, and a half."""
    above = clamped(numbers, quantiser)
    above -= quantiser.lower
    above *= quantiser.scale
    above += HALF
    return above


def _cut(above: NDArray[np.float64], quantiser: RealQuantiser) -> NDArray[np.int64]:
    if quantiser.overshoots:
        np.minimum(above, FARTHEST, out=above)
    # What is cast is at least 1/2, so cutting off the fraction is the floor.
    found: NDArray[Any] = above.astype(np.int64)
    if quantiser.overshoots or quantiser.steps > _WHOLE_DOUBLES:
        np.minimum(found, quantiser.steps, out=found)
    return found
