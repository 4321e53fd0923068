"""`dpql ledger fetch`: every release comes out again."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from cli.released import RUN
from cli.started import dpql, fine, refused

pytestmark = pytest.mark.cli


def test_every_release_can_be_fetched(owner: Path) -> None:
    """Also one that is not the last of its plan; without a key, at no cost."""
    (first,) = (owner / "releases").iterdir()
    before = {path.name: path.read_bytes() for path in first.iterdir()}
    assert dpql(*RUN, "--yes", "--again", folder=owner).returncode == 0
    shown = fine(dpql("ledger", "show", "--format", "json", folder=owner))
    digest = json.loads(shown)[0]["runs"][0]["release"]
    for path in first.iterdir():
        path.unlink()
    first.rmdir()
    text = fine(dpql("ledger", "fetch", "wages", digest[:16], folder=owner))
    assert text == f" fetched      releases/{first.name}/   {digest[:16]}\n"
    fine(dpql("ledger", "fetch", "wages", digest, "--out", "r/x", folder=owner))
    for folder in (first, owner / "r" / "x"):
        assert before == {path.name: path.read_bytes() for path in folder.iterdir()}
    assert shown == fine(dpql("ledger", "show", "--format", "json", folder=owner))
    refused(dpql("ledger", "fetch", "wages", "f" * 16, folder=owner), 3, "DPQL709")
