"""A debit is asked for and announced, and not before it is made."""

from __future__ import annotations

from pathlib import Path

import pytest
from cli.released import RUN, project
from cli.started import dpql, fine, refused
from cli.terminal import answered

pytestmark = pytest.mark.cli


def test_a_debit_is_asked_for(tmp_path: Path) -> None:
    """No spends nothing; yes runs."""
    folder = project(tmp_path / "project")
    status, screen = answered(folder, "n\n", *RUN)
    assert (1, True) == (status, "nothing was spent" in screen)
    assert "ε = 1 from wages (0 → 1 of 2)" in screen
    assert "spent 0 of 2" in fine(dpql("ledger", "show", folder=folder))
    status, screen = answered(folder, "y\n", *RUN)
    assert (0, True) == (status, "released     releases/" in screen)
    assert "spent 1 of 2" in fine(dpql("ledger", "show", folder=folder))


def test_a_refusal_follows_no_debit(folder: Path) -> None:
    """Whoever is refused before anything is held back reads of no debit."""
    (folder / "wages.approval.officer.json").unlink()
    for more, status, code in (
        ((), 4, "DPQL611"),
        (("--engine", "pandas"), 2, "DPQL506"),
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
