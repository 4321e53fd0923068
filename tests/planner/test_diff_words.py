"""What an author writes is told from what dpql says, and nothing of it is hidden."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from spec_text import make_spec

from dpql.model.plan import Plan
from dpql.planner import plan
from dpql.review.changes import Change, Verdict
from dpql.review.diff import diff
from dpql.review.diff_render import as_json, as_markdown, as_text
from dpql.review.diff_steps import computed

TOTAL = {"sum": "wage", "spend": "{share: 1}"}
LATE = {"sum": "wage", "where": "age >= 18", "by": "[g]", "spend": "{share: 1}"}


def made(
    statistics: dict[str, dict[str, str]] | None = None,
    *,
    unit: str = "EUR",
    keys: str = "a, b",
    purpose: str = "A test.",
) -> Plan:
    """Return a plan of sums of wages."""
    spec = make_spec(
        {
            "wage": f"{{type: integer, bounds: [0, 9], unit: '{unit}', nulls: drop}}",
            "age": "{type: integer, bounds: [0, 99], nulls: drop}",
            "g": f"{{type: category, keys: [{keys}]}}",
        },
        statistics or {"q": TOTAL},
        purpose=f"'{purpose}'",
    )
    return plan(spec)


def lines(old: Plan, new: Plan, subject: str) -> list[Change]:
    """Return the changes of a subject."""
    return [change for change in diff(old, new).changes if change.subject == subject]


def test_another_unit_of_measure_is_for_review() -> None:
    """Every number means something else, and both units are shown."""
    (change,) = lines(made(), made(unit="000 EUR"), "measure")
    assert (Verdict.REVIEW, 'wage: EUR → "000 EUR"') == (change.verdict, change.text)
    assert 0 == diff(made(), made(unit="USD")).cosmetic


@pytest.mark.parametrize(
    ("ask", "expected"),
    [
        (LATE, "sum of wage, where age >= 18, by g"),
        ({"count": "rows", "spend": "{share: 1}"}, "number of rows"),
        (
            {"histogram": "age", "bins": "[0, 18, 99]", "spend": "{share: 1}"},
            "number of rows by age, bins [0, 18, 99]",
        ),
    ],
)
def test_new_and_removed_statistics_say_what_they_compute(
    ask: dict[str, Any], expected: str
) -> None:
    """The name is the author's; columns, filter and groups stand beside it."""
    few, many = made(), made({"q": TOTAL, "wages_all": ask})
    for old, new, mark in ((few, many, "+"), (many, few, "-")):
        found = diff(old, new)
        (change,) = [one for one in found.changes if one.mark == mark]
        assert f"wages_all: {expected}" == change.text
        assert f" {mark} wages_all: {expected}   " in as_text(found)
        assert change.text in [one["text"] for one in as_json(found)["changes"]]
        plainly = as_markdown(found).replace("\\", "")
        assert f"| {mark} |  | wages_all: {expected} |" in plainly


def test_a_new_spec_lists_what_it_computes() -> None:
    """Where nothing was before, every statistic is new."""
    assert ("q: sum of wage", "late: sum of wage, where age >= 18, by g") == computed(
        made({"q": TOTAL, "late": LATE})
    )


def test_a_purpose_does_not_push_the_notes_aside() -> None:
    """The notes of short lines stand where they would stand without it."""
    other = made({"q": TOTAL}, purpose="x " * 400 + "y", unit="USD")
    found = as_text(diff(made(), other)).splitlines()
    (line,) = [one for one in found if one.startswith(" ! measure")]
    assert len(line) < 80


def test_a_changed_purpose_is_shown_in_quotes() -> None:
    """Old and new text, each as its author's, for a person to judge."""
    new = "None. REVIEW   budget  ε 1 → 1/9"
    found = diff(made(), made(purpose=new))
    (change,) = found.changes
    told = r"None. REVIEW \u{0020}\u{0020}budget \u{0020}ε 1 → 1/9"
    assert f'"A test." → "{told}"' == change.text
    assert (Verdict.REVIEW, "purpose", 0) == (
        found.verdict,
        change.subject,
        found.cosmetic,
    )


def test_a_changed_name_of_the_release_is_shown() -> None:
    """Another name may be that of another release."""
    old = made()
    found = diff(old, plan(replace(old.spec, release="x" * 64)))
    (change,) = found.changes
    assert (Verdict.REVIEW, "release", f"test → {'x' * 64}") == (
        change.verdict,
        change.subject,
        change.text,
    )


def test_added_and_removed_keys_stand_in_quotes() -> None:
    """No key can pass for an arrow or for a key that goes."""
    by = {"q": {"count": "rows", "by": "[g]", "spend": "{share: 1}"}}
    old = made(by, keys="ann, bob")
    new = made(by, keys="'ann → bob', '- ann'")
    (change,) = lines(old, new, "keys")
    assert '+ "ann → bob", + "- ann", - "ann", - "bob"' == change.note
