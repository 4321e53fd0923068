"""`dpql keys trust`: lines of the trust file."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from cli.started import dpql, fine, refused

pytestmark = pytest.mark.cli


def test_a_line_is_added_and_the_others_stay(folder: Path) -> None:
    """The line has the roles and the days; the file was sound before and after."""
    before = (folder / "allowed_signers").read_text("utf-8")
    trust = ("keys", "trust", "steward", "new@example.org", "--role", "both")
    days = ("--since", "2026-01-01", "--until", "2027-06-01", "--format", "json")
    added = json.loads(fine(dpql(*trust, *days, folder=folder)))
    assert ["dpql-release", "dpql-plan"] == added["roles"]
    assert {"20260101", "20270601"} <= {
        word for word in ("20260101", "20270601") if word in added["line"]
    }
    after = (folder / "allowed_signers").read_text("utf-8")
    assert f"{before.rstrip()}\n{added['line']}\n" == after


def test_a_broken_trust_file_is_left_alone(folder: Path) -> None:
    """What cannot be read is not written over."""
    (folder / "allowed_signers").write_text("broken\n", "utf-8")
    trust = ("keys", "trust", "steward", "new@example.org", "--role", "plan")
    refused(dpql(*trust, folder=folder), 4, "DPQL6")
    assert (folder / "allowed_signers").read_text("utf-8") == "broken\n"
