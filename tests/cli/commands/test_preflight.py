"""`dpql preflight`: the owner's look, and no way for it to go anywhere else."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from cli.released import spent_of

from dpql.cli.commands.preflight.view import WARNING
from dpql.cli.main import run

WORDS = ("preflight", "wages.yaml", "--data", "wages=wages.csv")


def test_it_stays_on_the_terminal_unless_somebody_agrees(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A pipe or a file needs --not-private; the warning is the first line of both."""
    monkeypatch.chdir(folder)
    for more in ([], ["--out", "fit.txt"], ["--format", "json"]):
        assert 2 == run([*WORDS, *more])
        assert "--not-private" in capsys.readouterr().err
        assert not (folder / "fit.txt").exists()
    assert 0 == run([*WORDS, "--not-private", "--out", "fit.txt"])
    assert "" == capsys.readouterr().out
    assert WARNING == (folder / "fit.txt").read_text("utf-8").splitlines()[0]
    assert 0 == run([*WORDS, "--not-private", "--format", "json"])
    document = json.loads(capsys.readouterr().out)
    assert ("warning", WARNING) == next(iter(document.items()))
    assert document["rows"] > 0
    assert "0" == spent_of(folder)
    assert not (folder / "releases").exists()


def test_a_plan_is_not_examined(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """What somebody else approved is run; a look through it is refused."""
    monkeypatch.chdir(folder)
    words = ["preflight", "wages.plan.json", "--data", "wages=wages.csv"]
    assert 2 == run([*words, "--not-private"])
    assert "takes a spec, not a plan" in capsys.readouterr().err


def test_missing_data_are_named_as_they_were_typed(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The exit code is that of data that do not fit."""
    monkeypatch.chdir(folder)
    words = ["preflight", "wages.yaml", "--data", "wages=nowhere.csv"]
    assert 5 == run([*words, "--not-private"])
    assert "there is no file `nowhere.csv`" in capsys.readouterr().err
