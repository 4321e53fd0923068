"""What a step computes, in words."""

from __future__ import annotations

import spec_text

from dpql.model.plan import Plan
from dpql.planner import plan
from dpql.review.explain import explain
from dpql.review.render import as_text
from dpql.statistics.definition import definition, phrase


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
        assert words == phrase(step)
        assert words == definition(step)
        assert f"spread: the {words}, because n is {known}." in as_text(explain(made))
