"""What dpql 0.1 signed is read and verified for ever."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from dpql.api.stored_reports import fetched_report
from dpql.api.verification import verify_release
from dpql.errors import VerifyFault
from dpql.ledger import open_ledger
from dpql.reports.trust import load_trust

OLD = Path(__file__).parents[1] / "vectors" / "releases_0_1"
TRUST = load_trust(OLD / "allowed_signers")


def _ledger_at(folder: Path) -> Path:
    """Return a copy of the old ledger: a session may write beside it."""
    return shutil.copy(OLD / "budgets.sqlite", folder / "budgets.sqlite")


@pytest.mark.parametrize("name", ["debited", "undebited"])
def test_old_release_verifies(name: str) -> None:
    """Folders of 0.1 are believed, with and without a debit, approval and all."""
    verified = verify_release(OLD / name, TRUST)
    found = [who.principal for who in verified.approved.reviewers]
    assert found == ["officer@example.org"]
    assert (verified.predicate.ledger is not None) == (name == "debited")


def test_old_ledger_confirms_its_releases(tmp_path: Path) -> None:
    """The chain of 0.1 is read, and holds the folder and the stored second run."""
    ledger = open_ledger(str(_ledger_at(tmp_path)))
    verified = verify_release(OLD / "debited", TRUST, ledger=ledger)
    texts = {check.name: check.text for check in verified.checks}
    assert texts["ledger"] == "entry 3 is in the chain; entry 4 names this envelope"
    second = ledger.verify("visits").runs[1].envelope
    assert second is not None
    fetched_report(ledger, "visits", second).write(tmp_path / "second")
    again = verify_release(tmp_path / "second", TRUST, ledger=ledger)
    assert again.digest == second


def test_old_rehearsal_is_still_none() -> None:
    """A rehearsal of format 1 is read as one, and refused as a release."""
    with pytest.raises(VerifyFault) as refusal:
        verify_release(OLD / "rehearsal.dsse.json", TRUST)
    assert refusal.value.diagnostics[0].code == "DPQL605"
