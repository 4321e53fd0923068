"""Sentences of a report say what the plan says."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest
import spec_text
from reports.sample_releases import small_plan

from dpql.language import load_text
from dpql.model.condition_text import condition_text
from dpql.model.plan import Plan
from dpql.planner import plan
from dpql.reports.sentences import (
    before_noise,
    guarantee_words,
    post_processing,
    unprotected,
)
from dpql.statistics.definition import definition


def known_rows() -> Plan:
    """Return a plan under replace_one with a public number of rows."""
    spec = spec_text.make_spec(
        {
            "age": spec_text.integer(0, 100),
            "wage": spec_text.decimal_column("0", "10", Fraction(1, 2)),
        },
        {
            "spread": {"variance": "age", "spend": "{share: 1}"},
            "both": {"covariance": "[age, wage]", "spend": "{share: 1}"},
        },
        rows="{exactly: 50}",
        neighbours="replace_one",
    )
    return plan(spec)


def test_promise_names_the_factor_and_the_neighbours() -> None:
    """The factor is rounded up to three digits; the sentence says who differs."""
    assert guarantee_words(small_plan()) == (
        "Whether or not one row is in the data changes the probability of any result "
        "by a factor of at most 2.72, whatever else is known."
    )
    assert guarantee_words(known_rows()).startswith("Replacing one row by any other ")


def test_older_releases_keep_their_promise() -> None:
    """What was signed is derived again as it was worded."""
    assert guarantee_words(replace(small_plan(), version=3)) == (
        "Whatever else is known, any outcome of this release is at most 2.72 times "
        "likelier with one row in the data than without."
    )
    assert guarantee_words(replace(known_rows(), version=2)).endswith(
        "with one row as it is than with any other in its place."
    )


def test_what_the_noise_is_added_to_is_said() -> None:
    """Rows beyond the bounds, other keys and clamped values are no part of it."""
    made = plan(
        spec_text.make_spec(
            {
                "person": "{type: id}",
                "kind": "{type: category, keys: [a, b]}",
                "age": spec_text.integer(0, 100),
                "wage": "{type: integer, bounds: [0, 9], nulls: drop}",
            },
            {
                "all": {"count": "rows", "spend": "{share: 1}"},
                "kinds": {"histogram": "kind", "spend": "{share: 1}"},
                "ages": {"histogram": "age", "bins": "[0, 50]", "spend": "{share: 1}"},
                "wages": {"mean": "wage", "by": "[kind]", "spend": "{share: 1}"},
            },
            unit="person",
            contributes="{rows: 3, groups: 1}",
        )
    )
    said = [before_noise(made, step) for step in made.steps]
    assert [
        "at most 3 rows of a person, the others are dropped",
        (
            "at most 3 rows of a person in 1 of 2 groups, the others are dropped; "
            "declared keys only"
        ),
        (
            "at most 3 rows of a person, the others are dropped; a missing age counts "
            "as 0; values clamped into their bounds; only values inside the bins"
        ),
        (
            "at most 3 rows of a person in 1 of 2 groups, the others are dropped; "
            "declared keys only; only rows that hold a number; values clamped into "
            "their bounds; the value of a group without rows is noise alone"
        ),
    ] == said
    assert before_noise(known_rows(), known_rows().steps[1]) == (
        "a missing age counts as 0; a missing wage counts as 0; values clamped into "
        "their bounds; wage rounded to whole steps of 0.5"
    )
    plain_count = spec_text.make_spec(
        {"age": spec_text.integer(0, 100)},
        {"n": {"count": "rows", "spend": "{share: 1}"}},
    )
    assert before_noise(plan(plain_count), plan(plain_count).steps[0]) == "all rows"


def test_public_facts_are_listed() -> None:
    """The number of rows, where public, and every bound that was declared."""
    assert unprotected(known_rows()) == (
        "the number of rows, declared as exactly 50",
        "the bounds 0 to 100 of age, declared",
        "the bounds 0 to 10 of wage, declared",
    )


def test_promised_group_sizes_are_listed() -> None:
    """A lower bound on group sizes is a public claim too."""
    spec = spec_text.make_spec(
        {"age": spec_text.integer(0, 100, "drop")},
        {"middle": {"mean": "age", "at_least": "10", "spend": "{share: 1}"}},
    )
    assert unprotected(plan(spec))[-1] == (
        "that every group of middle has at least 10 rows, declared and not checked"
    )


def test_definitions_name_their_columns() -> None:
    """One phrase per statistic."""
    spread, both = known_rows().steps
    assert definition(spread) == "sample variance of age (divided by n - 1)"
    assert definition(both) == ("sample covariance of age and wage (divided by n - 1)")
    assert "clamped into the public range" in post_processing(both)


@pytest.mark.parametrize(
    ("written", "text"),
    [
        ("age >= 18", "age >= 18"),
        ("age in [1, 2]", "age in [1, 2]"),
        ("age between 1 and 5", "age between 1 and 5"),
        ("age is null", "age is null"),
        ("not age == 3", "not age == 3"),
        ('region == "a"', 'region == "a"'),
        ("age > 1 and (age < 3 or age == 9)", "age > 1 and (age < 3 or age == 9)"),
        ("age > 1 or age < 3 and age == 9", "age > 1 or (age < 3 and age == 9)"),
    ],
)
def test_conditions_read_as_written(written: str, text: str) -> None:
    """Every kind of condition, with brackets where they matter."""
    spec = spec_text.make_spec(
        {
            "age": spec_text.integer(0, 100),
            "region": "{type: category, keys: [a, b]}",
        },
        {"n": {"count": "rows", "where": f"'{written}'", "spend": "{share: 1}"}},
    )
    (step,) = plan(spec).steps
    assert step.where is not None
    assert condition_text(step.where) == text
    assert definition(step) == f"number of rows, where {text}"


def test_an_accuracy_that_rests_on_a_promise_says_so() -> None:
    """The signed text names the number of rows that the accuracy needs."""
    spec = spec_text.make_spec(
        {"age": spec_text.integer(0, 100, "drop")},
        {"middle": {"mean": "age", "at_least": "10", "spend": "{share: 1}"}},
    )
    made = plan(spec)
    assert before_noise(made, made.steps[0]).endswith(
        "; the stated ± holds if every group has at least 10 rows"
    )


def test_names_and_bounds_are_exact() -> None:
    """Odd columns stand in backquotes; sixteen digits stay sixteen."""
    spec = spec_text.make_spec(
        {
            "person": "{type: id}",
            '"a and b"': "{type: float, bounds: [0, 0.1000000000000001], nulls: drop}",
        },
        {"total": {"sum": '"a and b"', "spend": "{share: 1}"}},
        unit="person",
        contributes="{rows: 1, groups: 1}",
    )
    made = plan(spec)
    assert "sum of `a and b`" == definition(made.steps[0])
    assert unprotected(made)[1:] == (
        "the bounds 0 to 0.1000000000000001 of `a and b`, declared",
    )


@pytest.mark.parametrize(
    ("statistic", "expected"),
    [
        (
            {"mean": "b"},
            "a missing b counts as true",
        ),
        (
            {"count": "rows", "by": "[c]"},
            "only rows that hold a value",
        ),
        (
            {"distinct": "day"},
            "a missing day counts as 2013-01-02; values clamped into their bounds",
        ),
        (
            {"mean": "gained"},
            "only rows where gained is not null",
        ),
        (
            {"count": "rows", "by": "[late]"},
            "late is y > 5",
        ),
    ],
)
def test_truths_dates_and_derived_columns_are_described(
    statistic: dict[str, str], expected: str
) -> None:
    """What is dropped, filled or clamped before the noise, in the spec's own words."""
    text = spec_text.spec_text(
        {
            "x": spec_text.integer(0, 9, "drop"),
            "y": spec_text.integer(0, 9),
            "b": "{type: boolean, nulls: {as: true}}",
            "c": "{type: boolean, nulls: drop}",
            "day": "{type: date, bounds: [2013-01-01, 2013-12-31], "
            "nulls: {as: 2013-01-02}}",
        },
        {"it": {**statistic, "spend": "{share: 1}"}},
    ).replace("privacy:", "  derived: {gained: x - y, late: y > 5}\nprivacy:")
    made = plan(load_text(text, form="yaml"))
    assert expected in before_noise(made, made.steps[0])
    assert "the bounds 2013-01-01 to 2013-12-31 of day, declared" in unprotected(made)
