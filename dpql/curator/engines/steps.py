"""Whole steps that stand for the cells of a column, by numpy in place.

numpy does with one array what polars does with a new one for each operation, which
takes several times as long. Whatever the cells are, nothing warns and no step is beyond
the last one. Doubles hold whole numbers below 2**53, so steps of real numbers stay
doubles where there are no more of them.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from dpql.curator.grid import FARTHEST, HALF, Quantiser, RealQuantiser, WholeQuantiser

_WHOLE_DOUBLES = 1 << 53


def cells_of(batch: pl.DataFrame, name: str) -> pl.Series:
    """Return a column of a batch, by another name: polars takes some for patterns."""
    return batch.get_column(name).alias("cell")


def steps(cells: pl.Series, quantiser: Quantiser) -> NDArray[Any]:
    """Return the steps of canonical cells, 0 to the last one, integers or doubles.

    A null cell has those of the fill; where there is none it has any, and the caller
    leaves the row out.
    """
    null, is_step = null_number(quantiser)
    found = quantised(above(_numbers(cells, quantiser, null), quantiser), quantiser)
    return found if is_step else filled(found, cells.is_null(), quantiser)


def whole_steps(cells: pl.Series, quantiser: Quantiser) -> NDArray[np.int64]:
    """Return the same steps as integers."""
    if isinstance(quantiser, WholeQuantiser) or quantiser.fill is not None:
        return steps(cells, quantiser).astype(np.int64, copy=False)
    with np.errstate(all="ignore"):
        distances = above(_numbers(cells, quantiser, quantiser.lower), quantiser)
        return _cut(_scaled(distances, quantiser, distances), quantiser)


def whole_numbers(cells: pl.Series, quantiser: WholeQuantiser) -> NDArray[Any]:
    """Return whole cells as a new array, each moved to the bound that it is beyond.

    A null cell has any number within the bounds.
    """
    return clamped(cells.fill_null(quantiser.lower).to_numpy(), quantiser)


def above(numbers: NDArray[Any], quantiser: Quantiser) -> NDArray[Any]:
    """Return how far numbers lie above the lower bound, none beyond the upper one."""
    with np.errstate(all="ignore"):
        found = clamped(numbers, quantiser)
        found -= quantiser.lower
    return found


def quantised(distances: NDArray[Any], quantiser: Quantiser) -> NDArray[Any]:
    """Return the steps of what `above` returns, which is left as it is."""
    if isinstance(quantiser, WholeQuantiser):
        return _of_whole(distances, quantiser)
    with np.errstate(all="ignore"):
        return _of_real(distances, quantiser)


def filled(
    found: NDArray[Any], absent: pl.Series, quantiser: Quantiser
) -> NDArray[Any]:
    """Return steps, those of the fill where cells are absent."""
    assert quantiser.fill is not None, "others have any steps"
    np.putmask(found, absent.to_numpy(), quantiser.fill)
    return found


@cache
def null_number(quantiser: Quantiser) -> tuple[float, bool]:
    """Return what stands for a null, and whether its steps are those of a null.

    They are where no fill is declared, since any will do.
    """
    fill = quantiser.fill
    if fill is None:
        return quantiser.lower, True
    if isinstance(quantiser, WholeQuantiser):
        return quantiser.lower + fill * quantiser.step, True
    number = quantiser.lower + fill / quantiser.scale
    found = quantised(above(np.array([number]), quantiser), quantiser)
    return (number, True) if found[0] == fill else (quantiser.lower, False)


def clamped(numbers: NDArray[Any], quantiser: Quantiser) -> NDArray[Any]:
    """Return a copy of the numbers, each moved to the bound that it is beyond."""
    inside: NDArray[Any] = np.clip(numbers, quantiser.lower, quantiser.upper)
    return inside


def _numbers(cells: pl.Series, quantiser: Quantiser, null: float) -> NDArray[Any]:
    if isinstance(quantiser, RealQuantiser):
        cells = cells.cast(pl.Float64)
    return cells.fill_null(null).to_numpy()


def _of_whole(distances: NDArray[Any], quantiser: WholeQuantiser) -> NDArray[Any]:
    if quantiser.floors:
        full: NDArray[Any] = distances // quantiser.step
        return full
    if quantiser.step == 1:
        return distances
    found = distances * 2
    found += quantiser.step
    found //= 2 * quantiser.step
    return found


def _of_real(distances: NDArray[Any], quantiser: RealQuantiser) -> NDArray[Any]:
    found = _scaled(distances, quantiser, None)
    if quantiser.steps <= _WHOLE_DOUBLES:
        if quantiser.overshoots:
            np.minimum(found, quantiser.steps, out=found)
        np.floor(found, out=found)
        return found
    return _cut(found, quantiser)


def _scaled(
    distances: NDArray[Any], quantiser: RealQuantiser, out: NDArray[Any] | None
) -> NDArray[np.float64]:
    """Return the steps of distances, and a half."""
    found: NDArray[np.float64] = np.multiply(distances, quantiser.scale, out=out)
    found += HALF
    return found


def _cut(scaled: NDArray[np.float64], quantiser: RealQuantiser) -> NDArray[np.int64]:
    if quantiser.overshoots:
        np.minimum(scaled, FARTHEST, out=scaled)
    # What is cast is at least 1/2, so cutting off the fraction is the floor.
    found: NDArray[Any] = scaled.astype(np.int64)
    if quantiser.overshoots or quantiser.steps > _WHOLE_DOUBLES:
        np.minimum(found, quantiser.steps, out=found)
    return found
