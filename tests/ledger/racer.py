"""Takes as much budget as it can get; run as a process of its own by a test."""

from __future__ import annotations

import sys
from pathlib import Path

from dpql.errors import LedgerFault
from dpql.ledger import Reservation, open_ledger
from dpql.model.plan_bytes import decode_plan

if __name__ == "__main__":
    location, dataset, witness, plan_file, attempts = sys.argv[1:]
    plan = decode_plan(Path(plan_file).read_bytes())
    ledger = open_ledger(location, witness=witness)
    print("ready", flush=True)
    sys.stdin.readline()
    won = 0
    for _ in range(int(attempts)):
        try:
            reservation = ledger.reserve(dataset, plan, again=True)
        except LedgerFault as refusal:
            if refusal.diagnostics[0].code != "DPQL703":
                raise
            break
        assert isinstance(reservation, Reservation)
        ledger.begin_draw(reservation)
        won += 1
    print(won)
