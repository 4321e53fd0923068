"""Steps by numpy: the formula of the grid, for every cell, without a warning."""

from __future__ import annotations

import sys
import warnings

import numpy as np
import polars as pl
import pytest

from dpql.curator.engines.steps import steps, whole_numbers, whole_steps
from dpql.curator.grid import Quantiser, RealQuantiser, WholeQuantiser

INFINITE = float("inf")
LARGEST = sys.float_info.max


def whole(step: int, fill: int | None) -> WholeQuantiser:
    """Return whole steps from -10 to 10."""
    return WholeQuantiser(lower=-10, upper=10, step=step, steps=20 // step, fill=fill)


def real(**changes: float | None) -> RealQuantiser:
    """Return a hundred steps from -10 to 10."""
    found = {"lower": -10.0, "upper": 10.0, "scale": 5.0, "steps": 100, "fill": None}
    return RealQuantiser(**{**found, "overshoots": False, **changes})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("quantiser", "cells", "expected"),
    [
        (whole(1, None), [-(1 << 62), -10, 0, 10, 1 << 62], [0, 0, 10, 20, 20]),
        (whole(1, 3), [None, -10], [3, 0]),
        (whole(4, None), [-9, -8, -7, 9], [0, 1, 1, 5]),
        (real(), [-INFINITE, -9.95, 0.0, INFINITE], [0, 0, 50, 100]),
        (real(scale=4.0, steps=80), [-9.875, -9.876], [1, 0]),
        (real(fill=7), [None, 10.0], [7, 100]),
    ],
)
def test_cells_are_clamped_and_rounded_to_steps(
    quantiser: Quantiser, cells: list[float | None], expected: list[int]
) -> None:
    """Bounds hold whatever the cell is; ties go up; a null takes the fill."""
    assert expected == steps(pl.Series(cells), quantiser).tolist()
    found = whole_steps(pl.Series(cells), quantiser)
    assert (expected, np.int64) == (found.tolist(), found.dtype)


def test_an_infinite_width_neither_warns_nor_passes_the_last_step() -> None:
    """Where doubles overflow, the cell takes the last step, as in exact numbers."""
    quantiser = real(lower=-LARGEST, upper=LARGEST, scale=3e-307, overshoots=True)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = steps(pl.Series([-LARGEST, LARGEST, INFINITE]), quantiser)
    assert [0, 100, 100] == found.tolist()
    assert [100] == whole_steps(pl.Series([LARGEST]), quantiser).tolist()


def test_a_step_beyond_the_last_one_is_the_last() -> None:
    """What rounding adds at the upper bound is cut off."""
    quantiser = real(scale=5.1, overshoots=True)
    assert [100] == steps(pl.Series([10.0]), quantiser).tolist()
    assert [100] == whole_steps(pl.Series([10.0]), quantiser).tolist()


def test_whole_cells_may_have_a_real_grid() -> None:
    """Integers without a whole step are counted as doubles."""
    assert [0, 55, 100] == steps(pl.Series([-10, 1, 10]), real()).tolist()


def test_a_fill_that_is_no_step_of_a_double_is_kept() -> None:
    """Where doubles are too coarse for the step of the fill, nulls take it still."""
    quantiser = real(lower=1e15, upper=1e15 + 1, scale=100.0, fill=33)
    assert [33, 50] == steps(pl.Series([None, 1e15 + 0.5]), quantiser).tolist()


def test_steps_beyond_whole_doubles_are_integers() -> None:
    """A grid finer than doubles ends at its last step exactly."""
    last = (1 << 60) - 1
    quantiser = real(lower=0.0, upper=1.0, scale=2.0**60, steps=last, overshoots=True)
    assert [0, last] == steps(pl.Series([0.0, 1.0]), quantiser).tolist()
    assert [0, last] == whole_steps(pl.Series([0.0, 1.0]), quantiser).tolist()


def test_whole_cells_move_to_their_bounds_in_an_array_of_their_own() -> None:
    """Nulls are anywhere within; the batch does not change with the array."""
    cells = pl.Series([-11, 3, 11, None])
    found = whole_numbers(cells, whole(1, None))
    assert [-10, 3, 10, -10] == found.tolist()
    found[:] = 7
    assert [-11, 3, 11, None] == cells.to_list()
