"""Everything that stands in the way of a run is told at once, with its cure."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from cli.released import RUN, spent_of
from cli.started import dpql, fine

from dpql.cli.inputs.project import FILE_NAME
from dpql.cli.main import run

PROJECT = """\
key = "steward"
trust = "allowed_signers"
ledger = "ledger.sqlite"
[data]
wages = "wages.csv"
"""


def test_all_obstacles_come_at_once_each_with_a_command(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The names of the run stand in the commands; nothing is made or spent."""
    monkeypatch.chdir(folder)
    (folder / "ledger.sqlite").unlink()
    (folder / "releases").write_text("", "utf-8")
    words = ["run", "wages.plan.json", "--data", "wages=w.csv", "--key", "nobody"]
    for more in ([], ["--dry-run"]):
        assert 3 == run([*words, *more])
        shown = capsys.readouterr()
        assert "" == shown.out
        for expected in (
            "4 things stand in the way",
            "`dpql ledger open wages --epsilon CAP --unit person_id`",
            "`dpql keys new nobody`",
            "there is no file `w.csv`",
            "DPQL630",
        ):
            assert expected in shown.err
    assert not (folder / "ledger.sqlite").exists()


def test_budget_unit_and_approvals_are_looked_at_too(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """One list holds what the ledger, the reviewers and the header object to."""
    monkeypatch.chdir(folder)
    (folder / "wages.approval.officer.json").unlink()
    (folder / "wages.csv").write_text("person_id,age\n", "utf-8")
    assert 0 == run(["ledger", "open", "row_data", "--epsilon", "1/2", "--unit", "row"])
    capsys.readouterr()
    assert 5 == run([*RUN, "--dry-run"])
    shown = capsys.readouterr().err
    assert ["DPQL503", "DPQL503", "DPQL611"] == _codes(shown)
    assert "`dpql approve wages.plan.json --key REVIEWER --dataset wages`" in shown
    assert 5 == run([*RUN, "--dry-run", "--dataset", "row_data"])
    assert ["DPQL503", "DPQL503", "DPQL704", "DPQL703"] == _codes(
        capsys.readouterr().err
    )


def test_a_missing_key_and_missing_data_do_not_hide_one_another(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The exit code is that of the first."""
    monkeypatch.chdir(folder)
    assert 2 == run(["run", "wages.plan.json"])
    shown = capsys.readouterr().err
    assert ["DPQL812", "DPQL812"] == _codes(shown)
    assert "dpql keys new NAME" in shown
    assert "--data wages=FILE" in shown


@pytest.mark.cli
def test_a_project_makes_the_spec_the_whole_command(folder: Path) -> None:
    """From any folder below; the release lies beside the project, and is verified."""
    (folder / FILE_NAME).write_text(PROJECT, "utf-8")
    below = folder / "below"
    below.mkdir()
    (folder / "releases").mkdir()
    ready = dpql("run", "../wages.plan.json", "--dry-run", folder=below)
    assert (0, " settings     ../dpql.toml\n") == (ready.returncode, ready.stderr)
    assert ready.stdout.startswith(" ready        nothing stands in the way; a run deb")
    assert "0" == spent_of(folder)
    done = dpql("run", "../wages.yaml", "--yes", "--format", "json", folder=below)
    assert 0 == done.returncode, done.stderr
    release = json.loads(done.stdout)["folder"]
    assert release.startswith("../releases/")
    said = fine(dpql("verify", release, folder=below))
    assert " ok  ledger       entry" in said
    again = dpql("run", "../wages.yaml", "--dry-run", folder=below)
    assert " ready        the plan was released before; a run spends nothing\n" == (
        again.stdout
    )


def _codes(text: str) -> list[str]:
    return [line.split()[0] for line in text.splitlines() if line.startswith("DPQL")]
