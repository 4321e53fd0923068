"""Expressions of polars say what a program says, at every end of every type."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import polars as pl
import pytest
import reference_engine as reference
from curator_plans import known_plan, row_plan, unit_plan
from exact_sums import exact_sums
from hypothesis import given, settings
from hypothesis import strategies as st
from spec_text import make_spec

from dpql.curator.compilation import compile_program
from dpql.curator.engines import polars_expressions
from dpql.curator.engines.polars_expressions import Expressions, unsigned
from dpql.model.plan import Plan
from dpql.planner import plan


@pytest.mark.parametrize(
    ("largest", "expected"),
    [
        (1, pl.UInt8),
        (255, pl.UInt8),
        (256, pl.UInt16),
        (65_535, pl.UInt16),
        (65_536, pl.UInt32),
        ((1 << 32) - 1, pl.UInt32),
        (1 << 32, pl.Int64),
    ],
)
def test_types_are_as_narrow_as_their_largest_number(
    largest: int, expected: Any
) -> None:
    """A type holds the largest number, and no narrower type does."""
    assert expected == unsigned(largest)


@pytest.mark.parametrize("made", [row_plan(), known_plan(5), unit_plan()])
def test_every_row_has_a_cell(made: Plan) -> None:
    """Whatever a row holds, it has a cell from 1, or is in cell 0 of none.

    So is a row that is masked.
    """
    program = compile_program(made)
    batch = pl.DataFrame(
        {
            column.name: pl.Series([None, 0, 1], dtype=_type(column.form.value))
            for column in program.columns
        }
    )
    expressions = Expressions(program)
    given = expressions.column(program.columns[0].name).is_not_null()
    for selection in {tally.selection for tally in program.tallies}:
        name = expressions.derive(expressions.numbered(selection, given), selection)
        found = expressions.derived(batch)[name]
        assert 3 == len(found), selection
        assert 0 == found.null_count(), selection
        assert all(0 <= one <= selection.cells for one in found), selection
        assert 0 == found[0], selection


def _type(form: str) -> Any:
    return {"whole": pl.Int64, "real": pl.Float64, "code": pl.UInt8, "id": pl.Int64}[
        form
    ]


EDGES = ["0", "0.1", "0.3", "0.5", "0.7", "1"]
EQUAL = ["0", "0.125", "0.25", "0.375", "0.5", "0.75"]
CELLS = st.one_of(
    st.sampled_from([0.0, 0.1, 0.3, 0.5, 0.7, 1.0, -1.0, 2.0, float("inf")]),
    st.floats(0, 1),
    st.none(),
)


@pytest.mark.property
@pytest.mark.parametrize("few", [0, 64])
@pytest.mark.parametrize("table", [0, 1 << 16])
@pytest.mark.parametrize("edges", [EDGES, EQUAL])
@pytest.mark.parametrize("kind", ["float", "decimal"])
def test_bins_are_found_alike_in_every_way(
    kind: str, edges: list[str], table: int, few: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Tables, arithmetic, comparisons and searches agree with the reference."""
    monkeypatch.setattr(polars_expressions, "_TABLE", table)
    monkeypatch.setattr(polars_expressions, "_FEW_BINS", few)
    step = "step: 0.025, " if kind == "decimal" else ""
    made = plan(
        make_spec(
            {"x": f"{{type: {kind}, bounds: [-1, 1], {step}nulls: drop}}"},
            {
                "bins": {
                    "histogram": "x",
                    "bins": f"[{', '.join(edges)}]",
                    "spend": "{share: 1}",
                }
            },
        )
    )

    @given(cells=st.lists(CELLS, max_size=20))
    @settings(max_examples=30, deadline=None)
    def every(cells: list[float | None]) -> None:
        frame = pl.DataFrame({"x": cells}, schema={"x": pl.Float64})
        expected = exact_sums(made, frame, engine=reference).moments[0]["n"]
        assert list(expected) == list(exact_sums(made, frame).moments[0]["n"])

    every()


@pytest.mark.parametrize("width", [Fraction(1, 3), Fraction(10**15), Fraction(2**60)])
def test_no_number_leaves_the_grid(width: Fraction) -> None:
    """Whatever a cell holds, its steps are within 0 and the last."""
    made = plan(
        make_spec(
            {"x": f"{{type: float, bounds: [0, {float(width)!r}], nulls: drop}}"},
            {"total": {"sum": "x", "spend": "{share: 1}"}},
        )
    )
    top = made.steps[0].grids[0].steps
    ends = [-1e308, -0.0, 5e-324, float(width), 1e308, float("inf"), float("-inf")]
    for cell in ends:
        (found,) = exact_sums(made, {"x": [cell]}).moments[0]["u"]
        assert (top if cell >= float(width) else 0) == found
