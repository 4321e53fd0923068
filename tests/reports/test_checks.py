"""The checks of a verification say what they checked, and warn of what they did not."""

from __future__ import annotations

from dataclasses import replace

import pytest
from reports.sample_releases import DAY, TRUST, make_outcome, record, small_plan
from reports.test_shown_keys import made

from dpql.reports.approval import Approved
from dpql.reports.checks import (
    approval_check,
    arithmetic_check,
    data_check,
    fault_check,
    files_check,
    ledger_check,
    page_check,
    signature_check,
    unsigned_files_note,
)
from dpql.reports.predicate import FIRST_FORMAT, FORMAT, MEMORY, ReportPredicate
from dpql.reports.predicate_builder import build
from dpql.reports.trust import TrustedKey

PLAN = small_plan()
VERSIONS = {"dpql": "0.3.0"}
STEWARD, OFFICER, EXPIRED = TRUST.keys


def _predicate(data: str | None = "bound") -> ReportPredicate:
    """Return what a report says whose data are bound in that way; None: no ledger."""
    ledger = None if data is None else replace(record(PLAN), data=data)
    return build(
        make_outcome(PLAN), day=DAY, ledger=ledger, approvals=(), versions=VERSIONS
    )


def test_signers_are_named_with_key_and_role() -> None:
    """So is the day until which a key is trusted."""
    check = signature_check([STEWARD, EXPIRED])
    assert STEWARD.key.fingerprint in check.text
    assert 2 == check.text.count("role dpql-release")
    assert 1 == check.text.count("valid until 2026-11-16")
    assert not check.warning


@pytest.mark.parametrize(
    ("reviewers", "data", "warning"),
    [((), "bound", True), ((OFFICER,), "bound", False), ((OFFICER,), None, True)],
)
def test_approvals_count_only_where_runs_are_counted(
    reviewers: tuple[TrustedKey, ...], data: str | None, *, warning: bool
) -> None:
    """Nobody signed, or nobody counted the runs: either is a warning."""
    approved = Approved(envelopes=(), reviewers=reviewers, runs=1, dataset="wages")
    check = approval_check(approved, _predicate(data))
    assert warning is check.warning
    assert PLAN.digest[:8] in check.text


def test_arithmetic_names_the_sum_that_was_spent() -> None:
    """And how many claims and values were computed again."""
    text = arithmetic_check(make_outcome(PLAN)).text  # type: ignore[arg-type]
    expected = f"Σ ε = {PLAN.spent}; 1 accuracy claims recomputed; 2 values"
    assert text.startswith(expected)


def test_a_ledger_confirms_or_is_missed() -> None:
    """Without a debit there is a warning; a ledger that is away confirms nothing."""
    missed = ledger_check(_predicate(None), None)
    assert missed is not None
    assert missed.warning
    assert ledger_check(_predicate(), None) is None
    confirmed = ledger_check(_predicate(), 9)
    assert confirmed is not None
    assert "entry 6 is in the chain; entry 9 names this envelope" == confirmed.text


def test_data_without_a_budget_of_their_own_are_a_warning() -> None:
    """Bound data are not, and without a ledger that was said already."""
    assert data_check(_predicate()) is None
    assert data_check(_predicate(None)) is None
    warned = data_check(_predicate(MEMORY))
    assert warned is not None
    assert warned.warning


def test_only_known_faults_are_warned_of() -> None:
    """A plan of this version has none."""
    assert fault_check(make_outcome(PLAN)) is None  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("page", "format_", "words", "warning"),
    [
        (b"page", FORMAT, "shows this report", False),
        (b"other", FORMAT, "its text was not compared", True),
        (b"page", FIRST_FORMAT, "page unsigned", True),
        (b"other", FIRST_FORMAT, "trust release.dsse.json alone", True),
        (None, FIRST_FORMAT, "report.html is missing", True),
    ],
)
def test_pages(page: bytes | None, format_: int, words: str, *, warning: bool) -> None:
    """A page is compared, and of format 1 nothing more can be said."""
    check = page_check(page, b"page", format_)
    assert words in check.text
    assert warning is check.warning


def test_files_are_listed() -> None:
    """Signed files match; of unsigned ones the first few are named."""
    assert "a, b match" == files_check("ab").text
    assert [] == unsigned_files_note(())
    (note,) = unsigned_files_note(tuple("abcdefg"))
    assert note.endswith("a, b, c, d, e and 2 more")


def test_keys_that_were_found_are_checked() -> None:
    """What they may fail is added up, or taken from what turns rho into epsilon."""
    release = made(listed=True)
    text = arithmetic_check(release).text
    assert text.startswith("Σ ε = 4, Σ δ = 1/1000000; 5 accuracy claims")
    assert text.endswith("the keys of found, routes are such as can be shown")
    shared = arithmetic_check(made(mechanism="gaussian")).text
    assert "at δ = 1/1000000, of it 1/2000000 for keys; " in shared
