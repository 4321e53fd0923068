"""Literals are what they meet: a number, a key, a date or a truth."""

from __future__ import annotations

from fractions import Fraction

import pytest
from language.flights import faults, flights, where

from dpql.model.expression import Comparison


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("distance == 1_000", Fraction(1000)),
        ("distance == '1_000'", Fraction(1000)),
        ("arr_delay == 1/3", Fraction(1, 3)),
        ("arr_delay == -1e-3", Fraction(-1, 1000)),
        ("carrier == DL", "DL"),
        ("month == 2", "2"),
        ("month == '2'", "2"),
        ("big == false", "false"),
        ("big == 'false'", "false"),
        ("big == 0", Fraction(0)),
        ("when == 2013-02-28", "2013-02-28"),
        ("left == '2013-02-28 10:00:01'", "2013-02-28 10:00:01"),
    ],
)
def test_a_literal_is_what_its_column_holds(text: str, expected: object) -> None:
    """Quotes make no number of a key and no key of a number."""
    found = where(text)
    assert isinstance(found, Comparison)
    assert expected == found.value


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("carrier == DLL", "did you mean `DL`?"),
        ("carrier == zzz", "its keys are `UA`, `AA` or `DL`"),
        ("big == maybe", "write `true` or `false`"),
        ("when == 2013-02", "write it like `2013-06-01`"),
        ("left == yesterday", "write it like `2013-06-01 12:30`"),
        ("arr_delay > dep_dely", "did you mean `dep_delay`?"),
        ("arr_delay > 'x'", "compare with a number such as `18`, `0.5` or `1/3`"),
    ],
)
def test_a_hint_says_what_could_stand_there(text: str, hint: str) -> None:
    """Close keys and columns are named, else the form."""
    (fault,) = faults(flights(where=text))
    assert (fault.code, fault.hint) == ("DPQL319", hint)
