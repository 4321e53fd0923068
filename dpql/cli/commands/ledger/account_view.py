"""How the budget of a dataset is shown, with its runs."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from dpql.cli.ui import console, exit_codes
from dpql.diagnostics import shown

if TYPE_CHECKING:
    from dpql.ledger import Account, Run

_MARKS = {"reserved": "held back", "lost": "spent, not released"}


def show_accounts(accounts: list[Account], form: str) -> int:
    """Show accounts in the form that was asked for; return the exit code."""
    if form == "json":
        console.write_json([_document(account) for account in accounts])
    else:
        console.write("\n".join(map(_text, accounts)) or "no dataset is open\n")
    return exit_codes.OK


def _text(account: Account) -> str:
    from dpql.model.figures import bar, rational

    spent, cap = rational(account.spent), rational(account.cap)
    gauge = f"{bar(account.committed / account.cap)}   {rational(account.left)} left"
    lines = [
        f"{shown(account.dataset)}   spent {spent} of {cap}   {gauge}",
        f"   protects   {shown(account.unit)}, {account.neighbours.value}",
    ]
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


def _relative(location: str) -> str:
    """Return a location, relative to the working directory if it is below it."""
    return shown(location.removeprefix(f"{os.getcwd()}{os.sep}"), limit=400)  # noqa: PTH109  text


def _run_line(run: Run) -> str:
    from dpql.model.figures import rational

    state = _MARKS.get(run.state.value, run.state.value)
    name = f"   {run.envelope[:16]}" if run.envelope else ""
    return (
        f"   #{run.number:<4} plan {run.plan[:8]}   ε {rational(run.epsilon):<8} "
        f"{state}{name}"
    )


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
        "seq": account.seq,
        "head": account.head,
        "runs": [run_document(run) for run in account.runs],
    }


def run_document(run: Run) -> dict[str, Any]:
    """Return what a document says of a run."""
    return {
        "run": run.number,
        "plan": run.plan,
        "epsilon": str(run.epsilon),
        "state": run.state.value,
        "release": run.envelope,
    }
