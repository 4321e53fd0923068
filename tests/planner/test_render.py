"""The review as text, Markdown and JSON."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

from spec_text import ID, make_spec

from dpql.language import load
from dpql.planner import plan
from dpql.planner.explain import explain
from dpql.planner.render import as_json, as_markdown, as_text, marked

SPECS = Path(__file__).parents[2] / "specs"
RULE = "─" * 85
INCOME = plan(load(SPECS / "income.yaml"))

TABLE = """\
specs/income.yaml   plan DIGEST   (no data was read)

 statistic               mechanism   groups     ε   share            within, 95%
 RULE
 mean_income by region   snapping         9   3/4   ████████░░ 75%   beside each value
 households by region    geometric        9   1/4   ██░░░░░░░░ 25%   ± 36

 protects   one household_id (at most 3 rows in each of 1 group), added or removed
 spends     ε = 1, pure DP: any outcome at most 2.72 times likelier with \
a household_id than without
 reads      household_id, region, income
"""


def test_the_terminal_table_is_the_one_of_the_manual() -> None:
    """Aligned columns, bars, facts; remarks below."""
    text = as_text(explain(INCOME), source="specs/income.yaml")
    assert text.startswith(
        TABLE.replace("DIGEST", INCOME.digest[:8]).replace("RULE", RULE)
    )
    assert all(line == line.rstrip() for line in text.splitlines())


def test_without_a_source_the_plan_comes_first() -> None:
    """A plan that has no file is named by its digest."""
    assert as_text(explain(INCOME)).startswith(f"plan {INCOME.digest[:8]}   (no data")


def test_levels_that_differ_are_said_line_by_line() -> None:
    """The heading has no percentage then."""
    explanation = explain(INCOME)
    lines = (
        explanation.lines[0],
        replace(explanation.lines[1], alpha=Fraction(1, 100)),
    )
    text = as_text(replace(explanation, lines=lines))
    assert "within\n" in text
    assert "± 36 (99%)" in text


def test_markdown_is_a_table() -> None:
    """For a pull request."""
    text = as_markdown(explain(INCOME))
    assert f"### income\\_2026: plan `{INCOME.digest[:8]}`" in text
    assert "| households by region | geometric | 9 | 1/4 |" in text
    assert "- **spends** ε = 1, pure DP" in text


def test_json_has_exact_and_readable_numbers() -> None:
    """Numbers are texts, exact beside decimal; it survives a JSON round."""
    document = as_json(explain(INCOME))
    assert json.loads(json.dumps(document)) == document
    assert document["plan"] == INCOME.digest
    assert document["statistics"][0]["epsilon"] == {"exact": "3/4", "decimal": "0.75"}
    assert document["statistics"][0]["accuracy"] is None
    assert document["statistics"][1]["accuracy"] == {"exact": "36", "decimal": "36"}


HOSTILE = "a\x1b[31m\u202eb|<script>`*_[x](y)"


def test_hostile_names_are_inert() -> None:
    """Control and bidi characters are spelled out, Markdown is escaped."""
    spec = make_spec({"p": ID}, {"it": {"count": "rows", "spend": "{share: 1}"}})
    (ask,) = spec.statistics
    hostile = plan(
        replace(
            spec,
            release=HOSTILE,
            purpose=HOSTILE,
            statistics=(replace(ask, name=HOSTILE),),
        )
    )
    for text in (
        as_text(explain(hostile), source=HOSTILE),
        as_markdown(explain(hostile)),
    ):
        assert "\x1b" not in text
        assert "\u202e" not in text
    assert "<script>" not in as_markdown(explain(hostile))
    rows = [
        line for line in as_markdown(explain(hostile)).splitlines() if "geo" in line
    ]
    assert rows[0].replace("\\|", "").count("|") == 7


def test_marked_text_is_shown_as_it_is() -> None:
    """Every character with a meaning in Markdown is escaped."""
    assert marked("a|b*c") == "a\\|b\\*c"
