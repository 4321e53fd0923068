"""A chain that is sound by its hashes must also make sense as a budget."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpql.errors import LedgerFault
from dpql.ledger.account import Account, State
from dpql.ledger.entry import (
    Bound,
    Cancelled,
    CapRaised,
    Drawing,
    Entry,
    Event,
    Lost,
    Opened,
    Released,
    Reserved,
    Row,
    Shared,
    read_chain,
)
from dpql.ledger.replay import follow, next_entry, replay
from dpql.ledger.rules import refuse_overspending, refuse_runs
from dpql.model.spec import Neighbours

OPENED = Opened(
    cap=Fraction(2),
    unit="row",
    neighbours=Neighbours.ADD_REMOVE,
    approvals=0,
    location="",
    mark="0" * 32,
)


def reserved(before: str, epsilon: str = "1", cap: str = "2") -> Reserved:
    """Return a reservation that adds up."""
    return Reserved(
        plan="p" * 64,
        epsilon=Fraction(epsilon),
        cap=Fraction(cap),
        before=Fraction(before),
        after=Fraction(before) + Fraction(epsilon),
    )


def chain(*events: Event) -> list[Entry]:
    """Return entries that are sound as a chain, whatever the events are."""
    entries: list[Entry] = []
    for number, event in enumerate(events, start=1):
        previous = entries[-1].digest if entries else "0" * 64
        entries.append(Entry(dataset="d", seq=number, previous=previous, event=event))
    return entries


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


def test_amounts_add_up_exactly() -> None:
    """Spent, held back and left are sums of fractions."""
    account = replay(
        "d",
        chain(
            OPENED,
            reserved("0", "1/3"),
            Drawing(run=2),
            reserved("1/3", "1/7"),
            Cancelled(run=4),
            reserved("1/3", "1/5"),
            CapRaised(cap=Fraction(3)),
        ),
    )
    assert account.spent == Fraction(1, 3)
    assert account.reserved == Fraction(1, 5)
    assert account.left == 3 - Fraction(8, 15)
    assert [run.state for run in account.runs] == [
        State.DRAWING,
        State.CANCELLED,
        State.RESERVED,
    ]


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


def test_refusals_name_the_cure() -> None:
    """What a dead run holds back is recovered; what is spent needs the owner."""
    held = replay("d", chain(OPENED, reserved("0", "2")))
    spent = replay("d", chain(OPENED, reserved("0", "2"), Drawing(run=2)))
    cures = {
        "recover d": held,
        "raise-cap": spent,
    }
    for words, account in cures.items():
        with pytest.raises(LedgerFault, match="DPQL703") as refusal:
            refuse_overspending(account, Fraction(1))
        assert words in str(refusal.value.diagnostics[0].hint)
    cures = {"recover d": held, "--runs 2": spent}
    for words, account in cures.items():
        with pytest.raises(LedgerFault, match="DPQL715") as refusal:
            refuse_runs(account, {"d": account}, "p" * 64, 1)
        assert words in str(refusal.value.diagnostics[0].hint)
