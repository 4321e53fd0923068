"""Aggregates of some rows, added in another process, are those of all rows."""

from __future__ import annotations

import polars as pl
import pytest
from curator_plans import known_plan, row_plan
from exact_sums import SALT, same
from spec_text import make_spec

from dpql.curator.compilation import compile_program
from dpql.curator.engines import aggregate, polars
from dpql.curator.engines.aggregate import Aggregate
from dpql.model.plan import Plan
from dpql.planner import plan

_IDS = {"{type: id}": "who", "{type: category, keys: [a, b]}": "kind"}


def ids_plan() -> Plan:
    """Return a plan that counts different ids."""
    columns = {name: text for text, name in _IDS.items()}
    asked = {"n": {"distinct": "who", "by": "[kind]", "spend": "{share: 1}"}}
    return plan(make_spec(columns, asked))


def _frame(made: Plan, rows: int) -> pl.DataFrame:
    cells = {
        "region": ["north", "1", "x", None],
        "kind": ["a", "b", "a"],
        "who": [f"p{number}" for number in range(7)] + ["", None],
    }
    return pl.DataFrame(
        {
            column.name: [
                cells[column.name][row % len(cells[column.name])]
                if column.name in cells
                else 1.5 * row - 20
                for row in range(rows)
            ]
            for column in made.spec.data.columns
        }
    )


@pytest.mark.parametrize("made", [row_plan(), known_plan(40), ids_plan()])
def test_parts_add_up_to_the_whole(made: Plan, monkeypatch: pytest.MonkeyPatch) -> None:
    """Split anywhere, sums, counts and different values are those of all rows."""
    monkeypatch.setattr(aggregate, "_SLICE", 3)
    program, frame = compile_program(made), _frame(made, 40)
    total = Aggregate(program)
    for start, rows in ((0, 13), (13, 0), (13, 27)):
        some = polars.open_source(frame[start : start + rows], made.spec.data)
        for part in polars.aggregated(program, some, SALT, None).parts():
            total.add_part(part)
    whole = polars.open_source(frame, made.spec.data)
    expected = polars.sums(program, whole, salt=SALT, tick=None)
    same(made, expected, total.sums(expected.rows))
    assert any(
        x for moments in expected.moments for cells in moments.values() for x in cells
    )


def test_an_aggregate_of_nothing_has_no_parts() -> None:
    """Cells that are 0 do not travel."""
    assert [] == list(Aggregate(compile_program(row_plan())).parts())
