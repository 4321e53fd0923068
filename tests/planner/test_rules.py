"""Formats of plans: which rules audit them, and which may still be run."""

from __future__ import annotations

from dataclasses import replace

import pytest
from spec_text import ID, integer, make_spec

from dpql.errors import PlanFault
from dpql.model.plan import VERSION, Plan
from dpql.planner import audit, audit_published, plan, read
from dpql.planner.compiler import compiled
from dpql.planner.rules import FORMAT_1, NOW, rules_of
from dpql.review.diff import diff

COLUMNS = {"p": ID, "x": integer(0, 10), "y": integer(0, 10)}
SHARE = {"spend": "{share: 1}"}
REPLACE = {"rows": "{exactly: 100}", "neighbours": "replace_one"}


def old(statistic: dict[str, str] | None = None, **options: str) -> Plan:
    """Return a plan as format 1 would have it."""
    spec = make_spec(COLUMNS, {"it": (statistic or {"mean": "x"}) | SHARE}, **options)
    return compiled(spec, FORMAT_1)


def code(caught: pytest.ExceptionInfo[PlanFault]) -> str:
    """Return the code of the only fault."""
    (fault,) = caught.value.diagnostics
    return fault.code


def test_a_plan_of_format_1_is_read_and_not_run() -> None:
    """It passes by its own rules; to be run it is refused as old, not as edited."""
    given = old()
    assert given == read(given.to_json())
    audit_published(given)
    with pytest.raises(PlanFault) as caught:
        audit(given)
    assert "DPQL404" == code(caught)
    assert "older planner" in str(caught.value)


def test_a_plan_of_today_passes_both() -> None:
    """Whatever `plan` makes may be run, and verified."""
    made = plan(old().spec)
    assert VERSION == made.version == NOW.version
    audit(made)
    audit_published(made)


@pytest.mark.parametrize("version", [0, 5, -1])
def test_a_plan_of_an_unknown_format_is_refused(version: int) -> None:
    """DPQL401, or DPQL404 where it was to be run."""
    given = replace(plan(old().spec), version=version)
    with pytest.raises(PlanFault) as caught:
        rules_of(given)
    assert "DPQL401" == code(caught)
    with pytest.raises(PlanFault) as caught:
        audit_published(given)
    assert "DPQL401" == code(caught)
    with pytest.raises(PlanFault) as caught:
        audit(given)
    assert "DPQL404" == code(caught)


def test_an_altered_plan_of_either_format_is_altered() -> None:
    """DPQL402: a number that its own rules do not give, or another format's number."""
    units = {"unit": "p", "contributes": "{rows: 2, groups: 1}"} | REPLACE
    given = old(**units)
    made = plan(given.spec)
    assert given.steps != made.steps
    for wrong in (
        replace(given, steps=(replace(given.steps[0], at_least=7),)),
        replace(made, version=1),
        replace(given, version=2),
    ):
        with pytest.raises(PlanFault) as caught:
            audit_published(wrong)
        assert "DPQL402" == code(caught)


def test_format_1_took_n_for_public_beside_units() -> None:
    """A covariance of units stays to be verified, and is another one today."""
    units = {"unit": "p", "contributes": "{rows: 2, groups: 1}"}
    spec = make_spec(COLUMNS, {"it": {"covariance": "[x, y]"} | SHARE}, **REPLACE)
    privacy = make_spec(COLUMNS, {"it": {"sum": "x"} | SHARE}, **(units | REPLACE))
    spec = replace(spec, privacy=privacy.privacy)
    given = compiled(spec, FORMAT_1)
    assert given == read(given.to_json())
    assert [False, True] == [p.steps[0].joint for p in (given, plan(spec))]


def test_a_change_of_format_is_for_review() -> None:
    """Two plans of one spec by different planners are not the same."""
    given = old({"sum": "x"})
    found = diff(given, plan(given.spec))
    assert "REVIEW" == found.verdict.value
    assert any(change.text == "plan format 1 → 4" for change in found.changes)
