"""`dpql ledger bind`: data that have moved."""

from __future__ import annotations

from pathlib import Path

import pytest
from cli.released import RUN
from cli.started import dpql, fine, refused

pytestmark = pytest.mark.cli


def test_moved_data_are_bound_by_the_command_that_the_refusal_names(
    owner: Path,
) -> None:
    """A project that moved returns what it released, and goes on after one command."""
    fine(dpql("ledger", "bind", "wages", "--data", "wages.csv", folder=owner))
    moved = owner.rename(owner.with_name("moved"))
    assert "already released" in fine(dpql(*RUN, folder=moved))
    run = dpql(*RUN, "--yes", "--again", folder=moved)
    refused(run, 3, "DPQL716", "dpql ledger bind wages --data LOCATION")
    text = fine(dpql("ledger", "bind", "wages", "--data", "wages.csv", folder=moved))
    assert "   data       wages.csv\n" in text
    assert f"before     {owner}/wages.csv" in text
    assert "spent 1 of 6" in text
    assert dpql(*RUN, "--yes", "--again", folder=moved).returncode == 0
    assert "spent 2 of 6" in fine(dpql("ledger", "show", folder=moved))
    fine(dpql("ledger", "verify", folder=moved))
