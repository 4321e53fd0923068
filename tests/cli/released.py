"""A small project with a budget, keys, a plan and its approval, as a demo makes it."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

from cli import started
from cli.started import WAGES, fine

import dpql
from dpql.cli.commands.demo.payslips import wages
from dpql.ledger import open_ledger
from dpql.model.spec import Neighbours
from dpql.reports.keys import load_key, new_key
from dpql.reports.trust import trust_line

RUN = ("run", "wages.plan.json", "--data", "wages=wages.csv", "--key", "steward")


def project(folder: Path, *, cap: int = 2, people: int = 300) -> Path:
    """Make everything up to the run in a folder, without starting a process."""
    keys = folder / "keys"
    keys.mkdir(parents=True)
    (folder / "wages.yaml").write_bytes(WAGES.read_bytes())
    (folder / "wages.csv").write_text(wages(people), "utf-8")
    plan = dpql.plan(WAGES)
    (folder / "wages.plan.json").write_bytes(plan.to_json())
    trust = [
        trust_line(new_key(keys / name, None), who, (role,))
        for name, who, role in (
            ("steward", "bulletin-2025@example.org", "dpql-release"),
            ("officer", "officer@example.org", "dpql-plan"),
        )
    ]
    (folder / "allowed_signers").write_text("\n".join(trust) + "\n", "utf-8")
    approval = dpql.approve(plan, load_key(keys / "officer"), runs=9)
    (folder / "wages.approval.officer.json").write_bytes(approval)
    open_ledger(str(folder / "ledger.sqlite"), create=True).open_account(
        "wages",
        cap=Fraction(cap),
        unit="person_id",
        neighbours=Neighbours.ADD_REMOVE,
        approvals=1,
    )
    return folder


def release_in(folder: Path) -> Path:
    """Return the first release folder of a project."""
    return min((folder / "releases").iterdir())


def spent_of(folder: Path) -> str:
    """Return what the ledger of a project has spent."""
    (account,) = json.loads(
        fine(started.dpql("ledger", "show", "--format", "json", folder=folder))
    )
    spent = account["spent"]
    assert isinstance(spent, str)
    return spent
