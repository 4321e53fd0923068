"""A run does things in the one order that loses no debit, and leaks nothing."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import date
from fractions import Fraction
from typing import Any

import polars as pl
import pytest
from api.office import CANARY, COUNT, DATASET, Office, code_of
from reports.sample_releases import (
    DAY,
    EXPIRED,
    OFFICER,
    STEWARD,
    STRANGER,
    TRUST,
    small_plan,
)

import dpql
from dpql.api import execute as execution
from dpql.errors import LedgerFault, RunFault, VerifyFault
from dpql.ledger import State
from dpql.model.plan import Plan
from dpql.model.spec import Neighbours, Spec
from dpql.planner import compiler, read
from dpql.planner.rules import Rules
from dpql.reports.approval import approve
from dpql.reports.envelope import peek
from dpql.reports.file_names import FOLDER
from dpql.reports.keys import Signer
from dpql.reports.trust import parse_trust, trust_line


def test_release_is_debited_stored_written_and_verifies(office: Office) -> None:
    """The whole way: four entries, every file, every check."""
    done = office.run()
    assert done.fresh
    assert done.entries == (2, 5)
    found = {path.name for path in (office.releases / "one").iterdir()}
    assert found == {"release.dsse.json", *dict(done.report.files)}
    assert set(FOLDER) < found
    verified = office.verify()
    assert [check.name for check in verified.checks] == [
        "signature",
        "files",
        "approval",
        "arithmetic",
        "ledger",
        "page",
    ]
    assert verified.digest == done.report.digest
    assert verified.release == done.release
    assert office.states() == [State.RELEASED]


def test_things_happen_in_order(
    office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Reserved before data, drawing before noise, released before any file."""
    seen: list[tuple[str, list[State]]] = []

    def noting(name: str, inner: Callable[..., Any]) -> Callable[..., Any]:
        def noted(*arguments: Any, **options: Any) -> Any:
            seen.append((name, office.states()))
            return inner(*arguments, **options)

        return noted

    from dpql.curator import run as module
    from dpql.curator.engines import polars

    assert callable(module)
    for name in ("open_source", "sums"):
        monkeypatch.setattr(polars, name, noting(name, getattr(polars, name)))
    import importlib

    running = importlib.import_module("dpql.curator.run")
    monkeypatch.setattr(running, "perturbed", noting("noise", running.perturbed))
    monkeypatch.setattr(execution, "sign", noting("sign", execution.sign))
    write = execution.Report.write
    monkeypatch.setattr(execution.Report, "write", noting("write", write))
    office.run()
    assert seen == [
        ("open_source", [State.RESERVED]),
        ("sums", [State.RESERVED]),
        ("noise", [State.DRAWING]),
        ("sign", [State.DRAWING]),
        ("write", [State.RELEASED]),
    ]


