"""A reviewer's signature covers one plan, some runs, up to a day."""

from __future__ import annotations

from datetime import date

import pytest
from reports.sample_releases import (
    DAY,
    EXPIRED,
    OFFICER,
    STEWARD,
    STRANGER,
    TRUST,
    small_plan,
)

from dpql.errors import VerifyFault
from dpql.reports.approval import Approved, approve, verify_approvals
from dpql.reports.keys import Signer
from dpql.reports.trust import parse_trust, trust_line


def _verify(*envelopes: bytes, needed: int = 0, day: date = DAY) -> Approved:
    return verify_approvals(
        envelopes, small_plan(), TRUST, day=day, dataset="rows", needed=needed
    )


def _code(*envelopes: bytes, needed: int = 0, day: date = DAY) -> str:
    with pytest.raises(VerifyFault) as refusal:
        _verify(*envelopes, needed=needed, day=day)
    return refusal.value.diagnostics[0].code


def test_approval_allows_what_it_says() -> None:
    """Reviewer and number of runs come out; without approvals nothing is limited."""
    approved = _verify(approve(small_plan(), OFFICER, runs=3), needed=1)
    assert [one.principal for one in approved.reviewers] == ["officer@example.org"]
    assert approved.runs == 3
    assert _verify().runs is None


def test_the_least_number_of_runs_counts() -> None:
    """Two approvals allow what both allow."""
    plan = small_plan()
    day = date(2026, 11, 15)
    both = [approve(plan, OFFICER, runs=3), approve(plan, EXPIRED, runs=2)]
    approved = _verify(*both, needed=2, day=day)
    assert approved.runs == 2
    assert len(approved.reviewers) == 2


def test_a_reviewer_can_allow_more() -> None:
    """A later approval of one reviewer need not wait for the earlier one to go."""
    plan = small_plan()
    mine = [approve(plan, OFFICER, runs=runs) for runs in (1, 5, 2)]
    assert _verify(*mine).runs == 5
    day = date(2026, 11, 15)
    other = approve(plan, EXPIRED, runs=3)
    assert _verify(*mine, other, needed=2, day=day).runs == 3


def test_one_reviewer_counts_once() -> None:
    """A threshold counts different keys."""
    plan = small_plan()
    envelopes = [approve(plan, OFFICER), approve(plan, OFFICER, runs=2)]
    assert _code(*envelopes, needed=2) == "DPQL611"


def test_two_keys_of_one_holder_are_one_reviewer() -> None:
    """Names in the trust file tell people apart, not the number of their keys."""
    plan = small_plan()
    envelopes = [approve(plan, key) for key in (OFFICER, STEWARD, STRANGER)]
    one = trust_line(OFFICER.public, "officer@example.org", ("dpql-plan",))
    same = trust_line(STEWARD.public, "officer@example.org", ("dpql-plan",))
    other = trust_line(STRANGER.public, "second@example.org", ("dpql-plan",))
    trust = parse_trust(f"{one}\n{same}\n{other}")
    verify = lambda given: verify_approvals(  # noqa: E731  one line
        given, plan, trust, day=DAY, dataset="rows", needed=2
    )
    assert verify(envelopes).runs == 1
    with pytest.raises(VerifyFault) as refusal:
        verify(envelopes[:2])
    assert refusal.value.diagnostics[0].code == "DPQL611"


def test_missing_approval_is_refused() -> None:
    """What the owner asks for must be there."""
    assert _code(needed=1) == "DPQL611"


def test_approval_of_another_plan_is_refused() -> None:
    """A plan that was changed after review is another plan."""
    assert _code(approve(small_plan("Changed."), OFFICER)) == "DPQL611"


def test_approval_ends() -> None:
    """The last day counts; the day after does not."""
    envelope = approve(small_plan(), OFFICER, until=DAY)
    assert _verify(envelope).runs == 1
    assert _code(envelope, day=date(2026, 11, 17)) == "DPQL611"


@pytest.mark.parametrize(
    ("key", "code"),
    [(STEWARD, "DPQL603"), (STRANGER, "DPQL602"), (EXPIRED, "DPQL604")],
)
def test_approval_by_the_wrong_key_is_refused(key: Signer, code: str) -> None:
    """Another role, an unknown key, a key that is no longer valid."""
    assert _code(approve(small_plan(), key)) == code


@pytest.mark.parametrize("runs", [0, -1, 10**6 + 1])
def test_number_of_runs_is_sensible(runs: int) -> None:
    """An approval is for at least one run."""
    with pytest.raises(VerifyFault) as refusal:
        approve(small_plan(), OFFICER, runs=runs)
    assert refusal.value.diagnostics[0].code == "DPQL611"
