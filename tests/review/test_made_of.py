"""Notes say how a statistic is made, once each, and nothing where that is plain."""

from __future__ import annotations

from pathlib import Path

import spec_text
from private_specs import private_plan

from dpql.language import load
from dpql.planner import plan
from dpql.review.made_of import made_of

SPECS = Path(__file__).parents[2] / "specs"


def test_a_plain_count_needs_no_note() -> None:
    """All rows, one cell, one noisy number."""
    columns = {"key": "{type: category, keys: [a]}"}
    one = {"n": {"count": "rows", "spend": "{share: 1}"}}
    found = plan(spec_text.make_spec(columns, one))
    assert [] == made_of(found, found.step("n"))


def test_parts_conditions_and_reach_are_noted() -> None:
    """What is read from several noisy numbers, of which rows, in how many cells."""
    found = plan(load(SPECS / "district_wages.yaml"))
    notes = [note for step in found.steps for note in made_of(found, step)]
    assert any("made of the parts" in note for note in notes)
    assert all(note.endswith(".") for note in notes)


def test_quantiles_of_found_keys_promise_one_cell() -> None:
    """How many cells there will be nobody knows, so no promise is for all of them."""
    text = spec_text.spec_text(
        {
            "dest": "{type: category, keys: private}",
            "delay": "{type: integer, bounds: [0, 9], nulls: drop}",
        },
        {
            "flights": {"count": "rows", "by": "[dest]", "spend": "{share: 1}"},
            "half": {"median": "delay", "by": "[dest]", "spend": "{share: 1}"},
        },
        delta="1e-6",
    )
    from dpql.language import load_text

    found = plan(load_text(text, form="yaml"))
    notes = made_of(found, found.step("half"))
    assert any("chosen by rank among 10 values" in note for note in notes)
    assert not any("groups at once" in note for note in notes)
    assert "half: for each key that flights shows." in notes


def test_cells_of_found_keys_are_not_counted() -> None:
    """One unit reaches some cells, however few each key has."""
    found = private_plan()
    notes = made_of(found, found.step("delays"))
    assert any("one unit can change 3 cells, so each" in note for note in notes)
