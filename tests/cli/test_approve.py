"""`dpql approve`: what was signed before stays, and what is past cannot be allowed."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cli.released import project
from cli.started import dpql, fine, refused

pytestmark = pytest.mark.cli

APPROVE = ("approve", "wages.plan.json", "--key", "officer")


def test_an_approval_is_never_overwritten(tmp_path: Path) -> None:
    """Another one needs another name; the same one is there already."""
    folder = project(tmp_path / "project")
    kept = folder / "wages.approval.officer.json"
    before = kept.read_bytes()
    refused(dpql(*APPROVE, folder=folder), 1, "DPQL801", "--out")
    assert kept.read_bytes() == before
    fine(dpql(*APPROVE, "--runs", "9", folder=folder))
    assert kept.read_bytes() == before
    fine(dpql(*APPROVE, "--out", "second.json", folder=folder))
    assert (folder / "second.json").read_bytes() != before


def test_the_last_day_is_not_past(tmp_path: Path) -> None:
    """Yesterday is refused and nothing is written; tomorrow is fine."""
    folder = project(tmp_path / "project")
    today = datetime.now(UTC).date()
    day = timedelta(days=1)
    new = ("--out", "new.json", "--until")
    past = dpql(*APPROVE, *new, str(today - day), folder=folder)
    refused(past, 2, "DPQL813", "past")
    assert not (folder / "new.json").exists()
    fine(dpql(*APPROVE, *new, str(today + day), folder=folder))
