"""Approvals that are named, and those found beside the plan."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import pytest
from cli.released import RUN
from cli.started import dpql, fine, refused

pytestmark = pytest.mark.cli


def _envelope(folder: str, owner: Path) -> dict[str, Any]:
    envelope = json.loads((owner / folder / "release.dsse.json").read_bytes())
    payload = json.loads(base64.b64decode(envelope["payload"]))
    assert isinstance(payload, dict)
    return payload


def test_approval_that_is_named_and_found_counts_once(owner: Path) -> None:
    """The report holds it once."""
    named = ("--approval", "wages.approval.officer.json")
    run = dpql(*RUN, "--yes", "--again", *named, "--out", "r", folder=owner)
    assert run.returncode == 0, run.stderr
    assert len(_envelope("r", owner)["predicate"]["approvals"]) == 1


def test_approval_by_a_stranger_blocks_only_who_needs_one(owner: Path) -> None:
    """The refusal speaks of the approval; where none is needed, it is passed over."""
    new = ("keys", "new", "stranger", "--no-passphrase")
    assert dpql(*new, folder=owner).returncode == 0
    approve = ("approve", "wages.plan.json", "--key", "stranger", "--yes")
    run = dpql(*approve, folder=owner)
    assert run.returncode == 0, run.stderr
    run = dpql(*RUN, "--yes", "--again", folder=owner)
    refused(run, 4, "DPQL602", "an approval of the plan cannot be used")
    opened = ("other", "--epsilon", "2", "--unit", "person_id")
    fine(dpql("ledger", "open", *opened, folder=owner))
    for key in ("stranger", "officer"):
        named = (*approve[:3], key, "--dataset", "other", "--runs", "9", "--yes")
        assert dpql(*named, folder=owner).returncode == 0
        path = owner / f"wages.approval.other.{key}.json"
        path.replace(owner / f"wages.approval.{key}.json")
    (owner / "other.csv").write_bytes((owner / "wages.csv").read_bytes())
    other = (*RUN[:3], "wages=other.csv", *RUN[4:], "--yes", "--dataset", "other")
    run = dpql(*other, "--out", "r", folder=owner)
    assert run.returncode == 0, run.stderr
    assert " left out     wages.approval.stranger.json: an approval" in run.stderr
    assert len(_envelope("r", owner)["predicate"]["approvals"]) == 1
    fine(dpql("verify", "r", "--ledger", "ledger.sqlite", folder=owner))
    named = ("--approval", "wages.approval.stranger.json")
    refused(dpql(*other, "--again", *named, folder=owner), 4, "DPQL602")
