"""`dpql approve`: a reviewer signs, and nothing is overwritten."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cli.released import RUN, project
from cli.started import dpql, fine, refused
from cli.terminal import answered

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


def test_a_signature_is_asked_for(tmp_path: Path) -> None:
    """The reviewer sees the plan before signing it."""
    folder = project(tmp_path / "project")
    (folder / "wages.approval.officer.json").unlink()
    sign = ("approve", "wages.plan.json", "--key", "officer")
    status, screen = answered(folder, "\n", *sign)
    assert (1, True) == (status, "headcount by district" in screen)
    assert not (folder / "wages.approval.officer.json").exists()
    status, _ = answered(folder, "y\n", *sign)
    assert (0, True) == (status, (folder / "wages.approval.officer.json").exists())


def test_owner_who_signs_cannot_approve(owner: Path) -> None:
    """The same key in both roles is refused before anything is spent."""
    both = ("keys", "trust", "steward", "bulletin-2025@example.org", "--role", "both")
    assert dpql(*both, "--trust", "two", folder=owner).returncode == 0
    (owner / "wages.approval.officer.json").unlink()
    approve = ("approve", "wages.plan.json", "--key", "steward", "--runs", "5")
    assert dpql(*approve, folder=owner).returncode == 0
    run = dpql(*RUN, "--yes", "--again", "--trust", "two", folder=owner)
    refused(run, 4, "DPQL616")
    assert "spent 1 of 6" in fine(dpql("ledger", "show", folder=owner))


def test_approval_names_its_dataset(owner: Path) -> None:
    """The command says which; a file of its own keeps it apart from the others."""
    approve = ("approve", "wages.plan.json", "--key", "officer", "--dataset", "payroll")
    text = fine(dpql(*approve, "--runs", "2", folder=owner))
    assert "for 2 runs on payroll by SHA256:" in text
    assert (owner / "wages.approval.payroll.officer.json").exists()
    opened = ("ledger", "open", "payroll", "--epsilon", "1", "--unit", "person_id")
    fine(dpql(*opened, "--approvals", "1", folder=owner))
    (owner / "june.csv").write_bytes((owner / "wages.csv").read_bytes())
    run = (*RUN[:3], "wages=june.csv", *RUN[4:], "--yes", "--dataset", "payroll")
    done = dpql(*run, "--out", "june", folder=owner)
    assert done.returncode == 0, done.stderr
    text = fine(dpql("verify", "june", "--ledger", "ledger.sqlite", folder=owner))
    assert " for payroll\n" in text
    again = dpql(*run, "--again", "--out", "july", folder=owner)
    refused(again, 3, "DPQL715", "1 of them on other datasets")
    named = ("--approval", "wages.approval.officer.json")
    refused(dpql(*run, "--again", *named, folder=owner), 4, "DPQL617", "for `payroll`")
