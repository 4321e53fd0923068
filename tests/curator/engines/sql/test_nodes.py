"""Derived columns in SQL are what the slow reference makes of every row."""

from __future__ import annotations

from functools import cache
from typing import Any

import polars as pl
import pytest
import reference_engine as reference
from curator.engines.test_derived_columns import EVERY, NASTY
from databases import Database
from expression_cases import conditions, derived, keys, numbers, tables
from hypothesis import strategies as st
from typed_tables import drawn

from dpql.curator.columns import canonical_columns
from dpql.curator.derived import Derivation
from dpql.curator.engines.sql.cells import Cells
from dpql.curator.engines.sql.expressions import Expressions
from dpql.curator.program import Program
from dpql.model.expression import Compared, Operator, Reference
from dpql.model.spec import Data

EXPRESSIONS, AT_ONCE = 50, 25


@cache
def rows() -> pl.DataFrame:
    """Return rows full of odd cells of every type."""
    return pl.concat(drawn(tables(), 30))


@cache
def data() -> list[Data]:
    """Return declarations of a few derived columns each."""
    one = numbers(4) | conditions(4) | keys(3)
    found = [derived(*some) for some in drawn(st.tuples(*[one] * 4), EXPRESSIONS)]
    return [each for each in found if each.derived]


@cache
def expected(declared: Data) -> list[tuple[int | None, ...]]:
    """Return the derived columns of all rows, by the reference."""
    return reference_values(declared, rows())


def reference_values(
    declared: Data, frame: pl.DataFrame
) -> list[tuple[int | None, ...]]:
    """Return the derived columns of rows, by the reference."""
    program = _program(declared)
    names = [one.column.name for one in program.derived]
    canonical = reference.open_source(frame, declared).rows
    full = [reference._with_derived(program, row) for row in canonical]
    return sorted((tuple(row[name] for name in names) for row in full), key=repr)


def asked(
    database: Database, written: Any, declared: Data
) -> list[tuple[int | None, ...]]:
    """Return the derived columns of rows, by the database."""
    table = database.table(written, declared)
    cells = Cells(declared, table)
    program = _program(declared)
    made = Expressions(program, cells)
    columns = ", ".join(made.cell(one.column.name) for one in program.derived)
    text, last = cells.text()
    found = [
        tuple(None if x is None else int(x) for x in row)
        for row in table.ask(f"{text}\nSELECT {columns} FROM {last}")
    ]
    table.end()
    return sorted(found, key=repr)


def _program(declared: Data) -> Program:
    found, _ = Derivation(declared).needed({one.name for one in declared.derived})
    return Program(
        columns=canonical_columns(declared),
        derived=found,
        data=declared,
        unit=None,
        declared_rows=9,
        counts_rows=False,
        tallies=(),
    )


@pytest.mark.heavy
def test_derived_columns_are_those_of_the_reference(database: Database) -> None:
    """Hundreds of expressions, on hundreds of rows, have the values of the nodes."""
    written = database.write(rows())
    compared = 0
    for declared in data():
        found = asked(database, written, declared)
        assert expected(declared) == found, declared.derived
        compared += len(declared.derived)
    assert compared > EXPRESSIONS


def test_every_function_is_that_of_the_reference(database: Database) -> None:
    """Every function and test, on nulls, ends of every range and what is beyond."""
    written = database.write(NASTY)
    for start in range(0, len(EVERY), AT_ONCE):
        declared = derived(*EVERY[start : start + AT_ONCE])
        wanted = reference_values(declared, NASTY)
        assert wanted == asked(database, written, declared), declared.derived


@pytest.mark.parametrize("operator", Operator)
def test_an_integer_and_a_double_are_compared_as_nulls_are(
    database: Database, operator: Operator
) -> None:
    """A null on either side makes the comparison null, also beside a fraction."""
    pair = Compared(
        left=Reference(column="f"), operator=operator, right=Reference(column="big")
    )
    declared = derived(pair)
    written = database.write(rows())
    program = _program(declared)
    table = database.table(written, declared)
    cells = Cells(declared, table)
    cell = Expressions(program, cells).cell("derived 0")
    text, last = cells.text()
    found = table.ask(f"{text}\nSELECT {cell} FROM {last}")
    table.end()
    values = [(None if row[0] is None else int(row[0]),) for row in found]
    assert expected(declared) == sorted(values, key=repr)
