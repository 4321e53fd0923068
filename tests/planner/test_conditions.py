"""Conditions as words."""

from __future__ import annotations

from spec_text import integer, make_spec

from dpql.model.spec import Condition
from dpql.planner.conditions import columns_in, condition_text

TEXT = (
    'x >= 1 and (y < 2 or not (g == "a" or x is null)) and g in ["a", "b"] '
    "and y between 0 and 3"
)


def condition(text: str) -> Condition:
    """Return the condition that a spec's text means."""
    spec = make_spec(
        {
            "x": integer(0, 9),
            "y": integer(0, 9),
            "g": "{type: category, keys: [a, b]}",
        },
        {"it": {"count": "rows", "where": f"'{text}'", "spend": "{share: 1}"}},
    )
    found = spec.statistics[0].where
    assert found is not None
    return found


def test_a_condition_reads_as_it_was_written() -> None:
    """Parentheses stand where they are needed, and reading it again changes nothing."""
    meaning = condition(TEXT)
    assert condition_text(meaning) == TEXT
    assert condition(condition_text(meaning)) == meaning


def test_all_columns_of_a_condition_are_known() -> None:
    """A reviewer sees every column a filter reads."""
    assert columns_in(condition(TEXT)) == {"x", "y", "g"}
    assert columns_in(None) == set()
