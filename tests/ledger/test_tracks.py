"""The rule of an (epsilon, delta) ledger: vectors, adversaries, the refused rule."""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from typing import Any

import mpmath
import pytest
from golden import cases, close

from dpql.errors import PlanFault
from dpql.ledger.tracks import Cost, Promise, opened, part_cost

Case = dict[str, Any]
TOLERANCE = Fraction(1, 10**28)
ORDERS = (Fraction(63, 16), Fraction(83, 16))


def _maybe(text: str | None) -> Fraction | None:
    return None if text is None else Fraction(text)


def _cost(
    orders: tuple[Fraction, ...],
    epsilon: Fraction | None = None,
    rho: Fraction | None = None,
    delta: Fraction = Fraction(0),
    parts: int = 1,
) -> Cost:
    """Return the cost of a release of equal parts."""
    each = None if epsilon is None else epsilon / parts
    return Cost(
        epsilon=epsilon,
        rho=rho or Fraction(0),
        delta=delta,
        renyi=tuple(
            parts * part_cost(order, epsilon=each, rho=rho) for order in orders
        ),
    )


@pytest.mark.golden
@pytest.mark.parametrize("case", cases("delta/ledger"))
def test_ledger_vectors(case: Case) -> None:
    """Events, pure sum, every track to all digits given, and what is admitted."""
    given, expected = case["input"], case["expect"]
    orders = tuple(map(Fraction, given["orders"]))
    promise = Promise(
        epsilon=Fraction(given["cap_epsilon"]),
        delta_events=Fraction(given["cap_delta_events"]),
        delta_conversion=Fraction(given["cap_delta_conversion"]),
        orders=orders,
    )
    costs = [
        _cost(
            orders,
            epsilon=_maybe(entry["epsilon"]),
            rho=_maybe(entry["rho"]),
            delta=Fraction(entry["delta"]),
        )
        for entry in given["entries"]
    ]
    assert expected["fits"] == promise.admits(costs)
    assert Fraction(expected["events"]) == sum(cost.delta for cost in costs)
    assert _maybe(expected["pure"]) == _pure(promise, costs)
    for wanted, track in zip(
        expected["tracks"], promise.tracks(promise.sums(costs)), strict=True
    ):
        assert Fraction(wanted["order"]) == track.order
        assert close(wanted["total"], track.total, TOLERANCE)
        assert close(wanted["cap"], track.cap, TOLERANCE)


def test_a_pure_ledger_adds_epsilons() -> None:
    """Without delta and orders the rule is today's, and nothing else is let in."""
    promise = opened(Fraction(1), Fraction(0), Fraction(0))
    assert () == promise.orders
    half = _cost((), epsilon=Fraction(1, 2))
    assert promise.admits([half, half])
    assert not promise.admits([half, half, _cost((), epsilon=Fraction(1, 10**9))])
    assert not promise.admits([_cost((), rho=Fraction(1, 10**9))])
    assert not promise.admits([_cost((), epsilon=Fraction(1, 9), delta=Fraction(1, 9))])


def test_default_orders() -> None:
    """Those of the note: best for the whole epsilon, and for half of it."""
    found = opened(Fraction(1), Fraction(0), Fraction(1, 10**6))
    assert (Fraction(93, 4), Fraction(681, 16)) == found.orders
    assert Fraction(1, 10**6) == found.delta


@pytest.mark.parametrize(
    ("spent", "left"),
    [("0", ".02294"), (".1", ".01986"), (".25", ".01330"), (".5", ".00649")],
)
def test_what_is_left_beside_pure_releases(spent: str, left: str) -> None:
    """The table of the note: how much rho fits after so much epsilon."""
    promise = opened(Fraction(1), Fraction(0), Fraction(1, 10**6))
    before = [] if spent == "0" else [_cost(promise.orders, epsilon=Fraction(spent))]
    rho = Fraction(left)
    for more, admitted in ((Fraction(0), True), (Fraction(2, 10**5), False)):
        cost = _cost(promise.orders, rho=rho - Fraction(1, 10**5) + more)
        assert admitted == promise.admits([*before, cost])


