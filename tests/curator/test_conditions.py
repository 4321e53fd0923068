"""Conditions become tests of canonical cells, and say so in words."""

from __future__ import annotations

import pytest
from spec_text import make_spec

from dpql.curator.compilation import compile_program
from dpql.curator.conditions import (
    Conjunction,
    Disjunction,
    Negation,
    OneOf,
    Present,
    Test,
    Within,
    columns_of,
)
from dpql.planner import plan

COLUMNS = {
    "kind": "{type: category, keys: [a, b, c]}",
    "x": "{type: integer, bounds: [0, 100], nulls: drop}",
    "y": "{type: float, bounds: [0, 100], nulls: {as: 25}}",
}


def _compiled(where: str) -> Test:
    """Return the test of the only statistic of a spec."""
    asked = {"count": "rows", "where": where, "spend": "{share: 1}"}
    (tally,) = compile_program(plan(make_spec(COLUMNS, {"asked": asked}))).tallies
    assert tally.selection.where is not None
    return tally.selection.where


@pytest.mark.parametrize(
    ("where", "expected", "words"),
    [
        ("x >= 5", Within("x", 5, None), "x >= 5"),
        ("x > 5", Within("x", 6, None), "x >= 6"),
        ("x < 5.5", Within("x", None, 5), "x <= 5"),
        ("x == 5", Within("x", 5, 5), "x == 5"),
        ("x == 5.5", Within("x", 6, 5), "x has no such value"),
        ("x between 5 and 9", Within("x", 5, 9), "5 <= x <= 9"),
        (
            "y <= 0.1",
            Conjunction((Present("y"), Within("y", None, 0.1))),
            "y is present and y <= 0.1",
        ),
        (
            "y > 0.1",
            Disjunction(
                (Negation(Present("y")), Within("y", 0.10000000000000002, None))
            ),
            "y is null or y >= 0.10000000000000002",
        ),
        ("x is null", Negation(Present("x")), "x is null"),
        ("not x is null", Negation(Negation(Present("x"))), "x is present"),
        ("kind == b", OneOf("kind", (1,), ("b",)), 'kind is "b"'),
        (
            "kind in [c, a]",
            OneOf("kind", (0, 2), ("a", "c")),
            'kind is one of "a", "c"',
        ),
        (
            "kind != b",
            OneOf("kind", (0, 2), ("a", "c")),
            'kind is one of "a", "c"',
        ),
        (
            "x in [1, 3]",
            Disjunction((Within("x", 1, 1), Within("x", 3, 3))),
            "x == 1 or x == 3",
        ),
        (
            "x < 1 and (kind == a or kind == b)",
            Conjunction(
                (
                    Within("x", None, 0),
                    Disjunction(
                        (OneOf("kind", (0,), ("a",)), OneOf("kind", (1,), ("b",)))
                    ),
                )
            ),
            'x <= 0 and (kind is "a" or kind is "b")',
        ),
    ],
)
def test_conditions(where: str, expected: Test, words: str) -> None:
    """Every condition becomes tests of canonical cells, and says so."""
    assert expected == _compiled(where)
    assert words == str(_compiled(where))


def test_columns_of_every_operand_are_read() -> None:
    """Each column is found, below negations and in every operand."""
    found = columns_of(_compiled("not x is null and (kind == a or y < 1)"))
    assert ["x", "kind", "y", "y"] == list(found)
