"""The review: what a reviewer reads of a plan."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from pathlib import Path

from spec_text import ID, integer, make_spec

from dpql.language import load
from dpql.model.plan import Plan
from dpql.planner import plan
from dpql.review.explain import confidence, explain, promise, reads, title

SPECS = Path(__file__).parents[2] / "specs"


def planned(name: str) -> Plan:
    """Return the plan of a spec of the gallery."""
    return plan(load(SPECS / f"{name}.yaml"))


def facts(made: Plan) -> dict[str, str]:
    """Return what is protected, spent and read."""
    return dict(explain(made).facts)


def test_it_says_who_is_protected_and_at_what_price() -> None:
    """Unit, contribution, relation and e to the epsilon, in words."""
    found = facts(planned("income"))
    assert found["protects"] == (
        "one household_id (at most 3 rows in each of 1 group), added or removed"
    )
    assert found["spends"] == (
        "ε = 1, pure DP: whether or not one household_id is in the data changes the "
        "probability of any result by a factor of at most 2.72"
    )
    assert found["reads"] == "household_id, region, income"


def test_rows_that_are_replaced_are_said_to_be() -> None:
    """replace_one has its own words, and a fraction its decimal."""
    spec = load(SPECS / "smallest_mean.yaml")
    half = replace(spec, privacy=replace(spec.privacy, epsilon=Fraction(1, 2)))
    found = facts(plan(half))
    assert found["protects"] == "one row, replaced by any other"
    assert found["spends"] == (
        "ε = 1/2 (0.5), pure DP: replacing one row by any other changes the "
        "probability of any result by a factor of at most 1.65"
    )


def test_rows_that_are_kept_of_units_are_of_a_private_number() -> None:
    """Under replace_one the declared number is that of all rows, kept or not."""
    made = plan(
        make_spec(
            {"person": ID, "x": integer(0, 9, nulls="{as: 0}")},
            {"average": {"mean": "x", "spend": "{share: 1}"}},
            rows="{exactly: 100}",
            neighbours="replace_one",
            unit="person",
            contributes="{rows: 2, groups: 1}",
        )
    )
    assert facts(made)["counts"] == (
        "at most 2 rows of a person: totals are of those rows, "
        "and how many are kept is private"
    )
    assert "private" not in facts(planned("income"))["counts"]


def test_the_power_of_two_is_pointed_out() -> None:
    """At epsilon 1 a millionth more halves the grid of snapping."""
    notes = explain(planned("smallest_mean")).notes
    assert any("a millionth more would halve the grid" in note for note in notes)
    nudged = replace(
        planned("smallest_mean").spec,
        privacy=replace(
            planned("smallest_mean").spec.privacy, epsilon=Fraction(1_000_001, 10**6)
        ),
    )
    assert not any("millionth" in note for note in explain(plan(nudged)).notes)


def test_it_says_what_else_could_be_had() -> None:
    """The other mechanism, and what a round target takes."""
    notes = explain(planned("smallest_mean")).notes
    assert "mean_age: geometric would give ± 1.85 year at the same ε." in notes
    assert "To get within ± 2 year, mean_age needs ε ≈ 1.01 (total 1.01)." in notes


def test_a_ratio_shows_its_parts_and_where_its_accuracy_is() -> None:
    """Parts, their costs, and the error at two counts."""
    made = planned("income")
    notes = explain(made).notes
    assert (
        "mean_income: computed from noisy parts: count (ε 3/8), sum (ε 3/8)." in notes
    )
    assert any("each value comes with its interval" in note for note in notes)
    assert promise(made.step("mean_income")) == "known after the run"
    assert title(made.step("mean_income")) == "mean_income by region"


def test_a_unit_in_many_cells_is_explained() -> None:
    """l0 and filters are said."""
    spec = make_spec(
        {"p": ID, "x": integer(0, 9), "g": "{type: category, keys: [a, b, c]}"},
        {
            "it": {
                "count": "rows",
                "by": "[g]",
                "where": "x > 3",
                "spend": "{epsilon: 0.5}",
            }
        },
        unit="p",
        contributes="{rows: 1, groups: 2}",
    )
    notes = explain(plan(spec)).notes
    assert "it: only rows where x > 3." in notes
    assert (
        "it: one unit can change 2 cells, so each cell's noise spends ε 1/4." in notes
    )
    assert "ε 1/2 of the total stays unspent: no statistic asks for it." in notes


def test_large_plans_get_no_remarks_on_alternatives() -> None:
    """Beyond fifty statistics nobody reads them."""
    statistics = {f"s{i}": {"count": "rows", "spend": "{share: 1}"} for i in range(51)}
    assert explain(plan(make_spec({"x": integer(0, 9)}, statistics))).notes == ()


def test_columns_read_are_those_used() -> None:
    """Inputs, groups, filters and the unit; nothing else."""
    spec = make_spec(
        {
            "p": ID,
            "x": integer(0, 9),
            "y": integer(0, 9),
            "z": integer(0, 9),
            "g": "{type: category, keys: [a]}",
        },
        {"it": {"sum": "x", "where": "y > 1", "by": "[g]", "spend": "{share: 1}"}},
        unit="p",
        contributes="{rows: 1, groups: 1}",
    )
    assert reads(plan(spec)) == ("p", "x", "y", "g")


def test_different_levels_have_no_common_confidence() -> None:
    """Each line then says its own."""
    lines = explain(planned("income")).lines
    assert confidence(lines) == "95%"
    mixed = (lines[0], replace(lines[1], alpha=Fraction(1, 100)))
    assert confidence(mixed) is None


def test_an_id_that_protects_nobody_is_pointed_out() -> None:
    """With rows as units, an id column suggests that somebody was forgotten."""
    columns = {"person": ID, "age": integer(0, 9)}
    ask = {"rows": {"count": "rows", "spend": "{share: 1}"}}
    by_row = explain(plan(make_spec(columns, ask))).notes
    assert by_row[0].startswith("person is declared an id, but the unit is a row")
    by_person = make_spec(
        columns, ask, unit="person", contributes="{rows: 1, groups: 1}"
    )
    assert not any("declared an id" in note for note in explain(plan(by_person)).notes)


def test_a_unit_that_changes_one_cell_twice_does_not_change_two() -> None:
    """Replacing a row moves a centred sum by twice its sensitivity, in one cell."""
    made = plan(
        make_spec(
            {"x": "{type: integer, bounds: [0, 9], nulls: {as: 0}}"},
            {
                "it": {
                    "mean": "x",
                    "where": "x > 3",
                    "mechanism": "snapping",
                    "spend": "{share: 1}",
                }
            },
            rows="{exactly: 100}",
            neighbours="replace_one",
        )
    )
    assert (
        "it: one unit can change its cells by 2 times the sensitivity in all, so each "
        "cell's noise spends ε 1/2 (count), ε 1/4 (sum)."
    ) in explain(made).notes
    assert "over 100 rows at the same ε" in " ".join(explain(made).notes)


def test_rows_beyond_the_bound_are_spoken_of() -> None:
    """Totals are of the rows that are kept, and the plan says of how many."""
    made = planned("income")
    assert (
        "at most 3 rows of a household_id in 1 of 9 groups: totals are of those rows"
    ) == dict(explain(made).facts)["counts"]
