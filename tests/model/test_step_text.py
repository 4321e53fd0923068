"""Texts about a step that the review and the report share."""

from __future__ import annotations

import spec_text

from dpql.language import load_text
from dpql.model.step_text import bound_text, bounds_text, contributes_text, losses_text
from dpql.planner import plan
from dpql.review.explain import explain


def test_the_bound_is_given_in_rows_and_groups() -> None:
    """What is left of a unit is said against the groups there are."""
    made = plan(
        spec_text.make_spec(
            {
                "person": "{type: id}",
                "kind": "{type: category, keys: [a, b]}",
                "other": "{type: category, keys: [a, b, c, d]}",
            },
            {
                "all": {"count": "rows", "spend": "{share: 1}"},
                "kinds": {"count": "rows", "by": "[kind]", "spend": "{share: 1}"},
                "others": {"count": "rows", "by": "[other]", "spend": "{share: 1}"},
            },
            unit="person",
            contributes="{rows: 1, groups: 2}",
        )
    )
    assert [
        "at most 1 row of a person",
        "at most 1 row of a person in each of 2 groups",
        "at most 1 row of a person in 2 of 4 groups",
    ] == [bound_text(step, "person") for step in made.steps]
    assert "totals are of those rows" in dict(explain(made).facts)["counts"]


def test_totals_and_units_are_said() -> None:
    """A total follows the groups, and a unit that counts once has no rows."""
    contributes = "{rows: 2, groups: 3, total: 5}"
    made = plan(
        spec_text.make_spec(
            {
                "person": "{type: id}",
                "kind": "{type: category, keys: [a, b]}",
                "other": "{type: category, keys: [a, b, c, d]}",
            },
            {
                "rows": {"count": "rows", "by": "[other]", "spend": "{share: 1}"},
                "kinds": {"count": "rows", "by": "[kind]", "spend": "{share: 1}"},
                "units": {"count": "units", "by": "[other]", "spend": "{share: 1}"},
                "all": {"count": "units", "spend": "{share: 1}"},
            },
            unit="person",
            contributes=contributes,
        )
    )
    assert (
        "at most 2 rows of a person in 3 of 4 groups, 5 in all (rows)",
        "at most 2 rows of a person in each of 2 groups (kinds)",
        "each person once in 3 of 4 groups (units)",
        "each person once (all)",
    ) == bounds_text(made)
    given = made.spec.privacy.contributes
    assert "2 rows in 3 groups, 5 in all" == contributes_text(given)


def test_rows_without_a_derived_key_are_said() -> None:
    """Where a key follows from others, those are missing for whom it is null."""
    text = spec_text.spec_text(
        {
            "x": spec_text.integer(0, 9, "drop"),
            "y": spec_text.integer(0, 9),
            "b": "{type: boolean, nulls: drop}",
            "c": "{type: boolean, nulls: {as: true}}",
        },
        {"it": {"count": "rows", "by": "[b, c, low, high]", "spend": "{share: 1}"}},
    ).replace("privacy:", "  derived: {low: x < 5, high: y > 5}\nprivacy:")
    made = plan(load_text(text, form="yaml"))
    assert (
        "Rows whose b is null count nowhere.",
        "Rows whose low is null count nowhere.",
    ) == losses_text(made, made.steps[0])
