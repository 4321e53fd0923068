"""Replay a chain of entries into an account; refuse entries that break the rules."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import assert_never

from dpql.ledger.account import Account, Run, State
from dpql.ledger.entry import (
    GENESIS,
    Bound,
    Cancelled,
    Drawing,
    Entry,
    Event,
    Head,
    Joined,
    Lost,
    Opened,
    Owners,
    Released,
    Reserved,
    Shared,
    broken,
)
from dpql.ledger.tracks import Cost, Sums

_MARK = re.compile(r"[0-9a-f]{32}", re.ASCII)


def replay(dataset: str, entries: Sequence[Entry]) -> Account:
    """Return the account that the entries add up to.

    Raises:
        LedgerFault: an entry breaks a rule (DPQL705).
    """
    return go_on(Account(dataset=dataset), entries)


def follow(account: Account, entry: Entry) -> Account:
    """Return the account after one more entry; refuse one that breaks a rule."""
    return go_on(account, [entry])


def go_on(account: Account, entries: Sequence[Entry]) -> Account:
    """Return the account after more entries.

    Raises:
        LedgerFault: an entry breaks a rule (DPQL705).
    """
    if not entries:
        return account
    runs = {run.number: run for run in account.runs}
    state = _Replay(account, runs, account.sums, list(account.digests))
    for entry in entries:
        state.apply(entry)
    return state.result()


def next_entry(account: Account, event: Event) -> Entry:
    """Return the entry that continues the chain of the account."""
    return Entry(
        dataset=account.dataset,
        seq=account.seq + 1,
        previous=account.head,
        event=event,
    )


def _after_owner(account: Account, entry: Entry, event: Owners) -> Account:
    if isinstance(event, Opened):
        sound = event.cap > 0 and event.approvals >= 0 and _MARK.fullmatch(event.mark)
        if not sound or not _sound_promise(event):
            raise broken(entry.seq)
        return replace(
            account,
            cap=event.cap,
            delta_events=event.delta_events,
            delta_conversion=event.delta_conversion,
            orders=event.orders,
            unit=event.unit,
            neighbours=event.neighbours,
            approvals=event.approvals,
            locations=(event.location,) if event.location else (),
            mark=event.mark,
        )
    if isinstance(event, Bound):
        if not event.location:
            raise broken(entry.seq)
        return replace(account, locations=(*account.locations, event.location))
    if isinstance(event, Shared):
        named = event.location and event.datasets
        if not named or account.dataset in event.datasets:
            raise broken(entry.seq)
        return replace(
            account,
            locations=(*account.locations, event.location),
            shares=(*account.shares, event),
        )
    if isinstance(event, Joined):
        if not event.datasets or account.dataset in event.datasets:
            raise broken(entry.seq)
        return replace(account, partners=(*account.partners, *event.datasets))
    if event.cap <= account.cap:
        raise broken(entry.seq)
    raised = account.raised or not event.independent
    return replace(account, cap=event.cap, raised=raised)


def _sound_promise(event: Opened) -> bool:
    """Tell whether deltas and orders are those of a promise."""
    events, conversion = event.delta_events, event.delta_conversion
    return (
        min(events, conversion) >= 0
        and events + conversion < 1
        and all(order > 1 for order in event.orders)
        and bool(event.orders) == (conversion > 0)
    )


@dataclass(slots=True)
class _Replay:
    """The state of a replay."""

    account: Account
    runs: dict[int, Run]
    sums: Sums
    digests: list[str]

    def apply(self, entry: Entry) -> None:
        """Apply the next entry."""
        if isinstance(entry.event, Opened) != (entry.seq == 1):
            raise broken(entry.seq)
        if isinstance(entry.event, Owners):
            self.account = _after_owner(self.account, entry, entry.event)
            if isinstance(entry.event, Opened):
                self.sums = self.account.sums
        else:
            self.sums = _after_run(self.account, self.runs, self.sums, entry)
        self.digests.append(entry.digest)

    def result(self) -> Account:
        """Return the account as of the last entry."""
        return replace(
            self.account,
            runs=tuple(self.runs.values()),
            seq=len(self.digests),
            head=self.digests[-1] if self.digests else GENESIS,
            digests=tuple(self.digests),
        )


def _after_run(
    account: Account, runs: dict[int, Run], sums: Sums, entry: Entry
) -> Sums:
    """Update ``runs`` by the entry of a run; return what all cost after it."""
    event = entry.event
    assert not isinstance(event, Owners)
    if isinstance(event, Reserved):
        if not _is_cost(event.cost, account):
            raise broken(entry.seq)
        promise, after = account.promise, sums.plus(event.cost)
        sound = (
            event.cap == account.cap
            and event.before == promise.amounts_to(sums)
            and promise.holds(after)
            and event.after == promise.amounts_to(after)
        )
        if not sound:
            raise broken(entry.seq)
        runs[entry.seq] = Run(
            number=entry.seq,
            plan=event.plan,
            cost=event.cost,
            cap=event.cap,
            before=event.before,
            after=event.after,
            state=State.RESERVED,
            delta=account.delta,
        )
        return after
    run = runs.get(event.run)
    needed = State.RESERVED if isinstance(event, Drawing | Cancelled) else State.DRAWING
    if run is None or run.state is not needed:
        raise broken(entry.seq)
    runs[run.number] = _moved(account, run, entry, event)
    return sums.minus(run.cost) if isinstance(event, Cancelled) else sums


def _is_cost(cost: Cost, account: Account) -> bool:
    """Tell whether a release can cost so much, in the terms of the budget."""
    amounts = (cost.rho, cost.delta, *cost.renyi)
    if len(cost.renyi) != len(account.orders) or min(amounts) < 0:
        return False
    if not account.delta:
        return cost.epsilon is not None and cost.epsilon > 0 and not any(amounts)
    return cost.rho > 0 and (cost.epsilon is None or cost.epsilon > 0)


def _moved(
    account: Account,
    run: Run,
    entry: Entry,
    event: Drawing | Released | Cancelled | Lost,
) -> Run:
    match event:
        case Drawing():
            head = Head(dataset=entry.dataset, seq=entry.seq, digest=entry.digest)
            return replace(
                run,
                state=State.DRAWING,
                drawing=head,
                bound=bool(account.locations),
                shared=bool(account.sharing),
            )
        case Released(envelope=envelope):
            return replace(
                run, state=State.RELEASED, envelope=envelope, sealed=entry.seq
            )
        case Cancelled():
            return replace(run, state=State.CANCELLED)
        case Lost():
            return replace(run, state=State.LOST)
        case _:
            assert_never(event)