def test_a_run_compiles_its_plan_once(
    office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What reading or planning has audited is not derived again by the run."""
    compiled = compiler.compiled
    seen: list[Plan] = []

    def noted(spec: Spec, rules: Rules) -> Plan:
        seen.append(compiled(spec, rules))
        return seen[-1]

    monkeypatch.setattr(compiler, "compiled", noted)
    office.plan = read(office.plan.to_json())
    office.run()
    assert [office.plan] == seen


def test_an_unknown_engine_reserves_nothing(office: Office) -> None:
    """It is refused before the ledger is asked."""
    with pytest.raises(RunFault, match="abacus"):
        office.run(engine="abacus")
    assert office.states() == []


def test_same_plan_again_costs_nothing(office: Office) -> None:
    """The stored report comes back, byte for byte, without data or noise."""
    first = office.run()
    second = office.run("two", frames={})
    assert not second.fresh
    assert second.report == first.report
    assert second.entries == first.entries
    assert office.states() == [State.RELEASED]
    for name in ("release.csv", "release.parquet", "release.dsse.json"):
        one, two = ((office.releases / f / name).read_bytes() for f in ("one", "two"))
        assert one == two
    third = office.run("three", again=True)
    assert third.fresh
    assert third.report.digest != first.report.digest
    assert office.ledger.account(DATASET).spent == 2


def test_folder_lost_in_a_crash_comes_back(office: Office) -> None:
    """After a crash between seal and files the next run writes them, free."""
    office.run()
    shutil.rmtree(office.releases)
    assert not office.run().fresh
    assert office.verify().digest


def test_data_that_moved_bar_a_new_draw_but_not_what_was_released(
    office: Office,
) -> None:
    """The stored release comes back though its data are nowhere to be found."""
    office.ledger.bind(DATASET, str(office.data))
    first = office.run()
    office.data.rename(office.data.with_stem("moved"))
    moved = {"rows": str(office.data.with_stem("moved"))}
    assert office.run(frames=moved).report == first.report
    assert code_of(lambda: office.run(frames=moved, again=True)) == "DPQL716"
    office.ledger.bind(DATASET, moved["rows"])
    assert office.run("two", frames=moved, again=True).fresh
    assert office.ledger.account(DATASET).spent == 2 * office.plan.spent


def test_wrong_data_are_refused_without_cost(office: Office) -> None:
    """What the schema alone shows costs nothing: missing file, column, name."""
    bad = pl.DataFrame({"other": [1]})
    for frames in ({"rows": str(office.folder / "none.csv")}, {"rows": bad}, {}):
        with pytest.raises(RunFault):
            office.run(frames=frames)
    assert set(office.states()) == {State.CANCELLED}
    assert office.ledger.account(DATASET).left == 3


def test_a_pipe_is_refused_before_anything_is_reserved(office: Office) -> None:
    """Reading it might never end, with the budget held: the ledger stays as it was."""
    os.mkfifo(office.folder / "rows.csv")
    for path in (office.folder / "rows.csv", office.folder / "*.csv"):
        assert code_of(lambda path=path: office.run(frames={"rows": str(path)})) == (
            "DPQL511"
        )
    assert office.states() == []
    assert office.ledger.account(DATASET).left == 3


def test_failure_that_may_depend_on_rows_is_paid(
    office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An engine that fails has perhaps answered; the debit stands."""
    from dpql.curator.engines import polars

    def fails(*_: object, **__: object) -> None:
        raise RuntimeError(CANARY)

    monkeypatch.setattr(polars, "sums", fails)
    with pytest.raises(RunFault) as refusal:
        office.run()
    assert CANARY not in str(refusal.value)
    assert office.states() == [State.DRAWING]
    assert office.ledger.account(DATASET).spent == 1


def test_interrupted_reading_gives_back(
    office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The owner who stops a run before noise keeps the epsilon."""
    from dpql.curator.engines import polars

    def stops(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(polars, "sums", stops)
    with pytest.raises(KeyboardInterrupt):
        office.run()
    assert office.states() == [State.CANCELLED]


def test_recovered_run_draws_nothing(
    office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A run that was ended by the owner meanwhile is refused before its noise."""
    from dpql.curator.engines import polars

    sums = polars.sums

    def slow(*arguments: Any, **options: Any) -> Any:
        office.ledger.recover(DATASET)
        return sums(*arguments, **options)

    monkeypatch.setattr(polars, "sums", slow)
    assert code_of(office.run) == "DPQL709"
    assert office.states() == [State.CANCELLED]
    assert not office.releases.exists()


def test_overspending_is_refused_before_data(office: Office) -> None:
    """The fourth run of one unit each does not fit under a cap of three."""
    for number in range(3):
        office.run(str(number), again=True)
    assert code_of(lambda: office.run("3", again=True, frames={})) == "DPQL703"


def test_approvals_are_enforced_where_the_owner_asks(office: Office) -> None:
    """No approval, another plan's, a stranger's: refused, and nothing is reserved."""
    office.open(approvals=1, name="strict")
    run = lambda *given: office.run(dataset="strict", trust=TRUST, approvals=given)  # noqa: E731  one line
    assert code_of(run) == "DPQL611"
    other = approve(small_plan("x"), OFFICER, dataset="strict")
    assert code_of(lambda: run(other)) == "DPQL611"
    stranger = approve(office.plan, STRANGER, dataset="strict")
    assert code_of(lambda: run(stranger)) == "DPQL602"
    assert office.states("strict") == []
    good = approve(office.plan, OFFICER, dataset="strict")
    assert run(good).fresh
    assert [one.principal for one in office.verify().approved.reviewers] == [
        "officer@example.org"
    ]
    assert (
        code_of(
            lambda: office.run(
                "two", dataset="strict", trust=TRUST, approvals=(good,), again=True
            )
        )
        == "DPQL715"
    )


def _outputs(office: Office) -> Iterator[tuple[str, str]]:
    """Yield every file that came out, and what is packed inside it, as text."""
    for path in sorted(office.folder.rglob("*")):
        if path.is_file() and path != office.data:
            yield path.name, path.read_bytes().decode("utf-8", "replace")
    folder = office.releases / "one"
    yield "payload", peek((folder / "release.dsse.json").read_bytes()).decode()
    table = pl.read_parquet(folder / "release.parquet")
    yield "parquet", table.write_csv()
    with office.ledger.store.session(write=False) as session:
        yield "ledger", "\n".join(str(row.body) for row in session.rows(DATASET))


def test_nothing_of_the_data_comes_out(
    office: Office, capfd: pytest.CaptureFixture[str]
) -> None:
    """Neither text, nor number of rows, nor digest is in any byte; no path is public.

    The owner's ledger alone knows where the data are.
    """
    office.run()
    digest = hashlib.sha256(office.data.read_bytes()).hexdigest()
    paths = [office.data.name, str(office.folder)]
    number = re.compile(rf"(?<![0-9a-zA-Z/+]){COUNT}(?![0-9a-zA-Z/+])")
    names = set()
    for name, text in _outputs(office):
        names.add(name)
        own = name == "ledger" or name.startswith("ledger.db")
        for secret in [CANARY, digest, *([] if own else paths)]:
            assert secret not in text, name
        spaced = re.sub(r"(?<=\d)[\u202f ,](?=\d{3})", "", text)
        assert not number.search(spaced), name
    assert {"report.html", "ledger.db", "payload", "parquet", "ledger"} <= names
    assert "".join(capfd.readouterr()) == ""


def test_number_of_rows_would_be_noticed() -> None:
    """The search above finds the number in each of its spellings."""
    number = re.compile(rf"(?<![0-9a-zA-Z/+]){COUNT}(?![0-9a-zA-Z/+])")
    assert number.search('"n": "7919"')
    assert number.search("<td>7919</td>")
    assert not number.search("a7919f")


def test_release_needs_a_key(office: Office) -> None:
    """Without a signer nothing is reserved."""
    assert code_of(lambda: office.run(signers=())) == "DPQL615"
    assert office.states() == []


def test_faults_are_of_the_right_family(office: Office) -> None:
    """Refusals of trust, of budget and of data are told apart by their class."""
    with pytest.raises(VerifyFault):
        office.run(signers=())
    with pytest.raises(LedgerFault):
        office.run(dataset="unknown")
    with pytest.raises(RunFault):
        office.run(frames={})


@pytest.mark.parametrize(("key", "code"), [(OFFICER, "DPQL603"), (EXPIRED, "DPQL604")])
def test_key_that_would_not_be_accepted_spends_nothing(
    office: Office, key: Signer, code: str
) -> None:
    """A wrong role or an expired key is found before the reservation."""
    assert code_of(lambda: office.run(signers=(key,), trust=TRUST)) == code
    assert office.states() == []


def test_signer_that_the_plan_does_not_name_spends_nothing(office: Office) -> None:
    """The spec names `tester`; a known key of somebody else is refused at once."""
    line = trust_line(STEWARD.public, "other@example.org", ("dpql-release",))
    assert code_of(lambda: office.run(trust=parse_trust(line))) == "DPQL613"
    assert office.states() == []


def test_signer_cannot_approve_its_own_plan(office: Office) -> None:
    """Neither by the same key nor by another key of the same holder."""
    both = ("dpql-plan", "dpql-release")
    same_key = trust_line(STEWARD.public, "tester@example.org", both)
    second_key = trust_line(OFFICER.public, "tester@example.org", ("dpql-plan",))
    others = trust_line(OFFICER.public, "officer@example.org", ("dpql-plan",))
    office.open(approvals=1, name="strict")
    for lines, key, code in (
        ([same_key], STEWARD, "DPQL616"),
        ([same_key, second_key], OFFICER, "DPQL616"),
        ([same_key, others], OFFICER, None),
    ):
        trust = parse_trust("\n".join(lines))
        good = approve(office.plan, key, dataset="strict")
        for options in ({}, {"ledger": None, "folder": None}):
            attempt = lambda options=options, trust=trust, good=good: office.run(  # noqa: E731  one line
                dataset="strict", trust=trust, approvals=(good,), **options
            )
            if code is None:
                assert attempt().fresh
            else:
                assert code_of(attempt) == code
                assert office.states("strict") == []


def test_expired_approval_is_refused(office: Office) -> None:
    """The day of the release decides, not the clock."""
    envelope = approve(office.plan, OFFICER, dataset=DATASET, until=date(2026, 11, 15))
    attempt = lambda: office.run(trust=TRUST, approvals=(envelope,))  # noqa: E731  one line
    assert code_of(attempt) == "DPQL611"


def test_bound_data_are_not_run_under_another_name(office: Office) -> None:
    """Renaming the dataset buys no fresh budget for the same file."""
    office.ledger.open_account(
        "bound",
        cap=Fraction(3),
        unit=None,
        neighbours=Neighbours.ADD_REMOVE,
        location=str(office.data),
    )
    assert code_of(office.run) == "DPQL716"
    assert office.states() == []
    assert office.run(dataset="bound").fresh


def test_stored_report_needs_no_key_and_no_approval(office: Office) -> None:
    """What was released stays available when keys and approvals have ended."""
    office.open(approvals=1, name="strict")
    good = approve(office.plan, OFFICER, dataset="strict", until=DAY)
    first = office.run(dataset="strict", trust=TRUST, approvals=(good,))
    later = office.run(
        "two", dataset="strict", day=date(2030, 1, 1), signers=(), frames={}
    )
    assert later.report == first.report


def test_plan_that_spends_more_than_it_says_is_refused(office: Office) -> None:
    """A plan made by hand is audited before anything is reserved."""
    office.plan = replace(office.plan, spent=Fraction(1, 100))
    assert code_of(office.run) == "DPQL402"
    assert office.states() == []


def test_one_key_does_not_sign_twice(office: Office) -> None:
    """It is refused before anything is spent, with a ledger and without."""
    twice = {"signers": (STEWARD, STEWARD)}
    assert code_of(lambda: office.run(**twice)) == "DPQL615"
    assert code_of(lambda: office.run(**twice, ledger=None)) == "DPQL615"
    assert office.states() == []
    release = office.run().release
    assert release is not None
    assert code_of(lambda: dpql.sign(release, STEWARD, STEWARD)) == "DPQL615"
