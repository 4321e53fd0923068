"""Chains of entries that hash as they should, whatever their events are."""

from __future__ import annotations

from fractions import Fraction

from dpql.ledger.entry import Entry, Event, Opened, Reserved
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
