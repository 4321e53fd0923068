"""`dpql ledger show`: budgets with all their runs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from cli.started import dpql, fine, refused

pytestmark = pytest.mark.cli


def test_one_dataset_or_all_are_shown(folder: Path) -> None:
    """In the order of their names; an unknown one is refused with 3."""
    second = ("ledger", "open", "abroad", "--epsilon", "1", "--unit", "row")
    fine(dpql(*second, folder=folder))
    shown = fine(dpql("ledger", "show", "--format", "json", folder=folder))
    assert ["abroad", "wages"] == [each["dataset"] for each in json.loads(shown)]
    assert "abroad" not in fine(dpql("ledger", "show", "wages", folder=folder))
    refused(dpql("ledger", "show", "other", folder=folder), 3, "DPQL701")
