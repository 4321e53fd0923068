"""An account in words: its budget, whom it protects, where its data are, its runs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from cli.started import dpql, fine

pytestmark = pytest.mark.cli


def test_an_account_shows_budget_data_and_runs(released: Path) -> None:
    """Paths below the working directory are shown from there."""
    (account,) = json.loads(
        fine(dpql("ledger", "show", "--format", "json", folder=released))
    )
    (run,) = account["runs"]
    plan, release = run["plan"][:8], run["release"][:16]
    lines = fine(dpql("ledger", "show", folder=released)).splitlines()
    assert lines == [
        "wages   spent 1 of 2   █████░░░░░   1 left",
        "   protects   person_id, add_remove",
        "   approvals  1 needed",
        "   data       wages.csv",
        f"   #2    plan {plan}   ε 1        released   {release}",
    ]


def test_a_ledger_without_datasets_says_so(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Nothing is shown as nothing."""
    from dpql.cli.commands.ledger.account_view import show_accounts

    assert show_accounts([], "text") == 0
    assert capsys.readouterr().out == "no dataset is open\n"
