"""No way to spread a unit's rows costs more than a plan, or a ledger, says it does."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from functools import cache
from itertools import product
from math import exp, log

import pytest
import spec_text

from dpql.ledger.account import Account
from dpql.ledger.costs import cost_of
from dpql.mechanisms import CONCENTRATED, PURE
from dpql.mechanisms.concentrated import geometric_rho_up, pure_rho_up
from dpql.model.plan import Plan
from dpql.planner import plan

Bounds = tuple[int, int, int | None]

ORDERS = (Fraction(3, 2), Fraction(93, 4))
VALUES = {"count": (1, 1), "mixed": (-1, 1), "skewed": (-4, 1), "positive": (1, 2)}
ALL_ROWS: list[Bounds] = [(3, 1, None), (3, 2, None), (3, 2, 4), (3, 3, None)]
BOUNDS: list[Bounds | None] = [None, (2, 2, None), (2, 2, 3), (4, 2, 5), (1, 3, 2)]
KEYS = 3
SPLIT = {"groups": {"by": "[kind]"}, "filter": {"where": "kind == 'a'"}}


@cache
def made(
    what: str,
    bounds: Bounds | None,
    relation: str,
    *,
    mechanism: str,
    delta: str,
    by: str,
    rows: int = 40,
) -> Plan:
    """Return a plan of one pure statistic, beside a Gaussian count with a delta."""
    low, high = VALUES[what]
    columns = {"kind": "{type: category, keys: [a, b, c]}"}
    contributes = None
    if bounds is not None:
        each, groups, total = bounds
        most = "" if total is None else f", total: {total}"
        contributes = f"{{rows: {each}, groups: {groups}{most}}}"
        columns["person"] = spec_text.ID
    if what != "count":
        columns["x"] = spec_text.integer(low, high)
    one = {"count": "rows"} if what == "count" else {"sum": "x"}
    statistics = {"one": {**one, **SPLIT[by], "mechanism": mechanism}}
    if delta != "0":
        statistics["other"] = {"count": "rows", "by": "[kind]", "mechanism": "gaussian"}
    text = spec_text.spec_text(
        columns,
        {name: {**each, "spend": "{share: 1}"} for name, each in statistics.items()},
        rows=f"{{exactly: {rows}}}",
        unit="row" if bounds is None else "person",
        contributes=contributes,
        neighbours=relation,
        delta=delta,
    )
    return plan(spec_text.load_text(text, form="yaml"))


def brought(what: str, bounds: Bounds | None, cells: int) -> set[tuple[int, ...]]:
    """Return the extreme sums that one unit brings into the cells."""
    rows, groups, total = bounds or (1, 1, None)
    low, high = VALUES[what]
    return {
        sums
        for counts in product(range(rows + 1), repeat=cells)
        if sum(map(bool, counts)) <= groups
        if sum(counts) <= (total or rows * groups)
        for sums in product(*({low * n, high * n} for n in counts))
    }


def moves(
    what: str, bounds: Bounds | None, cells: int, relation: str
) -> Iterator[tuple[int, ...]]:
    """Yield how far neighbours move the cells, the order of cells left aside."""
    one_unit = brought(what, bounds, cells)
    others = one_unit if relation == "replace_one" else {(0,) * cells}
    yield from {
        tuple(sorted(abs(a - b) for a, b in zip(new, old, strict=True)))
        for new in one_unit
        for old in others
    }


def loss_of_one(made: Plan) -> Fraction:
    """Return the loss of a cell that moves by 1."""
    (part,) = made.step("one").parts
    assert part.loss is not None
    return part.loss / part.measure.l0 / part.measure.sensitivity


@cache
def divergence(theta: Fraction, distance: int, order: Fraction) -> float:
    """Return the Renyi divergence of geometric noise, summed term by term."""
    t, a = float(theta), float(order)
    reach = distance + int(60 / t)
    terms = (
        exp(-t * (a * abs(x) - (a - 1) * abs(x - distance)))
        for x in range(-reach, reach + 1)
    )
    return log(sum(terms) * (1 - exp(-t)) / (1 + exp(-t))) / (a - 1)


@pytest.mark.parametrize("by", SPLIT)
@pytest.mark.parametrize("relation", ["add_remove", "replace_one"])
@pytest.mark.parametrize("what", VALUES)
def test_a_step_states_the_rho_of_its_worst_neighbour(
    what: str, relation: str, by: str
) -> None:
    """Under every bound on what units contribute, of both kinds of pure noise."""
    cells = KEYS if by == "groups" else 1
    exact = {
        "geometric": geometric_rho_up,
        "snapping": lambda theta, d: pure_rho_up(theta * d),
    }
    for bounds, name in product(BOUNDS, exact):
        found = made(what, bounds, relation, mechanism=name, delta="1e-9", by=by)
        theta, rho = loss_of_one(found), cache(exact[name])
        worst = max(
            sum((rho(theta, d) for d in moved if d), Fraction(0))
            for moved in moves(what, bounds, cells, relation)
        )
        stated = found.step("one").rho
        assert stated is not None
        assert worst <= stated, (bounds, name)


@pytest.mark.parametrize("by", SPLIT)
@pytest.mark.parametrize("relation", ["add_remove", "replace_one"])
@pytest.mark.parametrize("what", VALUES)
def test_a_budget_with_a_delta_is_charged_for_the_worst_neighbour(
    what: str, relation: str, by: str
) -> None:
    """Also for a pure plan, which adds up losses and knows no divergences."""
    cells = KEYS if by == "groups" else 1
    budget = Account(
        dataset="d",
        cap=Fraction(3),
        delta_conversion=Fraction(1, 10**6),
        orders=ORDERS,
    )
    for bounds in BOUNDS:
        found = made(what, bounds, relation, mechanism="geometric", delta="0", by=by)
        theta, cost = loss_of_one(found), cost_of(found, budget)
        assert cost.epsilon == found.spent
        for order, stated in zip(ORDERS, cost.renyi, strict=True):
            worst = max(
                sum(divergence(theta, d, order) for d in moved if d)
                for moved in moves(what, bounds, cells, relation)
            )
            assert worst <= float(stated) * (1 + 1e-9), (bounds, order)


@pytest.mark.parametrize("mechanism", [*PURE, *CONCENTRATED])
@pytest.mark.parametrize("what", ["mixed", "skewed"])
def test_a_unit_may_have_all_rows(what: str, mechanism: str) -> None:
    """A change of a cell is within its range, but two cells have two ranges."""
    for bounds in ALL_ROWS:
        found = made(
            what,
            bounds,
            "replace_one",
            mechanism=mechanism,
            delta="1e-9",
            by="groups",
            rows=bounds[0],
        )
        step = found.step("one")
        (part,) = step.parts
        # No more rows than there are, of either unit.
        within = (*bounds[:2], bounds[0])
        pairs = list(moves(what, within, KEYS, "replace_one"))
        if mechanism in CONCENTRATED:
            squares = max(sum(d * d for d in moved) for moved in pairs)
            assert part.measure.squared is not None
            assert squares <= part.measure.squared, bounds
        else:
            assert step.loss is not None
            most = max(map(sum, pairs)) * loss_of_one(found)
            assert most <= step.loss, bounds
