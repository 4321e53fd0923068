"""The review as text, Markdown, HTML and JSON."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest
from spec_text import ID, make_spec

from dpql.language import load
from dpql.planner import plan
from dpql.review.explain import explain
from dpql.review.render import as_json, as_markdown, as_text, marked

SPECS = Path(__file__).parents[2] / "specs"
RULE = "─" * 87
INCOME = plan(load(SPECS / "income.yaml"))

TABLE = """\
specs/income.yaml   plan DIGEST   (no data was read)

 statistic               mechanism   groups     ε   share            within, 95%
 RULE
 mean_income by region   snapping         9   3/4   ████████░░ 75%   known after the run
 households by region    geometric        9   1/4   ██░░░░░░░░ 25%   ± 36

 protects   one household_id (at most 3 rows in each of 1 group), added or removed
 spends     ε = 1, pure DP: whether or not one household_id is in the data \
changes the probability of any result by a factor of at most 2.72
 counts     at most 3 rows of a household_id in 1 of 9 groups: totals are of those rows
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


@pytest.mark.heavy
@pytest.mark.parametrize("name", sorted(path.stem for path in SPECS.glob("*.yaml")))
def test_json_has_the_numbers_of_the_plan(name: str) -> None:
    """Whatever decides noise and accuracy is there as the plan's own file has it."""
    made = plan(load(SPECS / f"{name}.yaml"))
    entries = as_json(explain(made))["statistics"]
    steps = json.loads(made.to_json())["steps"]
    assert len(steps) == len(entries)
    same = ("sensitivity", "l0", "lower", "upper", "loss", "gamma", "quantisation")
    for step, entry in zip(steps, entries, strict=True):
        assert int(step["cells"]) == entry["cells"]
        for member in (*same, "bound", "grids", "readout", "at_least", "statistic"):
            assert step[member] == entry[member], member
        assert len(step["parts"]) == len(entry["parts"])
        for part, shown in zip(step["parts"], entry["parts"], strict=True):
            measure = {key: x for key, x in part["measure"].items() if key != "terms"}
            noise = part["noise"]
            rest = {k: x for k, x in part.items() if k not in ("measure", "noise")}
            assert {**measure, **noise, **rest} == shown


def test_json_names_what_each_mechanism_needs() -> None:
    """B, the precision and the grid of snapping; the theta of geometric noise."""
    mean, count = as_json(explain(INCOME))["statistics"]
    for part in mean["parts"]:
        assert {"B", "precision", "Lambda_prime", "lambda_prime"} <= {
            *part["parameters"]
        }
    assert {"theta", "lattice"} <= {*count["parts"][0]["parameters"]}


def test_an_accuracy_that_rests_on_a_promise_has_a_star() -> None:
    """The star and its line are in every form; JSON says it in words."""
    made = plan(load(SPECS / "waiting_times.yaml"))
    words = "only if every group has at least 5 000 rows"
    for text in (
        as_text(explain(made)),
        as_markdown(explain(made)),
        made._repr_html_(),
    ):
        assert "minute *" in text.replace("\\", "")
        assert f"* {words}" in text.replace("\\", "")
    within = as_json(explain(made))["statistics"][0]["within"]
    assert within.endswith(words.removeprefix("only "))
    assert "*" not in as_text(explain(INCOME))


def test_promises_that_differ_look_different() -> None:
    """Each has a line of its own, which names its statistics."""
    mean = {"mean": "x", "spend": "{share: 1}"}
    made = plan(
        make_spec(
            {"x": "{type: integer, bounds: [0, 9], nulls: drop}"},
            {"one": mean | {"at_least": "5"}, "two": mean | {"at_least": "7"}},
        )
    )
    text = as_text(explain(made))
    assert "* one: only if every group has at least 5 rows" in text
    assert "* two: only if every group has at least 7 rows" in text


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
    assert marked("a  b") == "a &nbsp;b"
