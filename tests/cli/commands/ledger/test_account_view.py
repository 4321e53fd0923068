"""An account in words: its budget, whom it protects, where its data are, its runs."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from cli.started import dpql, fine

if TYPE_CHECKING:
    from dpql.ledger import Account

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


def _gaussian_account(rho: str) -> Account:
    """Return an account with a delta and one run, as its chain says."""
    from dpql.ledger.account import Account, Run, State
    from dpql.ledger.tracks import Cost, opened

    delta = Fraction(1, 10**5)
    promise = opened(Fraction(3), Fraction(0), delta)
    spent = Fraction(rho)
    cost = Cost(
        epsilon=None,
        rho=spent,
        delta=Fraction(0),
        renyi=tuple(order * spent for order in promise.orders),
    )
    run = Run(
        number=2,
        plan="p" * 64,
        cost=cost,
        cap=Fraction(3),
        before=Fraction(0),
        after=Fraction(1),
        state=State.LOST,
        delta=delta,
    )
    return Account(
        dataset="wages",
        cap=Fraction(3),
        unit="row",
        delta_conversion=delta,
        orders=promise.orders,
        runs=(run,),
    )


def test_a_budget_with_a_delta_says_what_is_left(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """In releases like the last, or in rho where there was none; caps raised, too."""
    from dpql.cli.commands.ledger.account_view import show_accounts

    account = _gaussian_account("1/50")
    show_accounts([account], "text")
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("wages   spent ≈ ")
    assert "of 3, δ = 0.00001" in lines[0]
    assert lines[2].strip() == (
        "δ          0 for keys that are found, 0.00001 to convert at orders 127/16, "
        "109/8"
    )
    assert lines[3].strip() == "left       room for about 9 more releases like the last"
    assert "ρ 1/50" in lines[4]
    assert "spent, not released" in lines[4]
    show_accounts([replace(account, runs=(), raised=True)], "text")
    text = capsys.readouterr().out
    assert "room for ρ ≈ 0.2109 of Gaussian noise" in text
    assert "largest cap that could have been granted" in text
    show_accounts([_gaussian_account("1/5")], "text")
    assert "room for about 0 more releases" in capsys.readouterr().out
    show_accounts([account], "json")
    (document,) = json.loads(capsys.readouterr().out)
    assert document["delta_conversion"] == "1/100000"
    assert [track["order"] for track in document["tracks"]] == ["127/16", "109/8"]
    assert (document["runs"][0]["epsilon"], document["runs"][0]["rho"]) == (
        None,
        "1/50",
    )
