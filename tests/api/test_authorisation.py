"""An approval is for one dataset, and every run of its plan counts against it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from api.office import DATASET, Office
from reports.sample_releases import DAY, OFFICER, TRUST, small_plan

import dpql
from dpql.api.verification import verify_release
from dpql.errors import DpqlError, VerifyFault
from dpql.ledger import State
from dpql.reports.approval import approve, verify_approvals
from dpql.reports.display import unverified_view
from dpql.reports.trust import load_trust

OLD = Path(__file__).parents[1] / "vectors" / "releases_0_1"


@pytest.fixture
def office(tmp_path: Path) -> Office:
    """Give an office with two datasets that ask for an approval each."""
    made = Office(tmp_path, small_plan())
    for name in ("spring", "autumn"):
        made.open(approvals=1, name=name)
        made.data.rename(tmp_path / f"{name}.parquet")
        made.data.write_bytes((tmp_path / f"{name}.parquet").read_bytes())
    return made


def _run(office: Office, dataset: str, *approvals: bytes, **options: Any) -> object:
    name = f"{dataset}-{len(office.states(dataset))}"
    frames = {"rows": str(office.folder / f"{dataset}.parquet")}
    return office.run(
        name,
        dataset=dataset,
        trust=TRUST,
        approvals=approvals,
        frames=frames,
        **options,
    )


def _refused(attempt: Callable[[], object]) -> tuple[str, str, str]:
    with pytest.raises(DpqlError) as refusal:
        attempt()
    (why,) = refusal.value.diagnostics
    return why.code, why.message, why.hint or ""


def test_approval_for_one_dataset_allows_no_run_on_another(office: Office) -> None:
    """One run was approved, for one dataset: the other one gets none."""
    good = approve(office.plan, OFFICER, dataset="spring")
    _run(office, "spring", good)
    code, words, hint = _refused(lambda: _run(office, "autumn", good))
    assert code == "DPQL617"
    assert words == "an approval is for the dataset `spring`, not for `autumn`"
    assert "dpql approve PLAN --key REVIEWER --dataset autumn" in hint
    assert office.states("autumn") == []


def test_runs_on_every_dataset_of_the_ledger_count(office: Office) -> None:
    """A plan that was run elsewhere has used up its one run; two are two in all."""
    _run(office, "spring", approve(office.plan, OFFICER, dataset="spring"))
    once = approve(office.plan, OFFICER, dataset="autumn")
    code, words, hint = _refused(lambda: _run(office, "autumn", once))
    assert code == "DPQL715"
    assert words == (
        "the approvals allow 1 run of this plan, all used (1 of them on other datasets)"
    )
    assert "dpql approve PLAN --dataset autumn --runs 2 --out NEWFILE" in hint
    assert office.states("autumn") == []
    twice = approve(office.plan, OFFICER, dataset="autumn", runs=2)
    _run(office, "autumn", twice)
    again = lambda: _run(office, "autumn", twice, again=True)  # noqa: E731  one line
    assert _refused(again)[0] == "DPQL715"
    for name in ("spring", "autumn"):
        assert office.states(name) == [State.RELEASED]
        assert office.verify(f"{name}-0").approved.dataset == name


def test_cancelled_runs_do_not_count(office: Office) -> None:
    """What was given back before any noise leaves the approved run to others."""
    reserved = office.ledger.reserve("autumn", office.plan, runs=1)
    good = approve(office.plan, OFFICER, dataset="spring")
    assert _refused(lambda: _run(office, "spring", good))[0] == "DPQL715"
    office.ledger.cancel(reserved)  # type: ignore[arg-type]
    _run(office, "spring", good)


def test_run_without_a_ledger_is_said_to_be_uncounted(office: Office) -> None:
    """Nothing counts such runs, so the release, its page and its verifier say so."""
    good = approve(office.plan, OFFICER, dataset=DATASET)
    for name in ("a", "b"):
        office.run(name, ledger=None, trust=TRUST, approvals=[good])
        verified = verify_release(office.releases / name, TRUST)
        assert verified.predicate.caveats == (
            "no budget was debited: the release was made without a ledger",
            "runs were not counted: there was no ledger to count them in",
        )
        warnings = {one.name: one.text for one in verified.checks if one.warning}
        uncounted = "runs were not counted: there was no ledger to count them in"
        assert warnings["approval"].endswith(f" for {DATASET}; {uncounted}")
        assert warnings["ledger"] == f"no budget was debited; {uncounted}"
        page = (office.releases / name / "report.html").read_text("utf-8")
        assert "Runs were not counted" in page
    other = approve(office.plan, OFFICER, dataset="spring")
    run = lambda: office.run("c", ledger=None, trust=TRUST, approvals=[other])  # noqa: E731  one line
    assert _refused(run)[0] == "DPQL617"


def test_approvals_of_one_release_name_one_dataset(office: Office) -> None:
    """Where no ledger tells the dataset, the approvals must agree on one."""
    both = [approve(office.plan, OFFICER, dataset=name) for name in ("one", "two")]
    check = lambda given: verify_approvals(  # noqa: E731  one line
        given, office.plan, TRUST, day=DAY, dataset=None
    )
    assert [check([one]).dataset for one in both] == ["one", "two"]
    assert check([]).dataset is None
    assert _refused(lambda: check(both))[0] == "DPQL617"


def test_approval_names_the_source_unless_told(office: Office) -> None:
    """The plan's own name of its data is the default; a name must be one."""
    envelope = dpql.approve(office.plan, OFFICER)
    allowed = verify_approvals(
        [envelope], office.plan, TRUST, day=DAY, dataset=office.plan.spec.data.source
    )
    assert allowed.dataset == "rows"
    for name in ("", "../x", "a b", "x" * 101, "ä", "a\n"):
        attempt = lambda name=name: dpql.approve(office.plan, OFFICER, dataset=name)  # noqa: E731  one line
        assert _refused(attempt)[0] == "DPQL617"


def test_old_approval_allows_no_new_run() -> None:
    """An approval of 0.1 names no dataset: it counts in its own reports only."""
    envelope = (OLD / "debited" / "release.dsse.json").read_bytes()
    plan = unverified_view(envelope, "").predicate.plan
    approval = (OLD / "visits.approval.officer.json").read_bytes()
    trust = load_trust(OLD / "allowed_signers")
    with pytest.raises(VerifyFault) as refusal:
        verify_approvals([approval], plan, trust, day=DAY, dataset="visits")
    (why,) = refusal.value.diagnostics
    assert why.code == "DPQL617"
    assert why.message == (
        "an approval of dpql 0.1 names no dataset, so it allows no new run"
    )
    assert "`dpql approve PLAN --key REVIEWER --dataset visits`" in (why.hint or "")
    allowed = verify_approvals(
        [approval], plan, trust, day=DAY, dataset="visits", format_=1
    )
    assert (allowed.runs, allowed.dataset) == (2, None)
    new = approve(plan, OFFICER, dataset="visits")
    with pytest.raises(VerifyFault):
        verify_approvals([new], plan, TRUST, day=DAY, dataset="visits", format_=1)
