"""`dpql ledger`: what owners do can be piped on."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from cli.started import WAGES, dpql, fine

pytestmark = pytest.mark.cli


def test_owners_commands_speak_json(tmp_path: Path) -> None:
    """What opens, raises, recovers, signs and makes keys can be piped on."""
    plan = WAGES.with_suffix(".plan.json")
    for arguments in (
        ("keys", "new", "officer", "--no-passphrase"),
        ("approve", plan, "--key", "officer", "--out", "a.json"),
        ("ledger", "open", "wages", "--epsilon", "1", "--unit", "person_id"),
        ("ledger", "raise-cap", "wages", "--epsilon", "2"),
        ("ledger", "recover", "wages"),
        ("ledger", "verify"),
    ):
        run = dpql(*arguments, "--format", "json", folder=tmp_path)
        assert isinstance(json.loads(fine(run)), dict | list)
