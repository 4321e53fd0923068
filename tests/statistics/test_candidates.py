"""The values a quantile may take: all of a grid, or every so many of a fine one."""

from __future__ import annotations

from fractions import Fraction

import pytest
from spec_text import make_spec

from dpql.model.plan import Grid
from dpql.planner import plan
from dpql.statistics.candidates import candidates


def _grid(steps: int, error: str = "0") -> Grid:
    return Grid(
        column="x",
        lower=Fraction(-5),
        upper=Fraction(-5) + steps * Fraction(1, 4),
        steps=steps,
        error=Fraction(error),
    )


@pytest.mark.parametrize(
    ("steps", "cells", "stride", "count"),
    [
        (1, 1, 1, 2),
        (65_536, 1, 1, 65_537),
        (65_537, 1, 2, 32_770),
        (65_536, 2048, 2, 32_769),
        (1 << 46, 1, 1 << 30, 65_537),
        (3, 1 << 40, 8, 1),
    ],
)
def test_strides(steps: int, cells: int, stride: int, count: int) -> None:
    """Up to 65,537 candidates a cell, and 2**27 in all, if that can be."""
    found = candidates(_grid(steps), cells)
    assert (stride, count) == (found.stride, found.count)


@pytest.mark.parametrize(("steps", "cells"), [(7, 1), (100, 1 << 23), (65_537, 1)])
def test_every_value_has_its_nearest_candidate(steps: int, cells: int) -> None:
    """Candidates cover the grid in order, and none is farther than the error."""
    found = candidates(_grid(steps), cells)
    assert 0 == found.index(0)
    assert found.count - 1 == found.index(steps)
    assert found.grid.lower == found.value(0)
    step = found.grid.step
    for u in range(0, steps + 1, max(1, steps // 2000)):
        index = found.index(u)
        assert abs(found.value(index) - (found.grid.lower + u * step)) <= found.error
        assert found.value(index) <= found.grid.upper


def test_statistics_that_choose_share_the_candidates() -> None:
    """Together they have at most 2**27 candidates, so their memory has a bound."""
    columns = {
        "g": f"{{type: category, keys: [{', '.join(f'k{i}' for i in range(1024))}]}}",
        "x": "{type: integer, bounds: [0, 65536], nulls: drop}",
    }
    median = {"median": "x", "by": "[g]", "spend": "{share: 1}"}
    for count, stride in ((1, 1), (2, 2), (3, 2)):
        statistics = {f"it{i}": median for i in range(count)}
        statistics["all"] = {"count": "rows", "spend": "{share: 1}"}
        made = plan(make_spec(columns, statistics, epsilon="9"))
        assert {stride} == {step.readout.stride for step in made.steps if step.picks}
        inside = sum(step.cells * step.readout.candidates for step in made.steps[:-1])
        assert inside <= 1 << 27


def test_the_error_of_the_grid_is_added() -> None:
    """Half a stride and the error of the grid: how far a row may be."""
    assert 0 == candidates(_grid(10), 1).error
    assert Fraction(1, 8) == candidates(_grid(10, "1/2"), 1).error
    assert Fraction(3, 8) == candidates(_grid(65_537, "1/2"), 1).error
