"""Draws on data for a dataset; run as a process of its own by a test."""

from __future__ import annotations

import sys
from pathlib import Path

from dpql.errors import LedgerFault
from dpql.ledger import Reservation, open_ledger
from dpql.model.plan_bytes import decode_plan

if __name__ == "__main__":
    dataset, location, witness, plan_file, frame = sys.argv[1:]
    plan = decode_plan(Path(plan_file).read_bytes())
    ledger = open_ledger(location, witness=witness)
    print("ready", flush=True)
    sys.stdin.readline()
    reservation = ledger.reserve(dataset, plan, data=frame)
    assert isinstance(reservation, Reservation)
    print("reserved", flush=True)
    sys.stdin.readline()
    try:
        ledger.begin_draw(reservation)
    except LedgerFault as refusal:
        print(refusal.diagnostics[0].code)
    else:
        print("drawn")
