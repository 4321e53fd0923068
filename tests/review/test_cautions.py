"""Warnings of `check` and `plan` about what is hardly intended."""

from __future__ import annotations

from dataclasses import replace

import spec_text

from dpql.model.plan import Plan
from dpql.planner import plan
from dpql.review.cautions import cautions, losses
from dpql.review.explain import explain

COLUMNS = {
    "person": spec_text.ID,
    "kind": "{type: category, keys: [a, b, c]}",
    "age": spec_text.integer(0, 100, "drop"),
}


def made(
    statistics: dict[str, dict[str, str]],
    *,
    groups: int = 1,
    epsilon: str = "1",
    rows: str = "{at_most: 100_000}",
) -> Plan:
    """Return a plan about persons with up to three rows."""
    return plan(
        spec_text.make_spec(
            COLUMNS,
            statistics,
            unit="person",
            contributes=f"{{rows: 3, groups: {groups}}}",
            epsilon=epsilon,
            rows=rows,
        )
    )


COUNT = {"count": "rows", "by": "[kind]", "spend": "{share: 1}"}


def test_filters_that_no_row_passes_are_named() -> None:
    """The warning has the filter, and says whether the bounds are to blame."""
    found = cautions(made({"n": {**COUNT, "where": "age > 300"}}))
    assert [
        "n: no value inside the declared bounds and keys passes `age > 300`."
    ] == found
    (found_,) = cautions(made({"n": {**COUNT, "where": "age > 3 and age < 2"}}))
    assert found_ == "n: no row can pass `age > 3 and age < 2`, it contradicts itself."
    assert [] == cautions(made({"n": {**COUNT, "where": "age > 3"}}))


def test_older_plans_are_not_judged_by_rules_of_today() -> None:
    """Their conditions were never null."""
    wanted = made({"n": {**COUNT, "where": "age > 300"}})
    assert [] == cautions(replace(wanted, version=3))


def test_promises_that_say_nothing_are_named() -> None:
    """A count within more than half its range, a mean within all of its bounds."""
    small = {"epsilon": "0.001", "rows": "{at_most: 1_000}"}
    (count,) = cautions(made({"n": COUNT}, **small))
    assert "as wide as the whole range that is possible" in count
    mean = {"mean": "age", "spend": "{share: 1}"}
    (words,) = cautions(made({"m": mean}, **small))
    assert words.startswith(
        "m: even over all 1000 rows its interval would be the whole"
    )
    assert [] == cautions(made({"n": COUNT, "m": mean}))


def test_cells_that_a_unit_may_not_fill_are_said() -> None:
    """One sentence names the statistics; it stands in the plan and not in `check`."""
    whole = {"count": "rows", "spend": "{share: 1}"}
    statistics = {"kinds": COUNT, "all": whole}
    (words,) = losses(made(statistics))
    assert words.startswith(
        "A person counts in fewer groups than there are: kinds (1 of 3)."
    )
    assert words in explain(made(statistics)).notes
    assert [] == cautions(made(statistics))
    (words,) = losses(made(statistics, groups=2))
    assert "kinds (2 of 3)" in words
    assert [] == losses(made(statistics, groups=3))
    rows = plan(spec_text.make_spec({"kind": COLUMNS["kind"]}, {"kinds": COUNT}))
    assert [] == losses(rows)


def test_an_id_beside_rows_as_units_is_questioned() -> None:
    """Someone with many rows is protected less."""
    count = {"count": "rows", "spend": "{share: 1}"}
    columns = {"person": spec_text.ID, "age": COLUMNS["age"]}
    (words,) = cautions(plan(spec_text.make_spec(columns, {"n": count})))
    assert words.startswith("person is declared an id, but the unit is a row")
