"""What `dpql run` says of its debit: nothing before it is made, and how it ended."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from cli.released import RUN, project
from cli.started import dpql, fine, refused

from dpql.api.listener import Ending, Fate
from dpql.cli.commands.run.debit_prompt import DebitPrompt
from dpql.cli.commands.run.terminal_listener import TerminalListener

pytestmark = pytest.mark.cli


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A project before its run."""
    return project(tmp_path / "project")


def test_a_debit_that_is_given_back_is_said_to_be(folder: Path) -> None:
    """The lines name the entry that held it back and the one that gave it back."""
    (folder / "wages.csv").unlink()
    run = refused(dpql(*RUN, "--yes", folder=folder), 5, "DPQL501")
    lines = run.stderr.splitlines()
    assert lines[1:3] == [
        " reserved     ledger #2",
        " given back   ledger #3   nothing was drawn, nothing is spent",
    ]
    assert "spent 0 of 2" in fine(dpql("ledger", "show", folder=folder))


@pytest.mark.parametrize(
    ("fate", "words"),
    [(Fate.SPENT, " spent        ledger #3 "), (Fate.HELD_BACK, "ledger recover")],
)
def test_a_debit_that_stays_is_said_to_stay(
    fate: Fate, words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each end has its words."""
    listener = TerminalListener(DebitPrompt("ε = 1"), lambda _: None)
    listener.ended(Ending(fate=fate, entry=3))
    assert words in capsys.readouterr().err


def test_a_refusal_follows_no_debit(folder: Path) -> None:
    """Whoever is refused before anything is held back reads of no debit."""
    (folder / "wages.approval.officer.json").unlink()
    for more, status, code in (
        ((), 4, "DPQL611"),
        (("--engine", "spark"), 2, "DPQL506"),
        (("--trust", "nobodys"), 4, "DPQL624"),
    ):
        run = refused(dpql(*RUN, "--yes", *more, folder=folder), status, code)
        assert "debit" not in run.stderr
        assert "reserved" not in run.stderr
    shown = fine(dpql("ledger", "verify", folder=folder))
    assert "wages   1 entry" in shown


def test_a_run_from_no_ledger_says_so_first(folder: Path) -> None:
    """The line stands there once, before the rows are read."""
    run = dpql(*RUN, "--yes", "--no-ledger", folder=folder)
    assert run.returncode == 0, run.stderr
    assert (
        run.stderr
        == " debit        ε = 1 from no ledger at all, and no run is counted\n"
    )


def test_a_plan_older_than_its_spec_is_pointed_out(folder: Path) -> None:
    """The plan is run as approved; people and documents learn that it is stale."""
    spec = folder / "wages.yaml"
    text = spec.read_text("utf-8")
    spec.write_text(text.replace("epsilon: 1.0", "epsilon: 0.5"), "utf-8")
    (folder / "wages.dpql").write_text("dpql 1\n", "utf-8")
    asked = dpql(*RUN, folder=folder)
    assert asked.stderr.startswith(" stale        wages.yaml now compiles to plan ")
    run = dpql(*RUN, "--yes", "--format", "json", folder=folder)
    assert run.returncode == 0, run.stderr
    assert " stale        wages.dpql now has faults; plan 7c82a705 is run" in run.stderr
    assert json.loads(run.stdout)["stale"] == ["wages.yaml", "wages.dpql"]


def test_a_fresh_plan_is_not_called_stale(folder: Path) -> None:
    """Nothing is said where spec and plan agree."""
    run = dpql(*RUN, "--yes", "--format", "json", folder=folder)
    assert "stale" not in run.stderr
    assert json.loads(run.stdout)["stale"] == []
