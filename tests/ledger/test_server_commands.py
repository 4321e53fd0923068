"""A ledger on a server, from the command line: made, spent on, asked, put back."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from cli.released import RUN, project, release_in
from cli.started import dpql, fine, refused
from ledger.ledger_stores import Stores, restore, snapshot

pytestmark = pytest.mark.cli


@pytest.fixture
def server(postgres_server: str, tmp_path: Path) -> str:
    """Give the address of a database without a ledger."""
    return Stores(folder=tmp_path, server=postgres_server).location()


def test_budget_on_a_server(server: str, tmp_path: Path) -> None:
    """The whole story, with no file but the user's own memory to witness it."""
    folder = project(tmp_path / "project")
    for path in folder.glob("ledger.sqlite*"):
        path.unlink()
    opened = ("ledger", "open", "wages", "--epsilon", "2", "--unit", "person_id")
    refused(dpql("ledger", "show", folder=folder, DPQL_LEDGER=server), 3, "DPQL700")
    fine(dpql(*opened, folder=folder, DPQL_LEDGER=server))
    refused(dpql(*opened, folder=folder, DPQL_LEDGER=server), 3, "DPQL702")
    run = dpql(*RUN, "--yes", folder=folder, DPQL_LEDGER=server)
    assert run.returncode == 0, run.stderr
    again = dpql(*RUN, folder=folder, DPQL_LEDGER=server)
    assert "already released" in fine(again)
    verify = dpql("verify", release_in(folder), folder=folder, DPQL_LEDGER=server)
    assert " ok  ledger       entry 4 is in the chain" in fine(verify)
    shown = dpql(
        "ledger", "show", "--format", "json", folder=folder, DPQL_LEDGER=server
    )
    (account,) = json.loads(fine(shown))
    assert account["spent"] == "1"
    assert not list(folder.glob("ledger.*"))


def test_backup_of_a_server_is_noticed(server: str, tmp_path: Path) -> None:
    """Rows put back are refused by the next run, though no release is beside it."""
    folder = project(tmp_path / "project")
    opened = ("ledger", "open", "wages", "--epsilon", "2", "--unit", "person_id")
    fine(dpql(*opened, folder=folder, DPQL_LEDGER=server))
    backup = snapshot(server)
    run = dpql(*RUN, "--yes", "--out", "far/away", folder=folder, DPQL_LEDGER=server)
    assert run.returncode == 0, run.stderr
    restore(server, backup)
    run = dpql(*RUN, "--yes", folder=folder, DPQL_LEDGER=server)
    refused(run, 3, "DPQL706")
    verify = dpql("verify", "far/away", folder=folder, DPQL_LEDGER=server)
    refused(verify, 3, "DPQL706")
    other = dpql(
        *("verify", "far/away"),
        folder=folder,
        DPQL_LEDGER=server,
        XDG_STATE_HOME=str(tmp_path / "somebody else"),
    )
    refused(other, 4, "DPQL612")
