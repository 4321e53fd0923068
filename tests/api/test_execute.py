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
from pathlib import Path
from typing import Any, cast

import polars as pl
import pytest
from api.office import CANARY, COUNT, DATASET, Office, RememberingListener
from ledger.ledger_stores import tampering
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
from dpql.api.execute import Executed
from dpql.api.ledger_heads import known_heads
from dpql.api.listener import Ending, Fate, RunListener
from dpql.api.run_request import RunRequest
from dpql.api.stored_reports import fetched_report
from dpql.api.verification import verify_release, verify_report
from dpql.errors import DpqlError, LedgerFault, RunFault, VerifyFault
from dpql.ledger import Head, State, open_ledger
from dpql.model.plan import Plan
from dpql.model.release import Release
from dpql.model.spec import Neighbours, Spec
from dpql.planner import compiler, read
from dpql.planner.rules import Rules
from dpql.reports.approval import approve
from dpql.reports.envelope import peek, seal
from dpql.reports.file_names import FOLDER
from dpql.reports.keys import Signer
from dpql.reports.trust import parse_trust, trust_line


@pytest.fixture
def office(tmp_path: Path) -> Office:
    """Give an office with an open dataset."""
    return Office(tmp_path, small_plan())


def _code(attempt: Callable[[], object]) -> str:
    with pytest.raises(DpqlError) as refusal:
        attempt()
    return refusal.value.diagnostics[0].code


def test_release_is_debited_stored_written_and_verifies(office: Office) -> None:
    """The whole way: four entries, four files, every check."""
    done = office.run()
    assert done.fresh
    assert done.entries == (2, 5)
    assert {path.name for path in (office.releases / "one").iterdir()} == {
        "release.csv",
        "release.dsse.json",
        "release.parquet",
        "report.html",
    }
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


def test_a_request_shows_no_rows(office: Office) -> None:
    """Whoever prints or logs a request learns nothing about the data."""
    frame = pl.read_parquet(office.data)
    request = RunRequest(
        plan=office.plan,
        frames={"rows": frame},
        ledger=None,
        dataset=DATASET,
        signers=(STEWARD,),
        day=DAY,
    )
    assert CANARY not in repr(request)


def test_who_watches_a_run_cannot_spoil_it(office: Office) -> None:
    """A terminal that is gone costs no epsilon; an interrupt still stops."""

    def raising(error: type[BaseException]) -> RunListener:
        def method(*_: object) -> None:
            raise error

        methods = ("reserved", "entered", "progressed", "ended")
        listens = type("Raising", (RunListener,), dict.fromkeys(methods, method))
        return cast("RunListener", listens())

    done = office.run(listener=raising(BrokenPipeError))
    assert done.fresh
    assert office.states() == [State.RELEASED]
    with pytest.raises(KeyboardInterrupt):
        office.run("two", again=True, listener=raising(KeyboardInterrupt))
    assert office.states() == [State.RELEASED, State.RESERVED]


