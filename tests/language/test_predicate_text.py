"""Conditions as written have one canonical text."""

from __future__ import annotations

import pytest

from dpql.language.grammar import parse_condition
from dpql.language.predicate_text import predicate_text


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("x>=1", "x >= 1"),
        ("( x  <  5 )", "x < 5"),
        ("not x is null", "x is not null"),
        ("not not x is null", "not x is not null"),
        ("not (x < 1 or x > 2)", "not (x < 1 or x > 2)"),
        ("x in [ a,'b c' ]", "x in [a, 'b c']"),
        ("x between 1 and 2", "x between 1 and 2"),
        ("a == 1 and b == 2 or c == 3", "(a == 1 and b == 2) or c == 3"),
        ("a == 1 and (b == 2 and c == 3)", "a == 1 and b == 2 and c == 3"),
        ("`odd name` != y", "`odd name` != y"),
    ],
)
def test_canonical_text(written: str, expected: str) -> None:
    """Spaces and needless parentheses go; those around another word stay."""
    predicate, complaints = parse_condition(written)
    assert [] == complaints
    assert expected == predicate_text(predicate)
    assert expected == predicate_text(parse_condition(expected)[0])


@pytest.mark.parametrize(
    ("written", "depth"), [("x < 1", 1), ("not x < 1", 2), ("not (x < 1 or y < 1)", 3)]
)
def test_depth_is_the_height_of_the_tree(written: str, depth: int) -> None:
    """A negation and a junction are one higher than what they hold."""
    assert depth == parse_condition(written)[0].depth
