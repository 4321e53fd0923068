"""All that a ledger would refuse a run for is told at once."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

from ledger.ledger_stores import count_plan

from dpql.ledger import open_ledger
from dpql.ledger.objections import objections
from dpql.model.spec import Neighbours


def test_every_rule_is_asked_and_nothing_is_written(tmp_path: Path) -> None:
    """Unit, budget, runs and data; the chain stays as it is."""
    ledger = open_ledger(str(tmp_path / "l.sqlite"), create=True)
    data = tmp_path / "d.csv"
    ledger.open_account(
        "other",
        cap=Fraction(1),
        unit=None,
        neighbours=Neighbours.ADD_REMOVE,
        location=str(data),
    )
    ledger.open_account(
        "mine", cap=Fraction(1, 10**6), unit="x", neighbours=Neighbours.ADD_REMOVE
    )
    account = ledger.account("mine")
    found = objections(ledger, account, count_plan(), runs=0, data=str(data))
    codes = [fault.diagnostics[0].code for fault in found]
    assert ["DPQL704", "DPQL715", "DPQL703", "DPQL716"] == codes
    assert account.seq == ledger.account("mine").seq
    fits = ledger.open_account(
        "fits", cap=Fraction(9), unit=None, neighbours=Neighbours.ADD_REMOVE
    )
    assert [] == objections(ledger, fits, count_plan(), runs=1)
