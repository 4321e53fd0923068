"""Signed reports and their folders."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from reports.sample_releases import (
    DAY,
    STEWARD,
    VERSIONS,
    check,
    make_outcome,
    payload_of,
    record,
    small_plan,
)

from dpql.errors import VerifyFault
from dpql.model.release import Rehearsal
from dpql.reports.envelope import seal
from dpql.reports.file_names import FOLDER, TABLE
from dpql.reports.folder import read_folder, write_folder
from dpql.reports.report import Report, sign, sign_rehearsal

PLAN = small_plan()


def _signed() -> Report:
    return sign(
        make_outcome(PLAN),
        [STEWARD],
        day=DAY,
        ledger=record(PLAN),
        versions=VERSIONS,
    )


def _code(attempt: object) -> str:
    assert callable(attempt)
    with pytest.raises(VerifyFault) as refusal:
        attempt()
    return refusal.value.diagnostics[0].code


def test_release_is_signed_and_written(tmp_path: Path) -> None:
    """Envelope, tables and page are read back as they were written."""
    report = _signed()
    report.write(tmp_path / "deep" / "folder")
    envelope, files = read_folder(tmp_path / "deep" / "folder")
    assert envelope == report.envelope
    assert files == dict(report.files)
    assert files["report.html"] == report.to_html().encode()
    assert check(envelope, files=files).digest == report.digest
    report.write(tmp_path / "deep" / "folder")


def test_rehearsal_is_never_signed_as_a_release() -> None:
    """Neither is a release signed as a rehearsal."""
    rehearsal = make_outcome(PLAN, Rehearsal)
    options = {"day": DAY, "versions": VERSIONS}
    attempt = lambda: sign(rehearsal, [STEWARD], ledger=None, **options)  # type: ignore[arg-type]  # noqa: E731  one line
    assert _code(attempt) == "DPQL605"
    other = lambda: sign_rehearsal(make_outcome(PLAN), [STEWARD], **options)  # type: ignore[arg-type]  # noqa: E731  one line
    assert _code(other) == "DPQL605"
    report = sign_rehearsal(rehearsal, [STEWARD], day=DAY, versions=VERSIONS)
    assert str(report).startswith("REHEARSAL")
    assert _code(lambda: check(report.envelope, files=None)) == "DPQL605"


def test_seeded_coins_make_no_release() -> None:
    """A release that names other coins is neither signed nor believed."""
    seeded = replace(make_outcome(PLAN), coins="seeded rehearsal")
    options = {"day": DAY, "ledger": record(PLAN), "versions": VERSIONS}
    assert _code(lambda: sign(seeded, [STEWARD], **options)) == "DPQL605"  # type: ignore[arg-type]
    code = _code(lambda: check(seal(payload_of(seeded), [STEWARD])))
    assert code.startswith("DPQL6")


def test_approval_that_is_no_text_is_refused() -> None:
    """Bytes that are no text cannot be part of a report."""
    attempt = lambda: sign(  # noqa: E731  one line
        make_outcome(PLAN),
        [STEWARD],
        day=DAY,
        ledger=None,
        versions=VERSIONS,
        approvals=[b"\xff"],
    )
    assert _code(attempt) == "DPQL600"


def test_folder_of_another_report_is_refused(tmp_path: Path) -> None:
    """A name that is taken stays as it is, and nothing is left behind."""
    _signed().write(tmp_path / "one")
    before = sorted(path.name for path in tmp_path.rglob("*"))
    contents = dict.fromkeys(FOLDER, b"other")
    assert _code(lambda: write_folder(tmp_path / "one", contents)) == "DPQL630"
    (tmp_path / "file").write_bytes(b"")
    attempt = lambda: write_folder(tmp_path / "file" / "below", contents)  # noqa: E731  one line
    assert _code(attempt) == "DPQL630"
    (tmp_path / "file").unlink()
    assert before == sorted(path.name for path in tmp_path.rglob("*"))


def test_full_disk_leaves_no_half_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A folder that cannot be finished is not there."""
    report = _signed()

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    assert _code(lambda: report.write(tmp_path / "one")) == "DPQL630"
    assert list(tmp_path.iterdir()) == []


def test_place_without_a_report_is_refused(tmp_path: Path) -> None:
    """A missing file and an empty folder have no envelope."""
    for path in (tmp_path / "missing", tmp_path):
        assert _code(lambda path=path: read_folder(path)) == "DPQL630"


@pytest.mark.parametrize("name", [*FOLDER[1:], f"{TABLE}total.csv"])
def test_missing_file_is_refused(tmp_path: Path, name: str) -> None:
    """A folder without one of its tables, or without its page, does not verify."""
    _signed().write(tmp_path / "one")
    (tmp_path / "one" / name).unlink()
    envelope, files = read_folder(tmp_path / "one")
    assert _code(lambda: check(envelope, files=files)) == "DPQL610"
