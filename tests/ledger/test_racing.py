"""Processes that race for the last of a budget take exactly what there is."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from ledger.ledger_stores import DATASET, Stores, count_plan

from dpql.ledger import State

RACERS = 8
RACER = Path(__file__).with_name("racer.py")


def _debits_at_once(stores: Stores, location: str, epsilon: str, attempts: int) -> int:
    plan_file = stores.folder / "race.plan.json"
    plan_file.write_bytes(count_plan(epsilon).to_json())
    arguments = [location, DATASET, stores.witness(), str(plan_file), str(attempts)]
    racers = [
        subprocess.Popen(
            [sys.executable, str(RACER), *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for _ in range(RACERS)
    ]
    for racer in racers:
        assert racer.stdout is not None
        assert racer.stdout.readline() == "ready\n"
    for racer in racers:
        assert racer.stdin is not None
        racer.stdin.write("go\n")
        racer.stdin.flush()
    won = 0
    for racer in racers:
        printed, _ = racer.communicate(timeout=900)
        assert racer.returncode == 0
        won += int(printed)
    return won


def test_the_last_of_the_budget_is_taken_once(stores: Stores) -> None:
    """Eight processes want the whole cap: one gets it."""
    location, ledger = stores.make("1")
    assert _debits_at_once(stores, location, "1", 1) == 1
    assert ledger.verify(DATASET).left == 0


def test_tenths_of_a_cap_of_ten_add_up_to_ten(stores: Stores) -> None:
    """Eight processes take tenths until none is left: exactly a hundred."""
    location, ledger = stores.make("10")
    assert _debits_at_once(stores, location, "0.1", 20) == 100
    account = ledger.verify(DATASET)
    assert account.spent == 10
    assert account.left == 0
    assert {run.state for run in account.runs} == {State.DRAWING}
    assert account.seq == 1 + 2 * 100
