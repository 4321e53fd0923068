"""Budgets with a delta, on every store: what fits, what is kept, what is refused."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest
from chains import OPENED, chain, reserved
from ledger.ledger_stores import DATASET, Stores, count_plan, gaussian_plan

from dpql.errors import LedgerFault
from dpql.ledger import Account, Ledger, Reservation, State, open_ledger
from dpql.ledger.costs import after, cost_of
from dpql.ledger.entry import CapRaised, Entry, Opened, Reserved
from dpql.ledger.replay import replay
from dpql.ledger.tracks import Cost, Sums, opened
from dpql.mechanisms.composition import PartCost, total
from dpql.mechanisms.concentrated import best_order, cap_down
from dpql.model.plan import Plan
from dpql.model.spec import Neighbours

NAME = "both"
DELTA = Fraction(1, 10**6)


@pytest.fixture
def budgets(stores: Stores) -> tuple[Stores, str, Ledger]:
    """Give a ledger with a pure dataset and one with a delta."""
    location, made = stores.make()
    made.open_account(
        NAME,
        cap=Fraction(1),
        unit=None,
        neighbours=Neighbours.ADD_REMOVE,
        delta=DELTA,
    )
    return stores, location, made


def _reserve(ledger: Ledger, plan: Plan) -> Reservation:
    granted = ledger.reserve(NAME, plan, again=True)
    assert isinstance(granted, Reservation)
    return granted


def _refused(ledger: Ledger, plan: Plan) -> str:
    with pytest.raises(LedgerFault) as refusal:
        _reserve(ledger, plan)
    return refusal.value.diagnostics[0].code


def test_orders_are_fixed_at_opening(budgets: tuple[Stores, str, Ledger]) -> None:
    """They are the best for the whole cap and for half of it, and never change."""
    _, _, ledger = budgets
    account = ledger.account(NAME)
    step = Fraction(1, 16)
    expected = tuple(best_order(e, DELTA / 2, step=step) for e in (1, Fraction(1, 2)))
    assert account.orders == expected == (Fraction(93, 4), Fraction(681, 16))
    assert (account.delta_events, account.delta_conversion) == (0, DELTA)
    raised = ledger.raise_cap(NAME, Fraction(2))
    assert raised.orders == expected
    assert raised.promise.cap(expected[0]) == cap_down(
        expected[0], Fraction(2), DELTA / 2
    )


@pytest.mark.heavy
def test_gaussian_releases_fill_the_budget_and_no_more(
    budgets: tuple[Stores, str, Ledger],
) -> None:
    """All that is admitted is (cap, delta)-DP together, by another accountant too."""
    stores, location, ledger = budgets
    plan = gaussian_plan(rho="1/200")
    count = 0
    while count < 9:
        before = ledger.account(NAME).committed
        room = ledger.account(NAME).promise.room(
            ledger.account(NAME).sums, cost_of(plan, ledger.account(NAME))
        )
        if room == 0:
            break
        receipt = ledger.begin_draw(_reserve(ledger, plan))
        count += 1
        assert before < receipt.run.after <= 1
        assert receipt.run.epsilon is None
        assert receipt.run.delta == DELTA
    # rho of 1 and 1e-6 is .0243, and the ledger's rule leaves .0229 of it.
    assert count == 4
    assert _refused(ledger, plan) == "DPQL703"
    parts = [PartCost(count=count, epsilon=None, rho=Fraction(1, 200))]
    assert total(parts, DELTA).epsilon <= 1
    other = open_ledger(location, witness=stores.witness()).account(NAME)
    assert other.committed == ledger.account(NAME).committed <= 1
    assert [run.cost.rho for run in other.runs] == [Fraction(1, 200)] * 4


def test_pure_releases_are_admitted_by_their_sum(
    budgets: tuple[Stores, str, Ledger],
) -> None:
    """Ten of a tenth fit exactly, although their divergences would not."""
    _, _, ledger = budgets
    for index in range(10):
        granted = _reserve(ledger, count_plan("1/10", purpose=f"Test {index}."))
        assert granted.run.after == Fraction(index + 1, 10)
    assert _refused(ledger, count_plan("1/1000")) == "DPQL703"
    assert _refused(ledger, gaussian_plan(rho="1e-9")) == "DPQL703"


def test_pure_and_gaussian_releases_share_the_budget(
    budgets: tuple[Stores, str, Ledger],
) -> None:
    """After a pure quarter, .0133 of rho is left (MATH-delta 2.4), and no more."""
    _, _, ledger = budgets
    _reserve(ledger, count_plan("1/4"))
    assert _refused(ledger, gaussian_plan(rho="0.0150")) == "DPQL703"
    _reserve(ledger, gaussian_plan(rho="0.0132"))
    assert _refused(ledger, gaussian_plan(rho="0.0002")) == "DPQL703"
    account = ledger.account(NAME)
    assert account.spent == 0
    assert account.reserved == account.committed <= 1
    assert account.left >= 0


def test_what_is_given_back_is_free_again(budgets: tuple[Stores, str, Ledger]) -> None:
    """A cancelled run costs nothing, one that drew stays spent."""
    _, _, ledger = budgets
    plan = gaussian_plan(rho="0.02")
    first = _reserve(ledger, plan)
    assert _refused(ledger, plan) == "DPQL703"
    ledger.cancel(first)
    assert ledger.account(NAME).committed == 0
    second = _reserve(ledger, plan)
    ledger.begin_draw(second)
    ledger.recover(NAME)
    assert ledger.account(NAME).runs[-1].state is State.LOST
    assert _refused(ledger, plan) == "DPQL703"


def test_a_raised_cap_says_whether_answers_led_to_it(
    budgets: tuple[Stores, str, Ledger],
) -> None:
    """The chain keeps what the owner said."""
    _, _, ledger = budgets
    assert not ledger.account(NAME).raised
    assert not ledger.raise_cap(NAME, Fraction(2), independent=True).raised
    assert ledger.raise_cap(NAME, Fraction(3)).raised


def test_a_pure_budget_is_stored_as_ever(budgets: tuple[Stores, str, Ledger]) -> None:
    """Its entries say nothing of a delta, and those of another are one spelling."""
    _, _, ledger = budgets
    ledger.reserve(DATASET, count_plan())
    with ledger.store.session(write=False) as session:
        pure, both = (session.rows(name) for name in (DATASET, NAME))
    for row in pure:
        assert "delta" not in str(row.body)
        assert "renyi" not in str(row.body)
    assert '"delta_conversion": "1/1000000"' in str(both[0].body)


PROMISE = opened(Fraction(2), Fraction(0), DELTA)
BOTH = Opened(
    cap=Fraction(2),
    unit="row",
    neighbours=Neighbours.ADD_REMOVE,
    approvals=0,
    location="",
    mark="0" * 32,
    delta_conversion=DELTA,
    orders=PROMISE.orders,
)


def _charged(rho: str = "1/1000", **members: Any) -> Reserved:
    """Return a reservation of Gaussian noise that adds up, but for some members."""
    cost = Cost(
        epsilon=None,
        rho=Fraction(rho),
        delta=Fraction(0),
        renyi=tuple(order * Fraction(rho) for order in PROMISE.orders),
    )
    amount = PROMISE.amounts_to(Sums.of([cost], len(PROMISE.orders)))
    assert amount is not None
    event = Reserved(
        plan="p" * 64,
        epsilon=None,
        cap=Fraction(2),
        before=Fraction(0),
        after=amount,
        rho=cost.rho,
        renyi=cost.renyi,
    )
    return replace(event, **members)


FORGED: dict[str, list[Any]] = {
    "a divergence fewer": [BOTH, _charged(renyi=(Fraction(1, 100),))],
    "divergences made smaller": [
        BOTH,
        _charged(renyi=tuple(Fraction(1, 10**9) for _ in PROMISE.orders)),
    ],
    "another amount": [BOTH, _charged(after=Fraction(1, 10**3))],
    "no cost": [BOTH, _charged(rho=Fraction(0))],
    "a negative cost": [BOTH, _charged(delta=Fraction(-1, 10))],
    "a delta for events that was not promised": [BOTH, _charged(delta=DELTA)],
    "an epsilon of 0": [BOTH, _charged(epsilon=Fraction(0))],
    "too much": [BOTH, _charged("1/2")],
    "no epsilon in a pure budget": [OPENED, replace(reserved("0"), epsilon=None)],
    "a rho in a pure budget": [OPENED, replace(reserved("0"), rho=Fraction(1, 9))],
    "divergences in a pure budget": [OPENED, _charged()],
    "orders without a delta": [replace(BOTH, delta_conversion=Fraction(0))],
    "a delta without orders": [replace(BOTH, orders=())],
    "an order of 1": [replace(BOTH, orders=(Fraction(1),))],
    "a negative delta": [replace(BOTH, delta_events=Fraction(-1))],
    "a delta of 1": [replace(BOTH, delta_events=Fraction(1))],
}


@pytest.mark.parametrize("name", FORGED)
def test_forged_costs_break_the_chain(name: str) -> None:
    """A chain whose hashes agree and whose costs do not is refused."""
    with pytest.raises(LedgerFault, match="DPQL705"):
        replay("d", chain(*FORGED[name]))


def test_sound_costs_do_not() -> None:
    """The chain that the forgeries start from is sound."""
    account = replay("d", chain(BOTH, _charged(), CapRaised(cap=Fraction(3))))
    assert account.delta == DELTA
    assert account.runs[0].cost.rho == Fraction(1, 1000)
    assert account.raised


def test_entries_have_one_spelling() -> None:
    """What says nothing is left out, and adding it is no other way to say it."""
    for event in (OPENED, reserved("0"), CapRaised(cap=Fraction(9)), BOTH, _charged()):
        (entry,) = chain(event)
        document = type(event).as_now({})
        assert set(document) == set(type(event).LEFT_OUT)
        says = any(name.encode() in entry.body for name in document)
        assert says == (event in (BOTH, _charged()))
        assert isinstance(entry, Entry)


def test_costs_follow_from_the_plan_alone() -> None:
    """A pure budget takes pure plans at their epsilon; others all their costs."""
    pure = Account(dataset="d", cap=Fraction(2))
    assert cost_of(count_plan(), pure) == Cost(
        epsilon=Fraction(1), rho=Fraction(0), delta=Fraction(0), renyi=()
    )
    with pytest.raises(LedgerFault, match="DPQL718"):
        cost_of(gaussian_plan(), pure)
    assert after(gaussian_plan(), pure) is None
    assert after(count_plan(), pure) == 1
    both = replace(pure, delta_conversion=DELTA, orders=PROMISE.orders)
    cost = cost_of(gaussian_plan(rho="1/1000"), both)
    assert (cost.epsilon, cost.rho, cost.delta) == (None, Fraction(1, 1000), 0)
    assert cost.renyi == tuple(order / 1000 for order in PROMISE.orders)
    found = cost_of(count_plan(), both)
    assert found.epsilon == 1
    assert all(0 < each < 1 for each in found.renyi)
    events = Account(dataset="d", cap=Fraction(2), delta_events=DELTA)
    assert after(gaussian_plan(), events) is None


def test_room_is_how_many_more_fit() -> None:
    """Counted by doubling and halving, it is what trying one by one gives."""
    cost = Cost(epsilon=Fraction(1, 7), rho=Fraction(0), delta=Fraction(0), renyi=())
    promise = opened(Fraction(2), Fraction(0), Fraction(0))
    for made in range(15):
        sums = promise.sums([cost] * made)
        assert promise.room(sums, cost) == 14 - made
    tiny = replace(cost, epsilon=Fraction(1, 10**12))
    assert promise.room(promise.sums([]), tiny) == 10**6


def test_a_senseless_delta_is_refused(stores: Stores) -> None:
    """A delta of 1, below 0, or below what is kept for events opens nothing."""
    _, made = stores.make()
    for delta, events in (("1", "0"), ("-1/9", "0"), ("1/9", "1/8"), ("1/9", "-1/9")):
        with pytest.raises(LedgerFault, match="DPQL710"):
            made.open_account(
                NAME,
                cap=Fraction(1),
                unit=None,
                neighbours=Neighbours.ADD_REMOVE,
                delta=Fraction(delta),
                events=Fraction(events),
            )
