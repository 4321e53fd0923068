"""Everything that a ledger would refuse a run for, all at once and before it."""

from __future__ import annotations

from collections.abc import Callable

from dpql.errors import LedgerFault
from dpql.ledger.account import Account
from dpql.ledger.data_identity import identify
from dpql.ledger.ledger import Ledger
from dpql.ledger.rules import (
    refuse_foreign_data,
    refuse_overspending,
    refuse_runs,
    refuse_unit,
)
from dpql.model.plan import Plan


def objections(
    ledger: Ledger,
    account: Account,
    plan: Plan,
    *,
    runs: int | None = None,
    data: object = None,
) -> list[LedgerFault]:
    """Return what `reserve` would refuse a plan for; nothing is written.

    Args:
        ledger: where the account is.
        account: the budget that the plan would be debited from.
        plan: what would run.
        runs: how many runs of the plan its reviewers allow, None without reviewers.
        data: what would be read: a path, a URL or a table in memory.

    Raises:
        LedgerFault: the ledger itself is not to be believed (7xx).
    """
    identity = identify(data)
    with ledger.store.session(write=False) as session:
        names = session.datasets()
        accounts = {name: ledger.checked.account(session, name) for name in names}
    rules: list[Callable[[], object]] = [
        lambda: refuse_unit(account, plan),
        lambda: refuse_runs(account, accounts, plan.digest, runs),
        lambda: refuse_overspending(account, plan),
    ]
    if identity is not None:
        rules.append(lambda: refuse_foreign_data(identity, account, accounts))
    found: list[LedgerFault] = []
    for rule in rules:
        try:
            rule()
        except LedgerFault as fault:
            found.append(fault)
    return found
