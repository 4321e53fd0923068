"""Reports say on what an accuracy rests, and mark the groups that contradict it."""

from __future__ import annotations

import pytest
from model.test_promised_rows import counting, promising
from reports.sample_releases import DAY, STEWARD, TRUST, VERSIONS
from reports.test_hostile_keys import seen

from dpql.planner import audit
from dpql.reports.display import unverified_view
from dpql.reports.registry import registry_record
from dpql.reports.report import Report, sign
from dpql.reports.verify import verify

CONDITION = "if every group has at least 100 rows"
MARK = "fewer than the promised 100 rows here (noisy count 3 ±"


def report(*counts: int, at_least: str | None = "100") -> Report:
    """Return a signed report with these noisy counts."""
    outcome = counting(promising(at_least), *counts)
    return sign(outcome, [STEWARD], day=DAY, ledger=None, versions=VERSIONS)


def forms(made: Report) -> dict[str, str]:
    """Return what a reader sees of a report, in every form."""
    return {
        form: seen(text).replace("\\", "")
        for form, text in (
            ("text", made.to_text()),
            ("markdown", made.to_markdown()),
            ("html", made.to_html()),
        )
    }


def test_every_form_says_on_what_the_accuracy_rests() -> None:
    """The condition stands beside the stated accuracy and in the signed text."""
    made = report(500, 400)
    for form, text in forms(made).items():
        assert f"confidence each, {CONDITION}" in text, form
        assert f"the stated ± holds {CONDITION}" in text, form
        assert "fewer than" not in text, form
        assert "contradicts" not in text, form
    predicate = unverified_view(made.envelope, made.digest).predicate
    record = registry_record(predicate, made.digest, curator="Office")
    assert CONDITION in record["deployment"]["implementation"]["utility"]


def test_groups_that_contradict_the_promise_are_marked() -> None:
    """One of two groups has far fewer rows: it is marked, and counted above."""
    for form, text in forms(report(500, 3)).items():
        assert 1 == text.count(MARK), form
        assert "1 of 2 groups: the noisy count contradicts" in text, form


def test_without_a_promise_there_is_nothing_to_mark() -> None:
    """A mean without `at_least` states no accuracy, so nothing can contradict it."""
    for form, text in forms(report(500, 3, at_least=None)).items():
        assert "promised" not in text, form
        assert CONDITION not in text, form


def test_a_marked_report_verifies() -> None:
    """The mark follows from the released numbers; nothing new is signed."""
    made = report(500, 3)
    verified = verify(made.envelope, TRUST, audit=audit, files=dict(made.files))
    assert verified.digest == made.digest


@pytest.mark.parametrize("unit", ["row", "person"])
def test_a_bound_on_contributions_is_said_at_the_top(unit: str) -> None:
    """Totals are of the rows that the bound leaves, and the reader is told."""
    from reports.sample_releases import broad_plan, make_outcome, small_plan

    plan = small_plan() if unit == "row" else broad_plan()
    outcome = make_outcome(plan)
    made = sign(outcome, [STEWARD], day=DAY, ledger=None, versions=VERSIONS)
    for form, text in forms(made).items():
        said = "at most 3 rows of a person in each of at most 1 group; the others are"
        assert (unit == "person") == (said in text), form


def test_the_view_that_a_signer_keeps_is_that_of_the_envelope() -> None:
    """Nothing parses a new report again, and its view says what its bytes say."""
    made = report(500, 3)
    read = Report(envelope=made.envelope, files=made.files)
    assert read == made
    assert unverified_view(made.envelope, made.digest) == made.view == read.view
