"""Whole steps that stand for the cells of a column, by numpy in place.

numpy does with one array what polars does with a new one for each operation, which
takes several times as long. Whatever the cells are, nothing warns and no step is beyond
the last one.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from dpql.curator.engines.totals import Integers
from dpql.curator.grid import FARTHEST, HALF, Quantiser, RealQuantiser, WholeQuantiser


def steps(cells: pl.Series, quantiser: Quantiser) -> Integers:
    """Return the steps of canonical cells, 0 to the last one.

    A null cell has those of the fill; where there is none it has any, and the caller
    leaves the row out.
    """
    with np.errstate(all="ignore"):
        found = (
            _of_whole(cells, quantiser)
            if isinstance(quantiser, WholeQuantiser)
            else _of_real(cells, quantiser)
        )
    if quantiser.fill is not None:
        np.putmask(found, cells.is_null().to_numpy(), quantiser.fill)
    return found


def clamped(numbers: NDArray[Any], quantiser: Quantiser) -> NDArray[Any]:
    """Return a copy of the numbers, each moved to the bound that it is beyond."""
    inside: NDArray[Any] = np.clip(numbers, quantiser.lower, quantiser.upper)
    return inside


def _of_whole(cells: pl.Series, quantiser: WholeQuantiser) -> Integers:
    numbers = cells.fill_null(quantiser.lower).to_numpy()
    found: Integers = clamped(numbers, quantiser)
    found -= quantiser.lower
    if quantiser.step != 1:
        found *= 2
        found += quantiser.step
        found //= 2 * quantiser.step
    return found


def _of_real(cells: pl.Series, quantiser: RealQuantiser) -> Integers:
    numbers = cells.cast(pl.Float64).fill_null(quantiser.lower).to_numpy()
    above = clamped(numbers, quantiser)
    above -= quantiser.lower
    above *= quantiser.scale
    above += HALF
    if quantiser.overshoots:
        np.minimum(above, FARTHEST, out=above)
    # What is cast is at least 1/2, so cutting off the fraction is the floor.
    found: Integers = above.astype(np.int64)
    if quantiser.overshoots:
        np.minimum(found, quantiser.steps, out=found)
    return found
