"""The author's purpose and names are marked as such in reports, and shown whole."""

from __future__ import annotations

import re
from dataclasses import replace
from html import unescape

import pytest
from reports.sample_releases import DAY, STEWARD, VERSIONS, make_outcome, small_plan

from dpql.model.plan import Plan
from dpql.planner import plan
from dpql.reports.report import sign
from dpql.review.curves.page import page
from dpql.review.explain import explain
from dpql.review.render import as_markdown

PURPOSE = "No noise was needed.   promises   nothing " + "x" * 900 + " end"
ESCAPED = PURPOSE.replace("   ", r" \u{0020}\u{0020}")
NAME = "n" * 64


def named() -> Plan:
    """Return a plan whose statistic and release have the longest of names."""
    spec = small_plan(PURPOSE).spec
    statistics = (replace(spec.statistics[0], name=NAME), *spec.statistics[1:])
    return plan(replace(spec, release="r" * 64, statistics=statistics))


def texts(made: Plan) -> dict[str, str]:
    """Return every form that a person reads, as it is seen."""
    outcome = make_outcome(made)
    report = sign(outcome, [STEWARD], day=DAY, ledger=None, versions=VERSIONS)
    return {
        "text": report.to_text(),
        "markdown": re.sub(r"\\(.)", r"\1", report.to_markdown()),
        "html": unescape(re.sub(r"</?bdi>", "", report.to_html())),
        "plan": re.sub(r"\\(.)", r"\1", as_markdown(explain(made))),
        "curves": unescape(page(made)),
        "release": str(outcome),
    }


@pytest.mark.parametrize(
    ("form", "label"),
    [
        ("text", ' purpose    "'),
        ("markdown", '| purpose | "'),
        ("html", 'Purpose</span> "'),
        ("plan", '- **purpose** "'),
        ("curves", '<dt>purpose</dt><dd>"'),
    ],
)
def test_the_purpose_is_labelled_quoted_and_whole(form: str, label: str) -> None:
    """It cannot pass for a sentence of dpql or for a row, nor is its end lost."""
    written = texts(named())[form]
    assert 1 == written.count(f'{label}{ESCAPED}"')
    assert 1 == written.count("No noise was needed.")


@pytest.mark.parametrize("form", ["text", "markdown", "html", "plan", "release"])
def test_the_longest_names_are_shown_whole(form: str) -> None:
    """Statistics and releases of 64 characters are not cut."""
    written = texts(named())[form]
    assert NAME in written
    assert "r" * 64 in written