def test_costs_are_those_of_parts() -> None:
    """Ten cells of .1 cost less than one part of 1, at every order."""
    order = Fraction(93, 4)
    for parts, expected in ((1, ".9859"), (10, ".7151"), (100, ".1153")):
        cost = _cost((order,), epsilon=Fraction(1), parts=parts)
        assert abs(cost.renyi[0] - Fraction(expected)) < Fraction(1, 10**4)
    small = part_cost(order, epsilon=Fraction(1), rho=Fraction(1, 100))
    assert order / 100 == small


def test_senseless_promises_are_refused() -> None:
    """An order of 1, orders without a delta, a delta of 1."""
    with pytest.raises(PlanFault, match="DPQL413"):
        Promise(
            epsilon=Fraction(1), delta_conversion=Fraction(1, 9), orders=(Fraction(1),)
        )
    with pytest.raises(AssertionError):
        Promise(epsilon=Fraction(1), orders=(Fraction(2),))
    with pytest.raises(AssertionError):
        Promise(epsilon=Fraction(1), delta_events=Fraction(1))


def _pure(promise: Promise, costs: list[Cost]) -> Fraction | None:
    """Return the sum of epsilons; None if some release has none."""
    sums = promise.sums(costs)
    return None if sums.impure else sums.epsilon


def test_a_closed_track_admits_nothing() -> None:
    """Where the order's cap is at or below 0 even a release of no cost is refused."""
    promise = Promise(
        epsilon=Fraction(1, 100),
        delta_conversion=Fraction(1, 10**9),
        orders=(Fraction(2),),
    )
    (track,) = promise.tracks(promise.sums([]))
    assert track.cap <= 0
    assert not track.holds
    assert not promise.admits([_cost(promise.orders, rho=Fraction(1, 10**12))])


def test_a_raised_cap_keeps_its_orders() -> None:
    """Raising the epsilon raises every cap; orders and shares of delta stay."""
    before = opened(Fraction(1), Fraction(0), Fraction(1, 10**6))
    after = Promise(
        epsilon=Fraction(2),
        delta_conversion=before.delta_conversion,
        orders=before.orders,
    )
    for one, other in zip(
        before.tracks(before.sums([])), after.tracks(after.sums([])), strict=True
    ):
        assert one.cap + 1 == other.cap


def _outcomes(up: float, down: float) -> tuple[tuple[float, float], ...]:
    """Return (probability, loss) of a release whose losses are +up and -down."""
    q = (1 - mpmath.exp(-down)) / (mpmath.exp(up) - mpmath.exp(-down))
    p = mpmath.exp(up) * q
    return ((p, mpmath.mpf(up)), (1 - p, -mpmath.mpf(down)))


def _renyi(outcomes: tuple[tuple[Any, Any], ...], order: Fraction) -> Fraction:
    """Return the divergence of that order, the larger direction, rounded up."""
    a = mpmath.mpf(order.numerator) / order.denominator
    one = sum(p * mpmath.exp((a - 1) * v) for p, v in outcomes)
    other = sum(p * mpmath.exp(-a * v) for p, v in outcomes)
    found = max(mpmath.log(one), mpmath.log(other)) / (a - 1)
    return Fraction(int(mpmath.ceil(found * 2**60)), 2**60)


def _designed(up: float, down: float, orders: tuple[Fraction, ...]) -> tuple[Any, Cost]:
    outcomes = _outcomes(up, down)
    renyi = tuple(_renyi(outcomes, order) for order in orders)
    return outcomes, Cost(epsilon=None, rho=Fraction(0), delta=Fraction(0), renyi=renyi)


TREE = (
    (0.1, 0.1),
    ((0.2, 0.2), ((0.9, 0.6), None, None), ((1.3, 0.1), None, None)),
    ((1.4, 0.1), None, None),
)
"""The adversary of the note: what is asked first, after +, and after -."""


def _paths(
    tree: Any, before: tuple[Any, ...] = (), loss: Any = 0, mass: Any = 1
) -> Any:
    """Yield the questions of every transcript with its loss and probability."""
    if tree is None:
        yield before, loss, mass
        return
    question, plus, minus = tree
    for (p, v), following in zip(_outcomes(*question), (plus, minus), strict=True):
        yield from _paths(following, (*before, question), loss + v, mass * p)


