"""What a folder, a report and a ledger vouch for together."""

from __future__ import annotations

import json
import shutil
from fractions import Fraction
from hashlib import sha256
from pathlib import Path

import polars as pl
import pytest
from api.office import DATASET, Office, code_of
from reports.sample_releases import (
    DAY,
    OFFICER,
    STEWARD,
    STRANGER,
    TRUST,
    VERSIONS,
    make_outcome,
    small_plan,
)

import dpql
from dpql.api.stored_reports import fetched_report
from dpql.api.verification import verify_release, verify_report
from dpql.ledger import open_ledger
from dpql.model.codec import canonical
from dpql.model.release import Rehearsal
from dpql.model.spec import Neighbours
from dpql.reports.approval import approve
from dpql.reports.envelope import peek
from dpql.reports.report import Report, sign, sign_rehearsal
from dpql.reports.trust import load_trust

OLD = Path(__file__).parents[1] / "vectors" / "releases_0_1"


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
    assert code_of(attempt) == "DPQL612"


def test_run_without_a_ledger_says_so(office: Office) -> None:
    """No debit, no entry, a warning, and a refusal where a ledger is to confirm it."""
    done = office.run(ledger=None)
    assert done.entries is None
    verified = verify_release(office.releases / "one", TRUST)
    warnings = {check.name for check in verified.checks if check.warning}
    assert warnings == {"approval", "ledger"}
    assert code_of(office.verify) == "DPQL612"
    attempt = lambda: verify_report(done.report, TRUST, ledger=office.ledger)  # noqa: E731  one line
    assert code_of(attempt) == "DPQL612"


def test_public_verb_takes_a_ledger_by_its_location(office: Office) -> None:
    """`dpql.verify` looks a release up in the ledger at a path."""
    done = office.run()
    folder, location = office.releases / "one", Path(office.location)
    assert dpql.verify(folder, TRUST, ledger=location) == done.release
    assert dpql.verify(done.report, TRUST, ledger=office.location) == done.release
    office.run("two", ledger=None)
    attempt = lambda: dpql.verify(office.releases / "two", TRUST, ledger=location)  # noqa: E731  one line
    assert code_of(attempt) == "DPQL612"


def test_ledger_that_does_not_know_the_data_refuses(
    office: Office, tmp_path: Path
) -> None:
    """A ledger in which the dataset is not open cannot confirm anything of it."""
    office.run()
    empty = open_ledger(str(tmp_path / "empty.db"), create=True)
    attempt = lambda: verify_release(office.releases / "one", TRUST, ledger=empty)  # noqa: E731  one line
    assert code_of(attempt) == "DPQL612"


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


def test_report_in_memory_verifies_and_shows_itself(office: Office) -> None:
    """What a run returns can be verified, printed and shown without any folder."""
    report = office.run(folder=None).report
    assert verify_report(report, TRUST, ledger=office.ledger).digest == report.digest
    assert str(report).startswith("release test")
    assert report.to_markdown().startswith("# test")
    assert report._repr_html_().startswith("<iframe sandbox srcdoc=")
    assert repr(report) == f"<report {report.name}>"


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
    assert code_of(lambda: office.verify("two")) == "DPQL611"
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
        assert code_of(lambda name=name: office.run(name, dataset=name)) == "DPQL704"
        with monkeypatch.context() as patch:
            patch.setattr("dpql.ledger.ledger.refuse_unit", lambda *_: None)
            table = pl.read_parquet(office.data)
            office.run(name, dataset=name, frames={"rows": table})
        assert code_of(lambda name=name: office.verify(name)) == "DPQL612"


@pytest.fixture
def released(tmp_path: Path) -> Office:
    """Give an released whose plan was released."""
    made = Office(tmp_path, small_plan())
    made.run()
    return made


@pytest.mark.parametrize("harm", ["a letter", "a byte more", "empty", "link", "gone"])
def test_altered_page_is_refused(released: Office, harm: str) -> None:
    """What was changed in the page, or put in its place, is refused like a table."""
    folder = released.releases / "one"
    page, other = folder / "report.html", released.folder / "other.html"
    text = page.read_bytes()
    page.rename(other)
    if harm == "a letter":
        page.write_bytes(text.replace(b"value", b"valve", 1))
    elif harm == "a byte more":
        page.write_bytes(text + b"\n")
    elif harm == "empty":
        page.touch()
    elif harm == "link":
        page.symlink_to(other)
    for attempt in (
        lambda: dpql.verify(folder, TRUST),
        lambda: verify_release(folder, TRUST, ledger=released.ledger),
    ):
        assert code_of(attempt) == "DPQL610"


def test_altered_page_of_a_report_in_memory_is_refused(released: Office) -> None:
    """A report that never was a folder is held to its page too."""
    report = released.run().report
    files = dict(report.files)
    assert verify_report(report, TRUST).digest == report.digest
    for page in (files["report.html"] + b" ", None):
        others = {name: data for name, data in files.items() if name != "report.html"}
        given = others if page is None else {**others, "report.html": page}
        altered = Report(envelope=report.envelope, files=tuple(given.items()))
        assert code_of(lambda altered=altered: verify_report(altered, TRUST)) == (
            "DPQL610"
        )


