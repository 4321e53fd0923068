"""The dictionary names every file, column, key and loss of a release."""

from __future__ import annotations

from reports.sample_releases import make_outcome
from reports.test_render import hostile_plan
from spec_text import make_spec

from dpql.planner import plan
from dpql.reports.dictionary import dictionary
from dpql.reports.tables import tables_of


def test_the_dictionary_explains_a_release() -> None:
    """In words: what is counted, in which file, over which keys, and what is lost."""
    made = plan(
        make_spec(
            {
                "person": "{type: id}",
                "kind": "{type: category, keys: [a, b]}",
                "wage": "{type: integer, bounds: [0, 100], nulls: drop, unit: EUR}",
            },
            {
                "n": {"count": "rows", "by": "[kind]", "spend": "{share: 1}"},
                "pay": {"mean": "wage", "spend": "{share: 1}"},
            },
            unit="person",
            contributes="{rows: 3, groups: 1}",
        )
    )
    text = dictionary(made).replace("\\", "")
    for words in (
        "| table-n.csv | the values of n |",
        "- file: table-n.csv, 2 rows",
        "- key kind: 2 keys: a, b",
        "- left out: Counts at most 3 rows of a person in 1 of 2 groups: whatever",
        "- left out: Rows whose kind is none of the 2 declared keys count nowhere.",
        "- unit: EUR",
        "- public range: 0 to 100",
        "each interval holds the number without noise with 95% confidence",
    ):
        assert words in text, words


def test_values_that_were_moved_are_those_to_add_up() -> None:
    """Of a total and its groups, values add up; of all others, noisy numbers do."""
    count = {"count": "rows", "by": "[g]", "spend": "{share: 1}"}
    asked = {
        "n": count,
        "all": {"total": "n", "spend": "{share: 1}"},
        "own": count,
    }
    made = plan(make_spec({"g": "{type: category, keys: [a, b]}"}, asked))
    text = dictionary(made)
    assert 2 == text.count("here values add up, and noisy ones do not")
    assert "here values add up" not in text[text.index("## own") :]


def test_the_dictionary_holds_nothing_but_the_plan() -> None:
    """Two releases of a plan have the same, and hostile names stay inert in it."""
    made = hostile_plan()
    first, second = (tables_of(make_outcome(made))["dictionary.md"] for _ in range(2))
    assert first == second
    text = first.decode()
    assert "<script" not in text
