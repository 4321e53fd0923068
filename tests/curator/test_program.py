"""A program says what is summed, decided by the plan alone, in words for a reviewer."""

from __future__ import annotations

from pathlib import Path

import pytest
from curator_plans import known_unit_plan, unit_plan
from spec_text import make_spec

from dpql.api import load, plan
from dpql.curator.compilation import compile_program
from dpql.curator.program import BinAxis, KeyAxis, Program
from dpql.planner import plan as planned

SPECS = sorted((Path(__file__).parents[2] / "specs").glob("*.yaml"))
GOLDEN = Path(__file__).parent / "programs"
"""What `str(program)` says of each spec of the gallery, to be read in a review."""


def _program(where: str = "", **asked: str) -> Program:
    """Return the program of one statistic."""
    statistic = asked or {"count": "rows"}
    if where:
        statistic["where"] = where
    return compile_program(
        planned(
            make_spec(
                {
                    "kind": "{type: category, keys: [a, b, c]}",
                    "side": "{type: category, keys: [left, right]}",
                    "x": "{type: integer, bounds: [0, 100], nulls: drop}",
                    "y": "{type: float, bounds: [0, 100], nulls: {as: 25}}",
                },
                {"asked": {**statistic, "spend": "{share: 1}"}},
            )
        )
    )


def _lines(program: Program) -> list[str]:
    """Return what a program says of its only statistic."""
    return str(program).partition("asked\n  ")[2].split("\n  ")


@pytest.mark.golden
@pytest.mark.parametrize("spec", SPECS, ids=lambda spec: spec.stem)
def test_a_program_reads_as_it_did(spec: Path) -> None:
    """The words of every program of the gallery are those that were reviewed."""
    expected = (GOLDEN / f"{spec.stem}.txt").read_text("utf-8")
    assert expected == str(compile_program(plan(load(spec))))


def test_every_spec_has_a_golden_program() -> None:
    """No spec is without a golden text, and no text without a spec."""
    found = {path.stem for path in GOLDEN.iterdir()}
    assert {spec.stem for spec in SPECS} == found


def test_cells_are_the_product_of_the_axes() -> None:
    """Axes keep the order of the plan; the last one is the fastest."""
    program = _program(by="[kind, side]", histogram="x", bins="[0, 10, 50, 60, 100]")
    selection = program.tallies[0].selection
    kind, side, found = selection.axes
    assert (KeyAxis("kind", 3), KeyAxis("side", 2)) == (kind, side)
    assert isinstance(found, BinAxis)
    assert 24 == selection.cells
    assert (8, 4, 1) == selection.strides
    words = "kind (3 keys) x side (2 keys) x x (4 bins: 0, 10, 50, 60, 100)"
    assert f"cells   24 = {words}" in _lines(program)


def test_bins_of_doubles_and_long_lists_are_shown() -> None:
    """Bins are said in the numbers of the column, only the ends of many."""
    few = _program(histogram="y", bins="[0, 0.1, 12.5, 100]")
    assert "cells   3 = y (3 bins: 0, 0.1, 12.5, 100)" in _lines(few)
    many = _program(histogram="y", bins=f"[{', '.join(map(str, range(101)))}]")
    assert "cells   100 = y (100 bins: 0, 1, ..., 100)" in _lines(many)


def test_moments_multiply_factors() -> None:
    """Sums of squares and products are of whole steps; their largest term is known."""
    (tally,) = _program(variance="x").tallies
    assert {"n": 1, "u": 100, "uu": 10_000} == {
        x.name: x.largest for x in tally.moments
    }
    lines = _lines(_program(variance="x"))
    assert "drops   rows in which x is null" in lines
    assert "steps   x 0 to 100 in 100 steps" in lines
    assert "sums    rows, x, x * x\n" == lines[-1]


def test_a_fill_is_a_step() -> None:
    """A null that counts as a number says as which step."""
    (line,) = (x for x in _lines(_program(sum="y")) if x.startswith("steps"))
    steps = int(line.split()[6])
    assert f"steps   y 0 to 100 in {steps} steps, null as step {steps // 4}" == line


def test_bounds_of_units_are_said() -> None:
    """A bound on cells is at most the number of cells there are."""
    text = str(compile_program(unit_plan(2, 3)))
    assert "unit    person\n" in text
    assert "keeps   at most 2 rows of a unit in each of at most 3 cells" in text
    assert "keeps   at most 2 rows of a unit in each of at most 1 cell\n" in text
    assert "rows    exactly 8, as declared\n" in str(
        compile_program(known_unit_plan(8))
    )