def test_page_is_a_subject_and_names_the_content(released: Office) -> None:
    """The page is signed by its digest, and holds the digest of what it shows."""
    folder = released.releases / "one"
    page = (folder / "report.html").read_bytes()
    envelope = (folder / "release.dsse.json").read_bytes()
    statement = json.loads(peek(envelope))
    subjects = {one["name"]: one["digest"]["sha256"] for one in statement["subject"]}
    assert {"dictionary.md", "release.csv", "report.html"} < set(subjects)
    assert subjects["report.html"] == sha256(page).hexdigest()
    content = sha256(canonical(statement["predicate"])).hexdigest()
    assert content.encode() in page
    assert sha256(envelope).hexdigest().encode() not in page


def test_folder_is_written_again_as_signed_by_another_renderer(
    released: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was stored is what was signed, though a later dpql renders otherwise."""
    folder = released.releases / "one"
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    for module in ("dpql.reports.report", "dpql.api.stored_reports"):
        monkeypatch.setattr(f"{module}.as_html", lambda _: "<p>new looks")
    monkeypatch.setattr("dpql.reports.render_html.as_html", lambda _: "<p>new looks")
    shutil.rmtree(folder)
    assert not released.run().fresh
    assert before == {path.name: path.read_bytes() for path in folder.iterdir()}
    digest = sha256(before["release.dsse.json"]).hexdigest()
    fetched = fetched_report(released.ledger, DATASET, digest)
    assert dict(fetched.files)["report.html"] == before["report.html"]
    assert fetched.to_html().encode() == before["report.html"]
    checks = {check.name: check for check in released.verify().checks}
    assert checks["page"].warning
    assert checks["page"].text == (
        "report.html is the page that was signed, but not what this dpql makes of the "
        "report; its text was not compared"
    )


def test_same_content_signed_by_another_is_left_alone(tmp_path: Path) -> None:
    """A folder with our page but somebody else's signature is not ours to mend."""
    release = make_outcome(small_plan())
    reports = [
        sign(release, [key], day=DAY, ledger=None, versions=VERSIONS)
        for key in (STEWARD, STRANGER)
    ]
    assert reports[0].to_html() == reports[1].to_html()
    reports[0].write(tmp_path / "one")
    before = {path.name: path.read_bytes() for path in (tmp_path / "one").iterdir()}
    assert code_of(lambda: reports[1].write(tmp_path / "one")) == "DPQL630"
    after = {path.name: path.read_bytes() for path in (tmp_path / "one").iterdir()}
    assert before == after


def test_page_of_a_rehearsal_is_signed_too() -> None:
    """A rehearsal has three subjects, and its page says what it is."""
    outcome = make_outcome(small_plan(), Rehearsal)
    report = sign_rehearsal(outcome, [STEWARD], day=DAY, versions=VERSIONS)
    files = dict(report.files)
    statement = json.loads(peek(report.envelope))
    signed = {one["name"]: one["digest"]["sha256"] for one in statement["subject"]}
    assert {name: sha256(data).hexdigest() for name, data in files.items()} == signed
    assert b"A rehearsal: these numbers protect nobody" in files["report.html"]


@pytest.mark.parametrize("harm", ["none", "altered", "gone"])
def test_page_of_an_old_release_is_called_unsigned(tmp_path: Path, harm: str) -> None:
    """Releases of 0.1 verify, with a warning, whatever became of their page."""
    folder = shutil.copytree(OLD / "debited", tmp_path / "old")
    if harm == "altered":
        (folder / "report.html").write_text("other", "utf-8")
    elif harm == "gone":
        (folder / "report.html").unlink()
    verified = verify_release(folder, load_trust(OLD / "allowed_signers"))
    checks = {check.name: check for check in verified.checks}
    assert checks["page"].warning
    assert checks["page"].text.startswith("page unsigned, as in dpql 0.1: report.html")
    assert checks["files"].text == "release.csv, release.parquet match"


def test_old_release_is_mended_from_its_ledger(tmp_path: Path) -> None:
    """The ledger of 0.1 stored two files; the page is made anew beside them."""
    location = shutil.copy(OLD / "budgets.sqlite", tmp_path / "budgets.sqlite")
    ledger = open_ledger(str(location))
    first = ledger.account("visits").runs[0].envelope
    assert first is not None
    fetched_report(ledger, "visits", first).write(tmp_path / "old")
    for name in ("release.dsse.json", "release.csv", "release.parquet"):
        expected = (OLD / "debited" / name).read_bytes()
        assert expected == (tmp_path / "old" / name).read_bytes()
    page = (tmp_path / "old" / "report.html").read_text("utf-8")
    assert first in page
    assert "This page is signed" not in page
