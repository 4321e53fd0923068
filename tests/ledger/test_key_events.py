"""Keys that are found are debited: what they may fail is a part of the budget."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest
from private_specs import private_plan

from dpql.errors import LedgerFault
from dpql.ledger.account import Account, Run, State
from dpql.ledger.costs import after, cost_of
from dpql.ledger.rules import refuse_overspending, reservation_of
from dpql.ledger.tracks import opened
from dpql.mechanisms.composition import costs_of, total_rho

EVENTS, CONVERSION = Fraction(3, 10**6), Fraction(5, 10**6)


def _account(events: Fraction = EVENTS) -> Account:
    promise = opened(Fraction(20), events, CONVERSION)
    return Account(
        dataset="flights",
        cap=promise.epsilon,
        delta_events=events,
        delta_conversion=CONVERSION,
        orders=promise.orders,
        unit="plane",
    )


def _run(number: int, account: Account, **options: str) -> Run:
    cost = cost_of(private_plan(**options), account)
    return Run(
        number=number,
        plan="p" * 64,
        cost=cost,
        cap=account.cap,
        before=Fraction(0),
        after=Fraction(4),
        state=State.RELEASED,
        delta=account.delta,
    )


@pytest.mark.parametrize("mechanism", ["geometric", "gaussian"])
def test_the_delta_of_a_plan_is_debited_apart(mechanism: str) -> None:
    """It is the sum of what its searches may fail, and no part of what rho needs."""
    plan = private_plan(mechanism=mechanism)
    cost = cost_of(plan, _account())
    events = sum(step.delta for step in plan.steps)
    assert cost.delta == events == (plan.delta if not plan.in_rho else plan.delta / 2)
    assert (cost.epsilon is None) == plan.in_rho
    assert cost.rho >= total_rho(costs_of(plan))
    entry = reservation_of(_account(), plan)
    assert entry.delta == cost.delta
    assert entry.cost == cost


def test_as_many_searches_fit_as_the_owner_kept_delta_for() -> None:
    """Three of one millionth each; the fourth does not, and is told so."""
    account, plan = _account(), private_plan(epsilon="1", mechanism="geometric")
    for number in range(3):
        assert after(plan, account) is not None
        refuse_overspending(account, plan)
        run = _run(number + 2, account, epsilon="1", mechanism="geometric")
        account = replace(account, runs=(*account.runs, run))
    assert account.events_left == 0
    assert account.committed == 3
    assert after(plan, account) is None
    with pytest.raises(LedgerFault) as caught:
        refuse_overspending(account, plan)
    (fault,) = caught.value.diagnostics
    assert fault.code == "DPQL703"
    assert fault.message == (
        "the keys that the plan finds need a delta of 1e-6: 0 is left of the 3e-6 that "
        "the budget keeps for such keys"
    )
    assert "--delta-events" in (fault.hint or "")


def test_keys_that_a_dead_run_holds_can_be_given_back() -> None:
    """The hint names the command, where that would be enough."""
    plan = private_plan(epsilon="1", mechanism="geometric")
    account = _account(Fraction(1, 10**6))
    run = _run(2, account, epsilon="1", mechanism="geometric")
    held = replace(run, state=State.RESERVED)
    with pytest.raises(LedgerFault) as caught:
        refuse_overspending(replace(account, runs=(held,)), plan)
    (fault,) = caught.value.diagnostics
    assert "ledger recover" in (fault.hint or "")


def test_a_pure_budget_has_nothing_for_keys() -> None:
    """Such a plan cannot do without a delta, so no hint says so."""
    pure = Account(dataset="d", cap=Fraction(9))
    assert after(private_plan(), pure) is None
    with pytest.raises(LedgerFault) as caught:
        cost_of(private_plan(), pure)
    (fault,) = caught.value.diagnostics
    assert fault.code == "DPQL718"
    assert "delta: 0" not in (fault.hint or "")
    assert "--delta-events" in (fault.hint or "")


def test_nothing_kept_for_keys_refuses_them() -> None:
    """A budget whose whole delta is for accounts."""
    account = _account(Fraction(0))
    assert after(private_plan(), account) is None
    with pytest.raises(LedgerFault, match="0 is left of the 0"):
        refuse_overspending(account, private_plan())
