"""Words about a step that the review and the report share."""

from __future__ import annotations

import spec_text

from dpql.model.plan import Plan
from dpql.model.step_text import bound_text, definition, variance_text
from dpql.planner import plan
from dpql.review.explain import explain
from dpql.review.render import as_text


def spread(rows: str, neighbours: str) -> Plan:
    """Return a plan of a variance."""
    return plan(
        spec_text.make_spec(
            {"age": spec_text.integer(0, 100)},
            {"spread": {"variance": "age", "spend": "{share: 1}"}},
            rows=rows,
            neighbours=neighbours,
        )
    )


def test_plan_and_report_say_which_variance_it_is() -> None:
    """Divided by n - 1 where n is public, by n where n is noisy too."""
    cases = (
        ("{exactly: 50}", "replace_one", "sample", "n - 1", "public"),
        ("{at_most: 50}", "add_remove", "population", "n", "private"),
    )
    for rows, neighbours, kind, divisor, known in cases:
        made = spread(rows, neighbours)
        (step,) = made.steps
        words = f"{kind} variance of age (divided by {divisor})"
        assert words == variance_text(step)
        assert words == definition(step)
        assert f"spread: the {words}, because n is {known}." in as_text(explain(made))


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
