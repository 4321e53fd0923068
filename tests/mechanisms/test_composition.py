"""Totals of several parts: by every rule, and against exact hockey sticks."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import pytest

from dpql.exact import round_up_to_digits
from dpql.mechanisms.accounting import optimal_delta_up, zcdp_delta_up
from dpql.mechanisms.composition import (
    ORDER,
    RHO,
    PartCost,
    budget,
    pure_epsilon,
    total,
    total_by,
    total_rho,
)
from dpql.mechanisms.concentrated import epsilon_up, pure_rho_up
from dpql.model.plan import ADDED_UP

DELTA = Fraction(1, 10**6)


def pure(epsilon: str, count: int = 1) -> PartCost:
    """Return the cost of any pure noise."""
    exact = Fraction(epsilon)
    return PartCost(count=count, epsilon=exact, rho=pure_rho_up(exact))


def gaussian(rho: str) -> PartCost:
    """Return the cost of Gaussian noise."""
    return PartCost(count=1, epsilon=None, rho=Fraction(rho))


def test_few_pure_parts_add_up() -> None:
    """One, two or ten epsilons cost their sum, and no delta."""
    for count in (1, 2, 10):
        found = total([pure("1/10", count)], DELTA)
        assert (found.rule, found.epsilon) == (ADDED_UP, Fraction(count, 10))
    assert total([pure("1/2"), pure("1/3")], Fraction(0)).epsilon == Fraction(5, 6)


def test_many_pure_parts_cost_less_than_their_sum() -> None:
    """A hundred of 1/10 cost 5.2, not 10; the exact worst case is 4.78."""
    found = total([pure("1/10", 100)], DELTA)
    assert Fraction(478, 100) < found.epsilon < Fraction(522, 100)
    exact = optimal_delta_up(Fraction(1, 10), 100, found.epsilon)
    assert exact <= DELTA


@pytest.mark.parametrize("epsilon", ["1/10", "1/2", "1"])
@pytest.mark.parametrize("count", [1, 5, 30, 200])
def test_no_rule_promises_more_than_randomised_response_keeps(
    epsilon: str, count: int
) -> None:
    """The exact delta of that many parts at each total is at most the given one."""
    costs = [pure(epsilon, count)]
    for delta in (Fraction(1, 100), DELTA, Fraction(1, 10**12)):
        found = total(costs, delta)
        exact = optimal_delta_up(Fraction(epsilon), count, found.epsilon)
        assert exact <= delta
        assert found.epsilon <= min(
            Fraction(epsilon) * count, epsilon_up(total_rho(costs), delta)
        )


def test_gaussian_parts_are_converted_once() -> None:
    """The rhos add up, and their total has the delta that another formula gives."""
    costs = [gaussian("1/100"), gaussian("1/50")]
    found = total_by(RHO, costs, DELTA)
    assert found is not None
    stated = round_up_to_digits(found, 15)
    assert zcdp_delta_up(Fraction(3, 100), stated) <= DELTA
    assert total(costs, DELTA).epsilon <= found
    assert pure_epsilon(costs) is None
    assert pure_epsilon([pure("1")]) == 1


def test_a_large_epsilon_beside_little_rho_adds_up_with_it() -> None:
    """Pure parts keep their epsilon where they are few and large."""
    costs = [pure("3"), gaussian("1/1000")]
    found = total(costs, DELTA)
    by_rho = total_by(RHO, costs, DELTA)
    assert by_rho is not None
    assert found.epsilon < by_rho
    assert found.epsilon <= 3 + epsilon_up(Fraction(1, 1000), DELTA)


def test_orders_are_named_and_found_again() -> None:
    """The rule that a plan names gives the total that it states, and no other."""
    costs = [pure("1/2", 8), gaussian("1/50")]
    found = total(costs, DELTA)
    assert total_by(found.rule, costs, DELTA) == found.epsilon
    assert total_by("what nobody wrote", costs, DELTA) is None
    assert total_by(ORDER.format("1/2"), costs, DELTA) is None
    assert total_by(ADDED_UP, costs, DELTA) is None
    assert total_by(RHO, costs, Fraction(0)) is None


def test_equal_parts_may_be_listed_or_counted() -> None:
    """Three costs once are one cost three times."""
    assert total([pure("1/4")] * 3, DELTA) == total([pure("1/4", 3)], DELTA)


@pytest.mark.parametrize(
    ("epsilon", "delta"),
    list(product(("1/10", "1", "5"), ("1e-3", "1e-6", "1e-9"))),
)
def test_a_budget_of_rho_is_within_epsilon_and_delta(epsilon: str, delta: str) -> None:
    """All of it costs at most the epsilon, and a millionth more costs more."""
    rho = budget(Fraction(epsilon), Fraction(delta))
    assert len(str(rho.numerator)) <= 17
    assert epsilon_up(rho, Fraction(delta)) <= Fraction(epsilon)
    more = rho * (1 + Fraction(1, 10**6))
    assert epsilon_up(more, Fraction(delta)) > Fraction(epsilon)
