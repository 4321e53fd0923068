"""Steps and bins of SQL are those of the grids, at every edge and beside it."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import polars as pl
import reference_engine as reference
from databases import Database
from exact_sums import exact_sums, same
from spec_text import make_spec

from dpql.planner import plan


def _beside(edges: list[float]) -> list[float]:
    """Return the edges, and the doubles before and after each."""
    ends = (np.nextafter(edges, toward) for toward in (-np.inf, np.inf))
    return [*edges, *(float(x) for end in ends for x in end)]


def _agrees(
    columns: dict[str, str], statistics: Any, database: Database, frame: Any
) -> None:
    made = plan(make_spec(columns, statistics, epsilon="10"))
    found = exact_sums(made, database.write(frame), engine=database.engine)
    same(made, exact_sums(made, frame, engine=reference), found)


def test_bins_are_found_at_their_edges(database: Database) -> None:
    """Evenly spaced or not, whole, binary or decimal: every edge and its neighbours."""
    random_ = random.Random(7)
    sets = [
        [-50.0 + 2 * i for i in range(51)],
        [0.1 * i for i in range(40)],
        [0.25 * i for i in range(13)],
        sorted({round(random_.uniform(-40, 90), 3) for _ in range(70)}),
        [-3.0, 0.0, 0.1, 20.0],
    ]
    asked = {
        f"h{index}": {
            "histogram": "x",
            "bins": "[" + ", ".join(f"{edge:.10g}" for edge in edges) + "]",
            "spend": "{share: 1}",
        }
        for index, edges in enumerate(sets)
    }
    cells = [x for edges in sets for x in _beside([float(f"{e:.10g}") for e in edges])]
    frame = pl.DataFrame({"x": [*cells, None, float("nan"), 1e308, -1e308, 5e-324]})
    for nulls in ("drop", "{as: 0.1}"):
        columns = {"x": f"{{type: float, bounds: [-60, 95], nulls: {nulls}}}"}
        _agrees(columns, asked, database, frame)


def test_whole_bins_count_whole_steps(database: Database) -> None:
    """Integers with steps and fills, at every number and beyond the bounds."""
    frame = pl.DataFrame({"x": [*range(-20, 30), None, 2**63 - 1, -(2**63)]})
    for step, nulls in ((1, "drop"), (5, "{as: 3}"), (3, "drop")):
        declared = f"{{type: integer, bounds: [-5, 10], step: {step}, nulls: {nulls}}}"
        asked = {
            "bins": {"histogram": "x", "bins": "[-5, -4, 0, 3, 10]"},
            "total": {"sum": "x"},
            "middle": {"median": "x"},
        }
        shared = {name: {**one, "spend": "{share: 1}"} for name, one in asked.items()}
        _agrees({"x": declared}, shared, database, frame)


def test_bounds_beyond_the_stored_type(database: Database) -> None:
    """A bound that no stored cell reaches takes part in no cast."""
    frame = pl.DataFrame({"x": pl.Series([-128, 127, 0, None], dtype=pl.Int16)})
    for bounds in ("[-1e15, 1e15]", "[200, 3e9]"):
        declared = f"{{type: integer, bounds: {bounds}, nulls: drop}}"
        asked = {
            "total": {"sum": "x", "where": "x >= 0 or x < 4e12", "spend": "{share: 1}"}
        }
        _agrees({"x": declared}, asked, database, frame)


def test_numbers_that_would_underflow(database: Database) -> None:
    """1e-300 times a scale of 1e-300 is 0, which PostgreSQL would refuse to say."""
    tiny = [1e-300, 5e-324, -1e-300, 2.2250738585072014e-308, 0.0, 1e300, -1e308]
    frame = pl.DataFrame({"x": [*tiny, *_beside([0.25 * 2e307, 1e307, 1e292])]})
    declared = "{type: float, bounds: [0, 2e307], nulls: drop}"
    asked = {
        "total": {"sum": "x", "spend": "{share: 1}"},
        "spread": {"variance": "x", "spend": "{share: 1}"},
    }
    _agrees({"x": declared}, asked, database, frame)


def test_comparisons_with_numbers_beyond_all_cells(database: Database) -> None:
    """Integers beyond 2^62 count as 2^62, on both sides of a comparison."""
    frame = pl.DataFrame({"x": [2**63 - 1, 2**62, 2**62 - 1, -(2**63), 0, None]})
    declared = "{type: integer, bounds: [0, 1e18], nulls: drop}"
    values = ["4611686018427387904", "4611686018427387905", "9e18", "1e30", "-9e18"]
    asked = {
        f"c{index}": {
            "count": "rows",
            "where": f"x {sign} {value}",
            "spend": "{share: 1}",
        }
        for index, (sign, value) in enumerate(
            (sign, value)
            for sign in ("==", "!=", "<", "<=", ">", ">=")
            for value in values
        )
    }
    _agrees({"x": declared}, asked, database, frame)
