"""`dpql ledger recover`: runs that died."""

from __future__ import annotations

from pathlib import Path

import pytest
from cli.started import dpql, fine, refused

pytestmark = pytest.mark.cli


def test_a_run_that_there_is_not_cannot_be_recovered(owner: Path) -> None:
    """A number that nobody knows is a mistake, not a run that lives."""
    recover = ("ledger", "recover", "wages", "--run")
    refused(dpql(*recover, "99", folder=owner), 3, "DPQL709", "no run 99")
    assert fine(dpql(*recover, "2", folder=owner)) == "no run to recover\n"