def test_the_adversary_who_ends_in_different_tracks() -> None:
    """With the whole delta for each order its promise is broken; ours refuses it.

    Every path of questions fits one order if each has all of delta, and the loss is
    above epsilon = 1 with more than delta = .05. With delta / 2 each, the last question
    of every path is refused.
    """
    mpmath.mp.dps = 30
    delta = Fraction(1, 20)
    alone = [
        Promise(epsilon=Fraction(1), delta_conversion=delta, orders=(order,))
        for order in ORDERS
    ]
    ours = Promise(epsilon=Fraction(1), delta_conversion=delta, orders=ORDERS)
    broken = mpmath.mpf(0)
    for questions, loss, mass in _paths(TREE):
        single = [
            [_designed(*question, (order,))[1] for question in questions]
            for order in ORDERS
        ]
        assert any(p.admits(c) for p, c in zip(alone, single, strict=True))
        costs = [_designed(*question, ORDERS)[1] for question in questions]
        assert not ours.admitted(costs)
        assert ours.admitted(costs[:-1])
        broken += max(mpmath.mpf(0), mass * (1 - mpmath.exp(1 - loss)))
    assert abs(broken - mpmath.mpf(".05088")) < mpmath.mpf(10) ** -5
    assert broken > 0.05


def _gaussian_entry(orders: tuple[Fraction, ...]) -> tuple[Any, Cost]:
    """Return discrete Gaussian noise of sigma2 = 3 on a count: losses and cost."""
    weights = {x: mpmath.exp(-mpmath.mpf(x * x) / 6) for x in range(-30, 31)}
    whole = sum(weights.values())
    outcomes: dict[Any, Any] = {}
    for x, weight in weights.items():
        # Far outcomes are joined: the worst loss of each stands for all.
        loss = mpmath.mpf(2 * max(-6, min(x, 7)) + 1) / 6
        outcomes[loss] = outcomes.get(loss, mpmath.mpf(0)) + weight / whole
    pairs = tuple((p, v) for v, p in outcomes.items())
    rho = Fraction(1, 6)
    cost = Cost(
        epsilon=None,
        rho=rho,
        delta=Fraction(0),
        renyi=tuple(order * rho for order in orders),
    )
    return pairs, cost


def _pure_entry(epsilon: Fraction, orders: tuple[Fraction, ...]) -> tuple[Any, Cost]:
    e = mpmath.mpf(epsilon.numerator) / epsilon.denominator
    p = mpmath.exp(e) / (1 + mpmath.exp(e))
    return ((p, e), (1 - p, -e)), _cost(orders, epsilon=epsilon)


@pytest.mark.heavy
@pytest.mark.parametrize("epsilon", [Fraction(1), Fraction(3)])
def test_no_adversary_exceeds_the_promise(epsilon: Fraction) -> None:
    """The best adaptive play over pure, Gaussian and designed releases stays within.

    A dynamic programme over (what was spent, the loss so far) finds the largest
    hockey-stick divergence that any strategy reaches under the rule, stopping included.
    """
    mpmath.mp.dps = 20
    promise = opened(epsilon, Fraction(0), Fraction(1, 20))
    orders = promise.orders
    menu = [
        _pure_entry(epsilon / 2, orders),
        _pure_entry(epsilon / 5, orders),
        _gaussian_entry(orders),
        _designed(0.9 * float(epsilon), 0.1, orders),
        _designed(1.3, 0.1, orders),
    ]
    cap = mpmath.mpf(epsilon.numerator) / epsilon.denominator

    @cache
    def best(spent: tuple[int, ...], loss: Any) -> Any:
        found = max(mpmath.mpf(0), 1 - mpmath.exp(cap - loss))
        costs = [menu[i][1] for i, times in enumerate(spent) for _ in range(times)]
        for index, (outcomes, cost) in enumerate(menu):
            if promise.admits([*costs, cost]) and len(costs) < 4:
                after = tuple(n + (i == index) for i, n in enumerate(spent))
                value = sum(
                    p * best(after, mpmath.nint((loss + v) * 10**9) / 10**9)
                    for p, v in outcomes
                )
                found = max(found, value)
        return found

    worst = best((0,) * len(menu), mpmath.mpf(0))
    assert 0 < worst <= mpmath.mpf(promise.delta.numerator) / promise.delta.denominator
