"""How the budget of a dataset is shown, with its runs."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from dpql.cli.ui import console, exit_codes
from dpql.diagnostics import shown

if TYPE_CHECKING:
    from dpql.ledger import Account, Run

_MANY = 10**6
_MARKS = {"reserved": "held back", "lost": "spent, not released"}


def show_accounts(accounts: list[Account], form: str) -> int:
    """Show accounts in the form that was asked for; return the exit code."""
    if form == "json":
        console.write_json([_document(account) for account in accounts])
    else:
        console.write("\n".join(map(_text, accounts)) or "no dataset is open\n")
    return exit_codes.OK


def _text(account: Account) -> str:
    from dpql.model.figures import bar, decimal, rational

    spent, cap = rational(account.spent), rational(account.cap)
    gauge = f"{bar(account.committed / account.cap)}   {rational(account.left)} left"
    if account.delta:
        cap += f", δ = {decimal(account.delta, 3, up=True)}"
    lines = [
        f"{shown(account.dataset)}   spent {spent} of {cap}   {gauge}",
        f"   protects   {shown(account.unit)}, {account.neighbours.value}",
    ]
    lines += [f"   {line}" for line in _delta_lines(account)]
    if account.approvals:
        lines.append(f"   approvals  {account.approvals} needed")
    lines += [
        f"   data       {_relative(location)}" for location in account.locations[-1:]
    ]
    lines += [
        f"   before     {_relative(location)}" for location in account.locations[-2::-1]
    ]
    for share in account.shares:
        names = ", ".join(map(shown, share.datasets))
        lines.append(f"   shared     {_relative(share.location)} with {names}")
    if account.partners:
        lines.append(f"   shared     with {', '.join(map(shown, account.partners))}")
    lines += [_run_line(run) for run in account.runs]
    return "\n".join(lines) + "\n"


def _delta_lines(account: Account) -> Iterator[str]:
    """Yield what only a budget with a delta has: its promise, and what is left."""
    if not account.delta:
        return
    from dpql.model.figures import decimal, rational

    events, conversion = (
        decimal(each, 3, up=True)
        for each in (account.delta_events, account.delta_conversion)
    )
    orders = ", ".join(map(str, account.orders)) or "none"
    spent = account.sums.delta
    if spent:
        events += f" ({decimal(spent, 3, up=True)} of it spent)"
    yield (
        f"δ          {events} for keys that are found, {conversion} to convert at "
        f"orders {orders}"
    )
    if account.raised:
        yield (
            "promise    the cap was raised, perhaps because of answers: what holds is "
            "the largest cap that could have been granted"
        )
    counted = [run for run in account.runs if run.state.value != "cancelled"]
    if counted:
        count = account.promise.room(account.sums, counted[-1].cost)
        more = "a million" if count >= _MANY else f"{count}"
        noun = "release" if count == 1 else "releases"
        yield f"left       room for about {more} more {noun} like the last"
    elif account.orders:
        rho = max(account.promise.cap(order) / order for order in account.orders)
        if rho > 0:
            yield f"left       room for ρ {rational(rho)} of Gaussian noise"


def _relative(location: str) -> str:
    """Return a location, relative to the working directory if it is below it."""
    return shown(location.removeprefix(f"{os.getcwd()}{os.sep}"), limit=400)  # noqa: PTH109  text


def _run_line(run: Run) -> str:
    state = _MARKS.get(run.state.value, run.state.value)
    name = f"   {run.envelope[:16]}" if run.envelope else ""
    return f"   #{run.number:<4} plan {run.plan[:8]}   {_spent(run):<10} {state}{name}"


def _spent(run: Run) -> str:
    from dpql.model.figures import amount_text, decimal

    text = amount_text(run.epsilon, run.cost.rho)
    if not run.cost.delta:
        return text
    return f"{text}, δ {decimal(run.cost.delta, 3, up=True)}"


def _document(account: Account) -> dict[str, Any]:
    return {
        "dataset": account.dataset,
        "unit": account.unit,
        "neighbours": account.neighbours.value,
        "approvals": account.approvals,
        "places": list(account.locations),
        "shares": [
            {"place": share.location, "datasets": list(share.datasets)}
            for share in account.shares
        ],
        "partners": list(account.partners),
        "cap": str(account.cap),
        "spent": str(account.spent),
        "reserved": str(account.reserved),
        "left": str(account.left),
        **_delta(account),
        "seq": account.seq,
        "head": account.head,
        "runs": [run_document(run) for run in account.runs],
    }


def _delta(account: Account) -> dict[str, Any]:
    """Return what a document says of a budget with a delta alone."""
    if not account.delta:
        return {}
    return {
        "delta_events": str(account.delta_events),
        "delta_events_left": str(account.events_left),
        "delta_conversion": str(account.delta_conversion),
        "orders": [str(order) for order in account.orders],
        "raised": account.raised,
        "tracks": [
            {
                "order": str(track.order),
                "total": str(track.total),
                "cap": str(track.cap),
            }
            for track in account.promise.tracks(account.sums)
        ],
    }


def run_document(run: Run) -> dict[str, Any]:
    """Return what a document says of a run."""
    return {
        "run": run.number,
        "plan": run.plan,
        "epsilon": None if run.epsilon is None else str(run.epsilon),
        **({"rho": str(run.cost.rho)} if run.cost.rho else {}),
        **({"delta": str(run.cost.delta)} if run.cost.delta else {}),
        "state": run.state.value,
        "release": run.envelope,
    }
