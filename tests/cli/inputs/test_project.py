"""`dpql.toml` is found from the working directory and read strictly."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from dpql.cli.inputs.project import FILE_NAME, find_project
from dpql.cli.main import run
from dpql.cli.ui.exit_codes import CommandFault

FULL = """\
key = "steward"
trust = "allowed_signers"
ledger = "ledger.sqlite"
dataset = "people"
spark = "sc://localhost:15002"
[data]
wages = "data/w.csv"
"old.one" = 's3://bucket/old.parquet'
"""

WRONG = {
    f"key = {'1' * 5000}\n": [("DPQL821", 2, 1)],
    "key = steward\n": [("DPQL821", 1, 7)],
    'key = "a': [("DPQL821", 1, 9)],
    "kee = 'x'\n[dta]\nw = 'x'\n": [("DPQL822", 1, 1), ("DPQL822", 2, 1)],
    "key = 3\n": [("DPQL823", 1, 1)],
    "trust = ''\nledger = ['a']\n": [("DPQL823", 1, 1), ("DPQL823", 2, 1)],
    "dataset = 'é'\n": [("DPQL823", 1, 1)],
    "data = 'w.csv'\n": [("DPQL823", 1, 1)],
    "[data]\nkey = 1\n": [("DPQL823", 2, 1)],
    "[data]\n  wages = ['a', 'b']\n'9' = 'x'\n": [("DPQL823", 2, 3), ("DPQL823", 3, 2)],
    "[data.wages]\nplace = 'x'\n": [("DPQL823", 1, 1)],
    'key = "a\\u0000b"\n': [("DPQL823", 1, 1)],
    "a = " + "[" * 5_000: [("DPQL821", None, None)],
}


def _faults(folder: Path) -> list[tuple[str, int | None, int | None]]:
    with pytest.raises(CommandFault) as caught:
        find_project(folder)
    found = caught.value.diagnostics
    assert all(each.hint for each in found)
    spans = [each.span for each in found]
    return [
        (each.code, span.line if span else None, span.column if span else None)
        for each, span in zip(found, spans, strict=True)
    ]


def test_it_is_found_upwards_and_its_paths_are_seen_from_below(tmp_path: Path) -> None:
    """Every name is relative to the file, and shown from the working directory."""
    (tmp_path / FILE_NAME).write_text(FULL, "utf-8")
    below = tmp_path / "a" / "b"
    below.mkdir(parents=True)
    found = find_project(below)
    assert found is not None
    assert Path("../../dpql.toml") == found.path
    assert ("../../keys/steward", "people") == (found.key, found.dataset)
    assert "sc://localhost:15002" == found.spark
    assert ("../../allowed_signers", "../../ledger.sqlite") == (
        found.trust,
        found.ledger,
    )
    assert {
        "wages": "../../data/w.csv",
        "old.one": "s3://bucket/old.parquet",
    } == dict(found.data)


def test_the_nearest_file_counts(tmp_path: Path) -> None:
    """A file further up is not looked at, not even for what the nearest leaves out."""
    (tmp_path / FILE_NAME).write_text(FULL, "utf-8")
    below = tmp_path / "a"
    below.mkdir()
    (below / FILE_NAME).write_text("", "utf-8")
    found = find_project(below)
    assert found is not None
    assert (None, {}) == (found.key, dict(found.data))


@pytest.mark.parametrize(("text", "expected"), WRONG.items())
def test_faults_have_a_position_and_a_hint(
    tmp_path: Path, text: str, expected: list[tuple[str, int | None, int | None]]
) -> None:
    """All faults of a file come at once, in its order."""
    (tmp_path / FILE_NAME).write_text(text, "utf-8")
    found = _faults(tmp_path)
    if expected[0][1] is None:
        found = [(code, None, None) for code, _, _ in found]
    assert expected == found


def test_a_file_that_others_control_is_refused(tmp_path: Path) -> None:
    """A link, a folder, a file open to all, or one that is too large."""
    path = tmp_path / FILE_NAME
    (tmp_path / "other.toml").write_text(FULL, "utf-8")
    path.symlink_to(tmp_path / "other.toml")
    assert [("DPQL820", None, None)] == _faults(tmp_path)
    path.unlink()
    path.mkdir()
    assert [("DPQL820", None, None)] == _faults(tmp_path)
    path.rmdir()
    for content in (b"#" * 70_000, b"\xff", "#\u202e".encode()):
        path.write_bytes(content)
        assert [("DPQL820", None, None)] == _faults(tmp_path)
    path.write_text(FULL, "utf-8")
    path.chmod(0o666)
    assert [("DPQL820", None, None)] == _faults(tmp_path)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
def test_a_file_of_another_user_is_refused(tmp_path: Path) -> None:
    """Somebody else's file in a folder above does not choose the ledger."""
    path = tmp_path / FILE_NAME
    path.write_text(FULL, "utf-8")
    os.chown(path, 12_345, 12_345)
    assert [("DPQL820", None, None)] == _faults(tmp_path)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
def test_a_folder_of_another_user_chooses_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever works in it for once keeps his own key and ledger; root must look."""
    path = tmp_path / FILE_NAME
    path.write_text(FULL, "utf-8")
    for one in (tmp_path, path):
        os.chown(one, 12_345, 12_345)
    assert find_project(tmp_path) is not None
    monkeypatch.setattr(os, "geteuid", lambda: 54_321)
    assert [("DPQL820", None, None)] == _faults(tmp_path)
    monkeypatch.setattr(os, "geteuid", lambda: 12_345)
    assert find_project(tmp_path) is not None


def test_a_project_beside_a_spec_is_not_followed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Whoever writes a spec does not choose the owner's ledger, key or data."""
    theirs, ours = tmp_path / "theirs", tmp_path / "ours"
    for folder in (theirs, ours):
        folder.mkdir()
    (theirs / FILE_NAME).write_text("this is not TOML", "utf-8")
    monkeypatch.chdir(ours)
    assert 1 == run(["approve", str(theirs / "nothing.plan.json"), "--key", "k"])
    assert "DPQL821" not in capsys.readouterr().err


def test_help_is_shown_whatever_the_file_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Only a command that needs a setting reads the file."""
    (tmp_path / FILE_NAME).write_text("no", "utf-8")
    monkeypatch.chdir(tmp_path)
    assert 0 == run(["run", "--help"])
    assert "--dry-run" in capsys.readouterr().out
    assert 1 == run(["ledger", "show"])
    assert "dpql.toml:1:" in capsys.readouterr().err
