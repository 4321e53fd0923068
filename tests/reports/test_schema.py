"""The checked-in schema of reports is fresh, and fits what is written."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest
from reports.sample_releases import (
    OFFICER,
    broad_plan,
    make_payload,
    rehearsal_payload,
    small_plan,
)

from dpql.model.codec import canonical
from dpql.reports.approval import approve
from dpql.reports.envelope import peek
from dpql.reports.schema import report_schema

SCHEMAS = Path(__file__).parents[2] / "schemas"
OLD = Path(__file__).parents[1] / "vectors" / "releases_0_1"


def test_checked_in_schema_is_fresh() -> None:
    """The file is what the types give."""
    expected = canonical(report_schema())
    assert expected == (SCHEMAS / "report.v4.schema.json").read_bytes()


@pytest.mark.parametrize(
    "path",
    [
        "debited/release.dsse.json",
        "undebited/release.dsse.json",
        "rehearsal.dsse.json",
        "visits.approval.officer.json",
    ],
)
def test_old_statements_fit_their_own_schema(path: str) -> None:
    """The schema of format 1 is kept for what dpql 0.1 signed; the new one differs."""
    document = json.loads(peek((OLD / path).read_bytes()))
    schema = json.loads((SCHEMAS / "report.v1.schema.json").read_bytes())
    assert list(jsonschema.Draft202012Validator(schema).iter_errors(document)) == []
    newest = jsonschema.Draft202012Validator(report_schema())
    assert list(newest.iter_errors(document))


@pytest.mark.parametrize("kind", ["small", "broad", "rehearsal", "approval"])
def test_statements_fit_the_schema(kind: str) -> None:
    """Every kind of statement is valid, and none with a member more."""
    payloads = {
        "small": lambda: make_payload(small_plan()),
        "broad": lambda: make_payload(broad_plan()),
        "rehearsal": lambda: rehearsal_payload(small_plan()),
        "approval": lambda: peek(approve(small_plan(), OFFICER)),
    }
    document = json.loads(payloads[kind]())
    validator = jsonschema.Draft202012Validator(report_schema())
    assert list(validator.iter_errors(document)) == []
    for subjects in (document["subject"][1:], [*document["subject"]] * 2, []):
        assert list(validator.iter_errors({**document, "subject": subjects}))
    document["predicate"]["surprise"] = "member"
    assert list(validator.iter_errors(document))


def test_a_report_holds_no_number_but_text() -> None:
    """No float and no integer stands in a report: every number is exact text.

    What is true or false is no number.
    """
    found: list[object] = []

    def walk(node: object) -> None:
        if isinstance(node, dict):
            for item in node.values():
                walk(item)
        elif isinstance(node, list):
            for item in node:
                walk(item)
        elif not isinstance(node, str | bool) and node is not None:
            found.append(node)

    walk(json.loads(make_payload(broad_plan())))
    assert found == []
