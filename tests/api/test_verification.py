"""The page that people read is signed, refused when altered, and written again."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path

import pytest
from api.office import DATASET, Office
from reports.sample_releases import (
    DAY,
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
from dpql.errors import DpqlError
from dpql.ledger import open_ledger
from dpql.model.codec import canonical
from dpql.model.release import Rehearsal
from dpql.reports.envelope import peek
from dpql.reports.report import Report, sign, sign_rehearsal
from dpql.reports.trust import load_trust

OLD = Path(__file__).parents[1] / "vectors" / "releases_0_1"


@pytest.fixture
def office(tmp_path: Path) -> Office:
    """Give an office whose plan was released."""
    made = Office(tmp_path, small_plan())
    made.run()
    return made


def _code(attempt: Callable[[], object]) -> str:
    with pytest.raises(DpqlError) as refusal:
        attempt()
    return refusal.value.diagnostics[0].code


@pytest.mark.parametrize("harm", ["a letter", "a byte more", "empty", "link", "gone"])
def test_altered_page_is_refused(office: Office, harm: str) -> None:
    """What was changed in the page, or put in its place, is refused like a table."""
    folder = office.releases / "one"
    page, other = folder / "report.html", office.folder / "other.html"
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
        lambda: verify_release(folder, TRUST, ledger=office.ledger),
    ):
        assert _code(attempt) == "DPQL610"


def test_altered_page_of_a_report_in_memory_is_refused(office: Office) -> None:
    """A report that never was a folder is held to its page too."""
    report = office.run().report
    files = dict(report.files)
    assert verify_report(report, TRUST).digest == report.digest
    for page in (files["report.html"] + b" ", None):
        others = {name: data for name, data in files.items() if name != "report.html"}
        given = others if page is None else {**others, "report.html": page}
        altered = Report(envelope=report.envelope, files=tuple(given.items()))
        assert _code(lambda altered=altered: verify_report(altered, TRUST)) == (
            "DPQL610"
        )


def test_page_is_a_subject_and_names_the_content(office: Office) -> None:
    """The page is signed by its digest, and holds the digest of what it shows."""
    folder = office.releases / "one"
    page = (folder / "report.html").read_bytes()
    envelope = (folder / "release.dsse.json").read_bytes()
    statement = json.loads(peek(envelope))
    subjects = {one["name"]: one["digest"]["sha256"] for one in statement["subject"]}
    assert list(subjects) == ["release.csv", "release.parquet", "report.html"]
    assert subjects["report.html"] == sha256(page).hexdigest()
    content = sha256(canonical(statement["predicate"])).hexdigest()
    assert content.encode() in page
    assert sha256(envelope).hexdigest().encode() not in page


def test_folder_is_written_again_as_signed_by_another_renderer(
    office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was stored is what was signed, though a later dpql renders otherwise."""
    folder = office.releases / "one"
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    for module in ("dpql.reports.report", "dpql.api.stored_reports"):
        monkeypatch.setattr(f"{module}.as_html", lambda _: "<p>new looks")
    monkeypatch.setattr("dpql.reports.render_html.as_html", lambda _: "<p>new looks")
    shutil.rmtree(folder)
    assert not office.run().fresh
    assert before == {path.name: path.read_bytes() for path in folder.iterdir()}
    digest = sha256(before["release.dsse.json"]).hexdigest()
    fetched = fetched_report(office.ledger, DATASET, digest)
    assert dict(fetched.files)["report.html"] == before["report.html"]
    assert fetched.to_html().encode() == before["report.html"]
    checks = {check.name: check for check in office.verify().checks}
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
    assert _code(lambda: reports[1].write(tmp_path / "one")) == "DPQL630"
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
