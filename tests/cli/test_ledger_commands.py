"""What an owner's commands say of a ledger that was harmed, moved or raced for."""

from __future__ import annotations

from pathlib import Path

import pytest
from cli.released import RUN, project
from cli.started import dpql, fine, refused
from ledger.ledger_places import tampering

pytestmark = pytest.mark.cli


@pytest.fixture
def owner(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give a project whose plan was run once, and a user with a memory of their own."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    folder = project(tmp_path / "project", cap=6)
    run = dpql(*RUN, "--yes", folder=folder)
    assert run.returncode == 0, run.stderr
    return folder


def _rows_gone(folder: Path) -> None:
    with tampering(str(folder / "ledger.sqlite")) as execute:
        execute("DELETE FROM dpql_entry WHERE dataset = 'wages'")


@pytest.mark.parametrize("witness", ["beside", "memory"])
def test_dataset_whose_rows_are_gone_is_missed(owner: Path, witness: str) -> None:
    """Whichever witness is left, no command passes over it or opens it anew."""
    opening = ("--epsilon", "4", "--unit", "person_id")
    fine(dpql("ledger", "open", "other", *opening, folder=owner))
    _rows_gone(owner)
    state = str(owner / "none") if witness == "beside" else str(owner.parent / "state")
    if witness == "memory":
        (owner / "ledger.sqlite.witness").unlink()
    for command in (
        ("verify",),
        ("verify", "wages"),
        ("show",),
        ("show", "wages"),
        ("open", "wages", *opening),
    ):
        run = dpql("ledger", *command, folder=owner, XDG_STATE_HOME=state)
        refused(run, 3, "DPQL706", "`wages`")
    fine(dpql("ledger", "verify", "other", folder=owner, XDG_STATE_HOME=state))
