"""The tree of an expression as written knows its height and its extent."""

from __future__ import annotations

import pytest

from dpql.language.grammar import SyntaxFault, parse_condition


@pytest.mark.parametrize(
    ("text", "depth"),
    [
        ("x", 0),
        ("x < 1", 1),
        ("x + 1 < 1", 2),
        ("not x", 2),
        ("not x < 1", 2),
        ("not (x < 1 or y < 1)", 3),
        ("a + b + c", 2),
        ("f(a, g(b))", 2),
        ("((((x))))", 0),
    ],
)
def test_depth_is_the_height_of_the_tree(text: str, depth: int) -> None:
    """Words add none to what holds them, and parentheses none at all."""
    assert depth == parse_condition(text)[0].depth


@pytest.mark.parametrize(
    "text",
    [
        "x",
        "x < 1",
        "(x + 1) * 2",
        "-x",
        "f(a, [1, 2])",
        "not x",
        "a and b",
        "x is null",
    ],
)
def test_an_expression_extends_over_its_text(text: str) -> None:
    """From its first character to its last, parentheses included."""
    found = parse_condition(f"  {text} ")[0]
    assert (2, 2 + len(text)) == (found.start, found.end)


@pytest.mark.parametrize(
    "text", ["1 < x < 5", "x ==", "x + ", "f(", "f(a,)", "[1]", "{a: b}"]
)
def test_half_expressions_are_refused(text: str) -> None:
    """Comparisons are not compared, and lists stand only where they belong."""
    with pytest.raises(SyntaxFault):
        parse_condition(text)
