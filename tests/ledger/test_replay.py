"""A chain that is sound by its hashes must also make sense as a budget."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest
from chains import OPENED, chain, reserved
from hypothesis import given, settings
from hypothesis import strategies as st

from dpql.errors import LedgerFault
from dpql.ledger.account import Account
from dpql.ledger.entry import (
    Bound,
    Cancelled,
    CapRaised,
    Drawing,
    Event,
    Lost,
    Released,
    Row,
    Shared,
    read_chain,
)
from dpql.ledger.replay import follow, next_entry, replay

NONSENSE = {
    "not opened": [reserved("0")],
    "opened twice": [OPENED, OPENED],
    "cap lowered": [OPENED, CapRaised(cap=Fraction(1))],
    "cap of zero": [replace(OPENED, cap=Fraction(0))],
    "no mark": [replace(OPENED, mark="")],
    "mark that is a path": [replace(OPENED, mark="../../../../" + "0" * 20)],
    "bound to nowhere": [OPENED, Bound(location="")],
    "shared nowhere": [OPENED, Shared(location="", datasets=("e",))],
    "shared with nobody": [OPENED, Shared(location="/x", datasets=())],
    "shared with itself": [OPENED, Shared(location="/x", datasets=("d",))],
    "wrong before": [OPENED, reserved("1/2")],
    "wrong cap": [OPENED, reserved("0", cap="3")],
    "overspent": [OPENED, reserved("0"), reserved("1"), reserved("2")],
    "negative": [OPENED, reserved("0", "-1")],
    "unknown run": [OPENED, Drawing(run=7)],
    "drawn twice": [OPENED, reserved("0"), Drawing(run=2), Drawing(run=2)],
    "released undrawn": [OPENED, reserved("0"), Released(run=2, envelope="e")],
    "lost undrawn": [OPENED, reserved("0"), Lost(run=2)],
    "cancelled drawn": [OPENED, reserved("0"), Drawing(run=2), Cancelled(run=2)],
    "cancelled twice": [OPENED, reserved("0"), Cancelled(run=2), Cancelled(run=2)],
    "released lost": [
        OPENED,
        reserved("0"),
        Drawing(run=2),
        Lost(run=2),
        Released(run=2, envelope="e"),
    ],
}


@pytest.mark.parametrize("events", NONSENSE.values(), ids=NONSENSE)
def test_chain_that_makes_no_sense_is_refused(events: list[Event]) -> None:
    """Hashes alone do not make a budget."""
    with pytest.raises(LedgerFault) as refusal:
        replay("d", chain(*events))
    assert refusal.value.diagnostics[0].code == "DPQL705"


@pytest.mark.property
@settings(max_examples=200)
@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 8)), max_size=30))
def test_following_equals_replaying(moves: list[tuple[int, int]]) -> None:
    """Entry by entry or all at once: the same account, never above its cap."""
    account = follow(Account(dataset="d"), chain(OPENED)[0])
    entries = chain(OPENED)
    for kind, number in moves:
        events: list[Event] = [
            reserved(str(account.committed), "1/4", str(account.cap)),
            Drawing(run=number),
            Released(run=number, envelope="e"),
            Cancelled(run=number),
            Lost(run=number),
            CapRaised(cap=account.cap + 1),
        ]
        entry = next_entry(account, events[kind])
        try:
            account = follow(account, entry)
        except LedgerFault:
            continue
        entries.append(entry)
    assert account == replay("d", entries)
    assert 0 <= account.spent <= account.committed <= account.cap
    rows = [Row(entry.seq, entry.body.decode(), entry.digest) for entry in entries]
    assert read_chain("d", rows) == tuple(entries)
