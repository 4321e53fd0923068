"""A plan becomes programs: the same ones, which read what is used and no more."""

from __future__ import annotations

import pytest
from curator_plans import known_plan, known_unit_plan, row_plan, unit_plan
from private_specs import private_plan
from spec_text import make_spec

from dpql.curator.compilation import (
    compile_program,
    compile_searches,
    program_text,
    summed_steps,
)
from dpql.curator.program import KeyAxis, Program
from dpql.planner import plan


def _program(where: str = "", **asked: str) -> Program:
    """Return the program of one statistic."""
    statistic = asked or {"count": "rows"}
    if where:
        statistic["where"] = where
    columns = {
        "kind": "{type: category, keys: [a, b, c]}",
        "side": "{type: category, keys: [left, right]}",
        "x": "{type: integer, bounds: [0, 100], nulls: drop}",
    }
    asked_for = {"asked": {**statistic, "spend": "{share: 1}"}}
    return compile_program(plan(make_spec(columns, asked_for)))


@pytest.mark.parametrize(
    "made",
    [row_plan(), known_plan(5), unit_plan(), known_unit_plan(8)],
    ids=["rows", "known rows", "units", "known units"],
)
def test_the_same_plan_is_the_same_program(made: object) -> None:
    """Programs of one plan are equal, can be hashed, and read alike."""
    one, other = (compile_program(made) for _ in range(2))  # type: ignore[arg-type]
    assert one == other
    assert hash(one) == hash(other)
    assert str(one) == str(other)


def test_only_what_is_used_is_read() -> None:
    """Columns of conditions, cells, sums and units are read, and no others."""
    reads = {
        "kind": _program("kind == a"),
        "x": _program(sum="x"),
        "side": _program(by="[side]", count="rows"),
    }
    for name, program in reads.items():
        assert [name] == [column.name for column in program.columns]


def test_a_count_of_all_rows_reads_some_column() -> None:
    """Some column must bring the rows that are counted."""
    assert ["kind"] == [column.name for column in _program().columns]


def test_plans_of_declared_keys_search_nothing() -> None:
    """Their rows are read once."""
    assert compile_searches(unit_plan()) is None


def test_a_search_reads_keys_and_units_alone() -> None:
    """One search for each set of columns, bounded as its statistic is."""
    program = compile_searches(private_plan(others=True))
    assert program is not None
    assert () == program.tallies
    one, two = program.searches
    assert (("dest",), ("origin", "dest")) == (one.columns, two.columns)
    assert ("plane", 3, "others") == (one.unit, one.most, one.reserved)
    names = {column.name for column in program.columns}
    assert {"dest", "origin", "plane"} == names


def test_steps_have_the_keys_that_were_shown() -> None:
    """Columns found together are one axis; without keys a step has no cells."""
    made = private_plan()
    keys = {"flights": [("GSP",), ("SYR",)], "routes": []}
    program = compile_program(made, keys)
    assert ["delays", "planes"] == [tally.statistic for tally in program.tallies]
    delays, _ = program.tallies
    assert KeyAxis("`dest`", 2, found=True) in delays.selection.axes
    nothing = {"flights": [], "routes": []}
    assert ["planes"] == [step.name for step in summed_steps(made, nothing)]


def test_a_reviewer_reads_both_programs() -> None:
    """What is searched first, then what is summed."""
    text = program_text(private_plan())
    assert text.index("finds   keys of dest") < text.index("sums    rows, delay")
    assert str(compile_program(unit_plan())) == program_text(unit_plan())