def test_listener_hears_what_became_of_a_debit(
    office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Given back before the draw, spent after it, held back if the ledger fails."""
    heard = RememberingListener()
    with pytest.raises(RunFault):
        office.run(frames={"rows": "nowhere.parquet"}, listener=heard)
    assert heard.endings == [Ending(fate=Fate.GIVEN_BACK, entry=3)]

    def unable(*_: object, **__: object) -> None:
        raise VerifyFault.of("DPQL620", "no key")

    with monkeypatch.context() as patch:
        patch.setattr("dpql.api.execute.sign", unable)
        with pytest.raises(VerifyFault):
            office.run(listener=heard)
    assert heard.endings[1:] == [Ending(fate=Fate.SPENT, entry=6)]
    with monkeypatch.context() as patch:
        patch.setattr(type(office.ledger), "cancel", unable)
        with pytest.raises(RunFault):
            office.run(frames={"rows": pl.DataFrame({"x": [1]})}, listener=heard)
    assert heard.endings[2:] == [Ending(fate=Fate.HELD_BACK, entry=7)]
    office.run("last", again=True, listener=heard)
    assert len(heard.endings) == 3


def test_an_unknown_engine_reserves_nothing(office: Office) -> None:
    """It is refused before the ledger is asked."""
    with pytest.raises(RunFault, match="spark"):
        office.run(engine="spark")
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


@pytest.mark.parametrize("name", FOLDER)
@pytest.mark.parametrize("harm", ["gone", "altered"])
def test_harmed_folder_is_mended_by_the_next_run(
    office: Office, name: str, harm: str
) -> None:
    """The same plan again costs nothing and leaves the folder as it was signed."""
    office.run()
    folder = office.releases / "one"
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    (folder / name).unlink()
    if harm == "altered":
        (folder / name).write_bytes(before[name].replace(b"1", b"2", 1))
    done = office.run(frames={})
    assert (done.fresh, done.mended) == (False, (name,))
    assert before == {path.name: path.read_bytes() for path in folder.iterdir()}
    assert office.verify().digest == done.report.digest
    assert office.run(frames={}).mended == ()
    assert office.states() == [State.RELEASED]


def test_tables_are_made_again_where_the_ledger_lost_them(office: Office) -> None:
    """The stored report is enough; what has another digest is not passed off."""
    first = office.run()
    _edit_kept(office, "DELETE FROM kept WHERE digest IN ({})", first)
    shutil.rmtree(office.releases)
    assert office.run().report == first.report
    assert office.verify().digest == first.report.digest


def test_table_that_cannot_be_made_again_is_refused(
    office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another engine may write another file; it is not the one that was signed."""
    first = office.run()
    _edit_kept(office, "UPDATE kept SET data = x'00' WHERE digest IN ({})", first)
    monkeypatch.setattr(Release, "to_parquet", lambda _: b"PAR2")
    assert _code(lambda: office.run("two")) == "DPQL711"
    assert not (office.releases / "two").exists()


def _edit_kept(office: Office, statement: str, done: Executed) -> None:
    """Do something to the stored tables of a release, behind the ledger's back."""
    digests = [hashlib.sha256(data).hexdigest() for _, data in done.report.files]
    with tampering(office.location) as execute_sql:
        execute_sql(statement.format(", ".join(f"'{digest}'" for digest in digests)))


def test_unfinished_folder_of_a_killed_run_goes(office: Office) -> None:
    """What a run left that was killed while it wrote is gone after the next."""
    part = office.releases / ".dpql-release.killed"
    part.mkdir(parents=True)
    (part / "release.csv").write_bytes(b"half")
    office.run()
    assert [path.name for path in office.releases.iterdir()] == ["one"]


def test_folder_that_is_taken_is_left_alone(office: Office) -> None:
    """It is refused before anything is spent, as is a folder below a file."""
    taken = office.releases / "one"
    taken.mkdir(parents=True)
    (taken / "notes.txt").write_text("mine", "utf-8")
    for name in ("one", "one/notes.txt", "one/notes.txt/below"):
        assert _code(lambda name=name: office.run(name)) == "DPQL630"
        below = {"folder": None, "within": taken / "notes.txt"}
        assert _code(lambda below=below: office.run(**below)) == "DPQL630"
    assert [path.name for path in taken.iterdir()] == ["notes.txt"]
    assert [path.name for path in office.releases.iterdir()] == ["one"]
    assert office.states() == []


def test_folder_that_is_taken_meanwhile_is_left_alone(office: Office) -> None:
    """Nothing is overwritten; the report is stored, and comes out elsewhere."""
    taken = office.releases / "one"

    class Taking(RunListener):
        def reserved(self, number: int) -> None:
            del number
            taken.mkdir(parents=True)
            (taken / "notes.txt").write_text("mine", "utf-8")

    assert _code(lambda: office.run(listener=Taking())) == "DPQL630"
    assert [path.name for path in taken.iterdir()] == ["notes.txt"]
    assert office.states() == [State.RELEASED]
    assert not office.run("two").fresh


def test_name_of_its_own_is_chosen_as_it_is_taken(office: Office) -> None:
    """Each release gets a folder; each is found again, and mended where it is."""
    own = {"folder": None, "within": office.releases}
    done = [office.run(again=number > 0, **own) for number in range(3)]
    folders = [one.folder for one in done]
    base = folders[0]
    assert base is not None
    assert base.name.endswith(office.plan.spec.release)
    assert folders[1:] == [base.with_name(f"{base.name}-{n}") for n in (2, 3)]
    (folders[2] / "release.csv").unlink()
    again = office.run(**own)
    assert (again.fresh, again.folder) == (False, folders[2])
    assert again.mended == ("release.csv",)
    for one in done:
        fetched = fetched_report(office.ledger, DATASET, one.report.digest[:16])
        assert fetched == one.report


def test_only_what_was_released_is_fetched(office: Office) -> None:
    """A digest that no run ended in, or that does not say which, is refused."""
    for _ in range(2):
        office.run(folder=None, again=True)
    for digest in ("f" * 64, "", "zz"):
        with pytest.raises(LedgerFault) as refusal:
            fetched_report(office.ledger, DATASET, digest)
        assert refusal.value.diagnostics[0].code == "DPQL709"


def test_data_that_moved_bar_a_new_draw_but_not_what_was_released(
    office: Office,
) -> None:
    """The stored release comes back though its data are nowhere to be found."""
    office.ledger.bind(DATASET, str(office.data))
    first = office.run()
    office.data.rename(office.data.with_stem("moved"))
    moved = {"rows": str(office.data.with_stem("moved"))}
    assert office.run(frames=moved).report == first.report
    assert _code(lambda: office.run(frames=moved, again=True)) == "DPQL716"
    office.ledger.bind(DATASET, moved["rows"])
    assert office.run("two", frames=moved, again=True).fresh
    assert office.ledger.account(DATASET).spent == 2 * office.plan.spent


def test_link_in_place_of_the_folder_is_not_followed(office: Office) -> None:
    """A link at the name of the folder is refused, wherever it leads."""
    elsewhere = office.folder / "elsewhere"
    elsewhere.mkdir()
    office.releases.mkdir()
    (office.releases / "one").symlink_to(elsewhere)
    assert _code(office.run) == "DPQL630"
    assert list(elsewhere.iterdir()) == []


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
        assert _code(lambda path=path: office.run(frames={"rows": str(path)})) == (
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
    assert _code(office.run) == "DPQL709"
    assert office.states() == [State.CANCELLED]
    assert not office.releases.exists()


def test_overspending_is_refused_before_data(office: Office) -> None:
    """The fourth run of one unit each does not fit under a cap of three."""
    for number in range(3):
        office.run(str(number), again=True)
    assert _code(lambda: office.run("3", again=True, frames={})) == "DPQL703"


def test_approvals_are_enforced_where_the_owner_asks(office: Office) -> None:
    """No approval, another plan's, a stranger's: refused, and nothing is reserved."""
    office.open(approvals=1, name="strict")
    run = lambda *given: office.run(dataset="strict", trust=TRUST, approvals=given)  # noqa: E731  one line
    assert _code(run) == "DPQL611"
    other = approve(small_plan("x"), OFFICER, dataset="strict")
    assert _code(lambda: run(other)) == "DPQL611"
    stranger = approve(office.plan, STRANGER, dataset="strict")
    assert _code(lambda: run(stranger)) == "DPQL602"
    assert office.states("strict") == []
    good = approve(office.plan, OFFICER, dataset="strict")
    assert run(good).fresh
    assert [one.principal for one in office.verify().approved.reviewers] == [
        "officer@example.org"
    ]
    assert (
        _code(
            lambda: office.run(
                "two", dataset="strict", trust=TRUST, approvals=(good,), again=True
            )
        )
        == "DPQL715"
    )


def test_restored_ledger_is_noticed_by_releases_beside(office: Office) -> None:
    """Even with the witness gone, our own published releases know better."""
    backup = office.folder / "backup.db"
    shutil.copy(office.location, backup)
    office.run()
    shutil.copy(backup, office.location)
    office.forget()
    assert _code(lambda: office.run("two")) == "DPQL706"
    assert _code(lambda: office.run(folder=None, published=(office.releases,))) == (
        "DPQL706"
    )
    assert _code(office.verify) == "DPQL612"


def test_ledger_put_back_and_run_again_is_noticed(office: Office) -> None:
    """The same entries have the same digests; the report they end in has not."""
    backup = office.folder / "backup.db"
    shutil.copy(office.location, backup)
    first = office.run()
    hidden = office.releases.rename(office.folder / "hidden")
    report = first.report
    while report.digest == first.report.digest:
        shutil.copy(backup, office.location)
        office.forget()
        shutil.rmtree(office.releases, ignore_errors=True)
        report = office.run("two").report
    hidden.joinpath("one").rename(office.releases / "one")
    office.forget()
    assert _code(lambda: office.run("three", again=True)) == "DPQL706"
    assert _code(office.verify) == "DPQL612"
    heads = known_heads([office.releases], [STEWARD], None)
    assert _code(lambda: office.ledger.verify(DATASET, heads)) == "DPQL706"


def test_foreign_report_beside_cannot_block_a_run(office: Office) -> None:
    """A report that we did not sign could name any head; it is passed over."""
    office.run()
    folder = office.releases / "planted"
    folder.mkdir()
    from reports.sample_releases import make_payload

    planted = seal(make_payload(office.plan), [STRANGER])
    (folder / "release.dsse.json").write_bytes(planted)
    (office.releases / "junk").mkdir()
    (office.releases / "junk" / "release.dsse.json").write_bytes(b"junk")
    heads = known_heads([office.releases], [STEWARD], None)
    assert [type(head) for head in heads] == [Head]
    assert office.run("two", again=True).fresh


def test_report_of_another_ledger_is_refused(office: Office, tmp_path: Path) -> None:
    """The entry must be in the chain, with these amounts, naming this envelope."""
    office.run()
    (tmp_path / "other").mkdir()
    other = Office(tmp_path / "other", office.plan)
    # Two ledgers with the same entries are the same chain; this one is another.
    other.ledger.raise_cap(DATASET, Fraction(4))
    other.run()
    attempt = lambda: verify_release(  # noqa: E731  one line
        office.releases / "one", TRUST, ledger=other.ledger
    )
    assert _code(attempt) == "DPQL612"


def test_run_without_a_ledger_says_so(office: Office) -> None:
    """No debit, no entry, a warning, and a refusal where a ledger is to confirm it."""
    done = office.run(ledger=None)
    assert done.entries is None
    verified = verify_release(office.releases / "one", TRUST)
    warnings = {check.name for check in verified.checks if check.warning}
    assert warnings == {"approval", "ledger"}
    assert _code(office.verify) == "DPQL612"
    attempt = lambda: verify_report(done.report, TRUST, ledger=office.ledger)  # noqa: E731  one line
    assert _code(attempt) == "DPQL612"


def test_public_verb_takes_a_ledger_by_its_place(office: Office) -> None:
    """`dpql.verify` looks a release up in the ledger at a path."""
    done = office.run()
    folder, location = office.releases / "one", Path(office.location)
    assert dpql.verify(folder, TRUST, ledger=location) == done.release
    assert dpql.verify(done.report, TRUST, ledger=office.location) == done.release
    office.run("two", ledger=None)
    attempt = lambda: dpql.verify(office.releases / "two", TRUST, ledger=location)  # noqa: E731  one line
    assert _code(attempt) == "DPQL612"


def test_ledger_that_does_not_know_the_data_refuses(
    office: Office, tmp_path: Path
) -> None:
    """A ledger in which the dataset is not open cannot confirm anything of it."""
    office.run()
    empty = open_ledger(str(tmp_path / "empty.db"), create=True)
    attempt = lambda: verify_release(office.releases / "one", TRUST, ledger=empty)  # noqa: E731  one line
    assert _code(attempt) == "DPQL612"


def test_files_that_nobody_signed_are_named(office: Office) -> None:
    """A table of somebody else's in the folder is not taken for part of the release."""
    office.run()
    plain = office.verify().unchecked
    for number in range(7):
        (office.releases / "one" / f"release.csv\x1b[31m{number}").write_text("x")
    (more,) = set(office.verify().unchecked) - set(plain)
    assert more.startswith("other files in the folder, which nobody signed: ")
    assert more.endswith(" and 2 more")
    assert "\x1b" not in more
    assert any("release.parquet: no more than its digest" in note for note in plain)


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
    assert _code(lambda: office.run(signers=())) == "DPQL615"
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
    assert _code(lambda: office.run(signers=(key,), trust=TRUST)) == code
    assert office.states() == []


def test_signer_that_the_plan_does_not_name_spends_nothing(office: Office) -> None:
    """The spec names `tester`; a known key of somebody else is refused at once."""
    line = trust_line(STEWARD.public, "other@example.org", ("dpql-release",))
    assert _code(lambda: office.run(trust=parse_trust(line))) == "DPQL613"
    assert office.states() == []


def test_report_in_memory_verifies_and_shows_itself(office: Office) -> None:
    """What a run returns can be verified, printed and shown without any folder."""
    report = office.run(folder=None).report
    assert verify_report(report, TRUST, ledger=office.ledger).digest == report.digest
    assert str(report).startswith("release test")
    assert report.to_markdown().startswith("# test")
    assert report._repr_html_().startswith("<iframe sandbox srcdoc=")
    assert repr(report) == f"<report {report.name}>"


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
                assert _code(attempt) == code
                assert office.states("strict") == []


def test_runs_beyond_the_approval_are_seen_by_verifiers(
    office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A runner who ignores how many runs were approved is found out by the ledger."""
    good = approve(office.plan, OFFICER, dataset=DATASET)
    run = lambda name: office.run(  # noqa: E731  one line
        name, trust=TRUST, approvals=(good,), again=True
    )
    monkeypatch.setattr("dpql.ledger.ledger.refuse_runs", lambda *_: None)
    run("one")
    run("two")
    assert office.verify("one").digest
    assert _code(lambda: office.verify("two")) == "DPQL611"
    assert verify_release(office.releases / "two", TRUST).digest


def test_budget_of_another_unit_confirms_nothing(
    office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A runner who ignores whom the owner protects is found out by the ledger."""
    for name, unit, neighbours in (
        ("person", "person_id", Neighbours.ADD_REMOVE),
        ("replaced", None, Neighbours.REPLACE_ONE),
    ):
        office.ledger.open_account(
            name, cap=Fraction(3), unit=unit, neighbours=neighbours
        )
        assert _code(lambda name=name: office.run(name, dataset=name)) == "DPQL704"
        with monkeypatch.context() as patch:
            patch.setattr("dpql.ledger.ledger.refuse_unit", lambda *_: None)
            table = pl.read_parquet(office.data)
            office.run(name, dataset=name, frames={"rows": table})
        assert _code(lambda name=name: office.verify(name)) == "DPQL612"


def test_expired_approval_is_refused(office: Office) -> None:
    """The day of the release decides, not the clock."""
    envelope = approve(office.plan, OFFICER, dataset=DATASET, until=date(2026, 11, 15))
    attempt = lambda: office.run(trust=TRUST, approvals=(envelope,))  # noqa: E731  one line
    assert _code(attempt) == "DPQL611"


def test_bound_data_are_not_run_under_another_name(office: Office) -> None:
    """Renaming the dataset buys no fresh budget for the same file."""
    office.ledger.open_account(
        "bound",
        cap=Fraction(3),
        unit=None,
        neighbours=Neighbours.ADD_REMOVE,
        location=str(office.data),
    )
    assert _code(office.run) == "DPQL716"
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
    assert _code(office.run) == "DPQL402"
    assert office.states() == []


def test_one_key_does_not_sign_twice(office: Office) -> None:
    """It is refused before anything is spent, with a ledger and without."""
    twice = {"signers": (STEWARD, STEWARD)}
    assert _code(lambda: office.run(**twice)) == "DPQL615"
    assert _code(lambda: office.run(**twice, ledger=None)) == "DPQL615"
    assert office.states() == []
    release = office.run().release
    assert release is not None
    assert _code(lambda: dpql.sign(release, STEWARD, STEWARD)) == "DPQL615"
