"""Proportions from rows to parts: all tables of few rows, and all their neighbours.

The rows hold every answer of a condition, null included, so what the engine counts is
compared with Kleene's tables, and what a unit changes with what the plan states.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from fractions import Fraction
from functools import cache
from itertools import combinations_with_replacement, product

import polars as pl
import pytest
from exact_sums import exact_sums
from spec_text import integer, make_spec

from dpql.curator import run
from dpql.curator.noise import totals
from dpql.model.plan import Plan
from dpql.planner import plan
from dpql.testing import SeededBits

pytestmark = [pytest.mark.contract, pytest.mark.heavy]

Row = tuple[str | None, str | None, int | None, int | None]
"""Id, key, x and b."""

ASKED = "x > 3 or not b > 0"
COLUMNS = {
    "p": "{type: id}",
    "g": "{type: category, keys: [a, b]}",
    "x": integer(0, 9, "drop"),
    "b": integer(0, 1, "drop"),
}


def _answer(x: int | None, b: int | None) -> bool | None:
    """Return what the condition is, by Kleene."""
    sides = (None if x is None else x > 3, None if b is None else not b)
    return True if True in sides else None if None in sides else False


KLEENE = list(product([None, 1, 5], [None, 0, 1]))
THREE = [(5, None), (1, 1), (None, 1)]
"""Cells for which the condition is true, false and null."""


@cache
def _plan(shape: str) -> Plan:
    statistic = {"proportion": ASKED, "spend": "{share: 1}"}
    options: dict[str, str] = {}
    columns = dict(COLUMNS)
    if "filtered" in shape:
        statistic["where"] = "x != 1"
    if "grouped" in shape:
        statistic["by"] = "[g]"
    if "unit" in shape:
        options |= {"unit": "p", "contributes": "{rows: 1, groups: 1}"}
    if "total" in shape:
        options["contributes"] = "{rows: 2, groups: 2, total: 3}"
    if "two" in shape:
        options["contributes"] = "{rows: 2, groups: 2}"
    if "replace" in shape:
        options |= {"neighbours": "replace_one", "rows": "{exactly: 3}"}
        filled = {
            "x": integer(0, 9, "{as: 1}"),
            "b": integer(0, 1, "{as: 1}"),
        }
        columns |= filled
    return plan(make_spec(columns, {"it": statistic}, **options))


def _frame(rows: tuple[Row, ...]) -> pl.DataFrame:
    schema = {"p": pl.String, "g": pl.String, "x": pl.Int64, "b": pl.Int64}
    return pl.DataFrame(rows, schema=schema, orient="row")


@cache
def _parts(shape: str, rows: tuple[Row, ...], salt: int = 0) -> tuple[int, ...]:
    """Return what takes noise, for all cells."""
    made = _plan(shape)
    (step,) = made.steps
    (sums,) = exact_sums(made, _frame(rows), salt=bytes([salt]) * 32).moments
    return tuple(
        number
        for part in step.parts
        for number in totals(part.measure, sums, step.cells)
    )


def _key(row: Row) -> tuple[str, ...]:
    return tuple(map(str, row))


def _tables(alphabet: list[Row], most: int) -> Iterator[tuple[Row, ...]]:
    ordered = sorted(alphabet, key=_key)
    for size in range(most + 1):
        yield from combinations_with_replacement(ordered, size)


def _change(one: tuple[int, ...], other: tuple[int, ...]) -> int:
    return sum(abs(a - b) for a, b in zip(one, other, strict=True))


def _stated(shape: str) -> int:
    (step,) = _plan(shape).steps
    (stated,) = {part.measure.sensitivity * part.measure.l0 for part in step.parts}
    return stated


@pytest.mark.parametrize("cells", KLEENE, ids=str)
@pytest.mark.parametrize("shape", ["plain", "replace"])
def test_each_answer_is_counted_as_kleene_says(
    shape: str,
    cells: tuple[int | None, int | None],
) -> None:
    """A row is in the part of its answer; in none where that is null."""
    x, b = cells
    found = _parts(shape, ((None, "a", x, b),) * 3)
    if shape == "replace":
        # n is public: nulls were filled, and all rows are asked.
        answer = _answer(1 if x is None else x, 1 if b is None else b)
        assert (3 if answer else 0,) == found
        return
    answer = _answer(x, b)
    (step,) = _plan(shape).steps
    each = step.parts[0].measure.scale
    expected = (0, 0) if answer is None else (3 * answer, 3 * (not answer))
    assert tuple(each * number for number in expected) == found


@pytest.mark.parametrize("shape", ["plain", "filtered", "grouped", "grouped filtered"])
def test_adding_a_row_changes_the_parts_by_what_is_stated(shape: str) -> None:
    """All tables of at most three rows: never exceeded, and attained."""
    keys = ["a", "b", "other", None] if "grouped" in shape else ["a"]
    alphabet: list[Row] = [(None, g, x, b) for g in keys for x, b in KLEENE]
    alphabet = (
        alphabet if len(keys) == 1 else [row for row in alphabet if row[2:] in THREE]
    )
    worst = 0
    for base in _tables(alphabet, 2):
        for row in alphabet:
            worst = max(
                worst, _change(_parts(shape, base), _parts(shape, (*base, row)))
            )
    assert _stated(shape) == worst


@pytest.mark.parametrize("shape", ["replace", "replace grouped", "replace filtered"])
def test_replacing_a_row_changes_the_parts_by_what_is_stated(shape: str) -> None:
    """All tables of three rows of which one is another."""
    keys = ["a", "b", None] if "grouped" in shape else ["a"]
    # With 2 the condition is false, and a filter keeps the row.
    answers = [*THREE, (2, 1)] if "filtered" in shape else THREE
    alphabet: list[Row] = [(None, g, x, b) for g in keys for x, b in answers]
    by_rest = defaultdict(set)
    for rows in _tables(alphabet, 3):
        for i in range(3):
            if len(rows) == 3:
                by_rest[rows[:i] + rows[i + 1 :]].add(_parts(shape, rows))
    worst = max(
        _change(one, other)
        for outcomes in by_rest.values()
        for one, other in combinations_with_replacement(sorted(outcomes), 2)
    )
    assert _stated(shape) == worst


@pytest.mark.parametrize(
    "shape", ["unit", "unit two", "unit total grouped", "unit grouped"]
)
def test_adding_a_unit_changes_the_parts_by_what_is_stated(shape: str) -> None:
    """Units of up to four rows, whatever of them the lottery keeps, beside another."""
    keys = ["a", "b"] if "grouped" in shape else ["a"]
    mine: list[Row] = [("u", g, x, b) for g in keys for x, b in THREE]
    theirs: list[Row] = [("v", g, x, b) for g in keys for x, b in THREE]
    worst = 0
    for salt in (0, 1):
        for base in _tables(theirs, 1):
            for unit in _tables(mine, 4 if len(keys) == 1 else 3):
                change = _change(
                    _parts(shape, base, salt), _parts(shape, base + unit, salt)
                )
                worst = max(worst, change)
    assert _stated(shape) == worst


@pytest.mark.parametrize("shape", ["plain", "filtered", "unit"])
@pytest.mark.stats
def test_intervals_hold_the_share_of_rows_with_an_answer(shape: str) -> None:
    """At alpha 1/20, of 200 runs at most 25 miss, but once in 10^5."""
    answers = [THREE[0]] * 30 + [THREE[1]] * 50 + [THREE[2]] * 400
    rows: tuple[Row, ...] = tuple((f"p{i}", "a", *x) for i, x in enumerate(answers))
    # The filter keeps x other than 1, of which none is false.
    truth = Fraction(1) if shape == "filtered" else Fraction(3, 8)
    made, frame = _plan(shape), _frame(rows)
    missed = 0
    for seed in range(200):
        drawn = run(made, {"rows": frame}, bits=SeededBits(seed))
        (value,) = drawn["it"].values
        missed += not value.lower <= truth <= value.upper
        assert 0 <= value.lower <= value.value <= value.upper <= 1
    assert missed <= 25


def test_the_plan_says_of_which_rows() -> None:
    """A null is left out where n is private, and is not true where n is public."""
    assert "of rows where that is not null" in str(_plan("plain"))
    assert "of rows where that is not null" in str(_plan("unit"))
    assert "of all rows" in str(_plan("replace"))
