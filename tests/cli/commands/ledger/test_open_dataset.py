"""`dpql ledger open`: a dataset gets a budget, once."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from cli.started import dpql, fine, refused

pytestmark = pytest.mark.cli


def test_a_ledger_is_made_and_then_shared(tmp_path: Path) -> None:
    """The first dataset makes the file, the second joins it; none opens twice."""
    cap = ("--epsilon", "7/2", "--format", "json")
    units = {"wages": "person_id", "visits": "row"}
    for name, unit in units.items():
        opened = dpql("ledger", "open", name, "--unit", unit, *cap, folder=tmp_path)
        (account,) = json.loads(fine(opened))
        assert ("7/2", "0", []) == (account["cap"], account["spent"], account["runs"])
    again = dpql("ledger", "open", "wages", "--unit", "row", *cap, folder=tmp_path)
    assert (3, "DPQL702" in again.stderr) == (again.returncode, True)


def test_a_file_that_is_no_ledger_is_left_alone(tmp_path: Path) -> None:
    """It is not overwritten."""
    other = tmp_path / "notes.txt"
    other.write_text("mine", "utf-8")
    run = ("ledger", "open", "wages", "--epsilon", "1", "--unit", "row")
    refused(dpql(*run, "--ledger", "notes.txt", folder=tmp_path), 3, "DPQL7")
    assert other.read_text("utf-8") == "mine"


def test_a_budget_is_opened_with_a_delta(tmp_path: Path) -> None:
    """`--delta` opens a budget for Gaussian noise; raising the cap says why."""
    cap = ("--epsilon", "3", "--unit", "row", "--format", "json")
    run = ("ledger", "open", "wages", *cap)
    opened = dpql(*run, "--delta", "1e-5", "--delta-events", "1e-6", folder=tmp_path)
    (account,) = json.loads(fine(opened))
    assert account["delta_events"] == "1/1000000"
    assert account["delta_conversion"] == "9/1000000"
    assert len(account["orders"]) == 2
    more = ("ledger", "raise-cap", "wages", "--epsilon", "4", "--format", "json")
    (account,) = json.loads(fine(dpql(*more, "--independent", folder=tmp_path)))
    assert (account["cap"], account["raised"]) == ("4", False)
    plain = ("ledger", "open", "visits", "--epsilon", "3", "--unit", "row")
    refused(dpql(*plain, "--delta", "2", folder=tmp_path), 2, "DPQL813")
