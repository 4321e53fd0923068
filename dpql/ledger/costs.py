"""What a plan costs a budget: fixed by the plan, before there are data."""

from __future__ import annotations

from fractions import Fraction

from dpql.errors import LedgerFault
from dpql.exact import round_up_to_digits
from dpql.ledger.account import Account
from dpql.ledger.tracks import Cost
from dpql.model.plan import ADDED_UP, Plan

OPEN_EVENTS = (
    "opened by `dpql ledger open --delta 1e-6 --delta-events 5e-7`: what is kept for "
    "keys that are found is fixed at opening"
)
"""How a budget comes to have a delta for keys that are found."""

_DIGITS = 15
"""Significant digits of a cost that is no rational of the plan, rounded up."""


def cost_of(plan: Plan, account: Account) -> Cost:
    """Return what a plan costs a budget.

    A budget without a delta is for pure plans, which cost their epsilon. Otherwise the
    divergence of every order is that of the parts that one unit touches.

    Raises:
        LedgerFault: the budget has no delta, and the plan spends one (DPQL718).
    """
    if not account.delta:
        if plan.delta_spent:
            finds = any(step.search is not None for step in plan.steps)
            raise _impure(account, finds=finds)
        return Cost(epsilon=plan.spent, rho=Fraction(0), delta=Fraction(0), renyi=())
    # Only budgets with a delta need the parts of a plan.
    from dpql.mechanisms.composition import costs_of, pure_epsilon, total_rho

    parts = costs_of(plan)
    epsilon = pure_epsilon(parts)
    if epsilon is not None and plan.composition == ADDED_UP:
        epsilon = max(epsilon, plan.spent)
    renyi = (
        sum((part.renyi(order) for part in parts), Fraction(0))
        for order in account.orders
    )
    return Cost(
        epsilon=epsilon,
        rho=round_up_to_digits(total_rho(parts), _DIGITS),
        delta=sum((step.delta for step in plan.steps), Fraction(0)),
        renyi=tuple(round_up_to_digits(each, _DIGITS) for each in renyi),
    )


def after(plan: Plan, account: Account) -> Fraction | None:
    """Return what would be spent or held back after a run; None if nothing fits it.

    A release is paid for once.
    """
    if account.released(plan.digest):
        return account.committed
    try:
        cost = cost_of(plan, account)
    except LedgerFault:
        return None
    if cost.delta > account.events_left:
        # However large the cap is.
        return None
    return account.promise.amounts_to(account.sums.plus(cost))


def _impure(account: Account, *, finds: bool) -> LedgerFault:
    from dpql.diagnostics import shown

    return LedgerFault.of(
        "DPQL718",
        f"the budget of `{shown(account.dataset)}` is pure, and the plan spends a "
        "delta",
        hint=f"ask the owner for a budget with a delta, {OPEN_EVENTS}"
        if finds
        else "write `delta: 0`, or ask the owner for a budget with a delta",
    )
