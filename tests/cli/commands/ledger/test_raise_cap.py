"""`dpql ledger raise-cap`: more may be spent, and never less."""

from __future__ import annotations

from pathlib import Path

import pytest
from cli.started import dpql, fine, refused

pytestmark = pytest.mark.cli


def test_a_cap_is_raised_and_never_lowered(folder: Path) -> None:
    """What was spent stays; a lower cap is refused with 3."""
    raised = fine(
        dpql("ledger", "raise-cap", "wages", "--epsilon", "5/2", folder=folder)
    )
    assert "wages   spent 0 of 5/2" in raised
    lower = dpql("ledger", "raise-cap", "wages", "--epsilon", "2", folder=folder)
    refused(lower, 3, "DPQL710")
    assert "spent 0 of 5/2" in fine(dpql("ledger", "show", folder=folder))
