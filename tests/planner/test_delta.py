"""Whole plans with a delta: exact hockey sticks of tiny ones, and forged ones."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from itertools import combinations_with_replacement, product
from typing import Any

import pytest
from spec_text import ID, integer, make_spec

from dpql.errors import PlanFault
from dpql.exact import exp_down
from dpql.mechanisms import MECHANISMS
from dpql.model.plan import Part, Plan, Step
from dpql.planner import plan
from dpql.planner.audit import audit_loss

DELTA = Fraction(1, 20)
COLUMNS = {"p": ID, "x": integer(-1, 1), "g": "{type: category, keys: [a, b]}"}
ROWS = {"unit": "p", "contributes": "{rows: 1, groups: 2}"}


def made(
    statistics: dict[str, dict[str, str]], *, epsilon: str = "1", **options: str
) -> Plan:
    """Return the plan of some statistics at a large delta, so that noise is small."""
    shared = {
        name: {"spend": "{share: 1}", "mechanism": "gaussian"} | one
        for name, one in statistics.items()
    }
    settings = {"delta": "1/20", "epsilon": epsilon, "rows": "{at_most: 3}"} | options
    return plan(make_spec(COLUMNS, shared, **settings))


Row = tuple[int, int]
"""Cell of the column g, and the value of x."""


def _totals(step: Step, rows: tuple[Row, ...]) -> list[tuple[Part, int]]:
    """Return the exact number of every part and cell, with the part."""
    found = []
    for cell in range(step.cells):
        here = [x for g, x in rows if step.cells == 1 or g == cell]
        moments = {"n": len(here), "u": sum(x + 1 for x in here)}
        for part in step.parts:
            measure = part.measure
            total = sum(t.coefficient * moments[t.moments[0]] for t in measure.terms)
            scaled = (2 * measure.scale * total + 1) // 2
            found.append((part, int(min(max(scaled, measure.lower), measure.upper))))
    return found


def _laws(
    plan_: Plan, one: tuple[Row, ...], other: tuple[Row, ...]
) -> Iterator[tuple[dict[int, Fraction], dict[int, Fraction]]]:
    """Yield the laws of every noisy number that differs between two data sets."""
    for step in plan_.steps:
        pairs = zip(_totals(step, one), _totals(step, other), strict=True)
        for (part, a), (_, b) in pairs:
            if a != b:
                yield _law(part, a, a, b), _law(part, b, a, b)


def _law(part: Part, value: int, *both: int) -> dict[int, Fraction]:
    """Return the masses of the outcomes near to both values."""
    module: Any = MECHANISMS[part.noise.mechanism]
    noise = module.restore(dict(part.noise.parameters))
    spread = int(8 * noise.sigma2 ** Fraction(1, 2)) + 2
    steps = range(min(both) - spread, max(both) + spread + 1)
    return {x: module.probability(noise, Fraction(value), x) for x in steps}


def _hockey_stick(
    laws: list[tuple[dict[int, Fraction], dict[int, Fraction]]], epsilon: Fraction
) -> Fraction:
    """Return nearly the sum of (P - e^epsilon Q)+ over all outcomes.

    Numbers are folded in one after the other: outcomes of one ratio of P and Q, to 40
    binary places, count together. What lies far out is left away.
    """
    factor = exp_down(epsilon)
    states: dict[Fraction, tuple[float, float]] = {Fraction(1): (1.0, 1.0)}
    for first, second in laws:
        fresh: dict[Fraction, tuple[float, float]] = {}
        for ratio, (p, q) in states.items():
            for x, mass in first.items():
                key = Fraction(round(ratio * mass / second[x] * 2**40), 2**40)
                a, b = fresh.get(key, (0.0, 0.0))
                fresh[key] = (a + p * float(mass), b + q * float(second[x]))
        states = fresh
    excess = (p - float(factor) * q for p, q in states.values())
    return Fraction(sum(e for e in excess if e > 0))


def _worst(plan_: Plan, *, swap: bool) -> Fraction:
    """Return the largest hockey stick of any neighbours of up to two units."""
    alphabet = list(product(range(2), (-1, 0, 1)))
    units: list[tuple[Row, ...]] = [()]
    units += [(row,) for row in alphabet]
    units += [
        pair
        for pair in combinations_with_replacement(alphabet, 2)
        if pair[0][0] != pair[1][0]
    ]
    cells = max(step.cells for step in plan_.steps)
    units = [unit for unit in units if cells > 1 or len(unit) <= 1]
    seen: dict[tuple[int, ...], Fraction] = {}
    for one, other in combinations_with_replacement(units, 2):
        if not swap and one:
            continue
        if swap and len(one) != len(other):
            continue
        for pair in ((one, other), (other, one)):
            moved = tuple(
                b - a
                for step in plan_.steps
                for (_, a), (_, b) in zip(
                    _totals(step, pair[0]), _totals(step, pair[1]), strict=True
                )
            )
            if moved not in seen:
                laws = list(_laws(plan_, *pair))
                seen[moved] = _hockey_stick(laws, plan_.loss)
    return max(seen.values())


PLANS = {
    "count": lambda: made({"n": {"count": "rows"}}),
    "cells": lambda: made({"n": {"count": "rows", "by": "[g]"}}, **ROWS),
    "signed sum": lambda: made({"s": {"sum": "x", "by": "[g]"}}, **ROWS),
    "two": lambda: made({"n": {"count": "rows"}, "s": {"sum": "x"}}),
}


@pytest.mark.contract
@pytest.mark.parametrize("name", PLANS)
def test_no_tiny_plan_loses_more_than_it_claims(name: str) -> None:
    """Hockey sticks of all neighbours are at most delta at the stated loss."""
    found = PLANS[name]()
    assert found.in_rho
    assert 0 < _worst(found, swap=False) <= DELTA


def _with_squared(plan_: Plan, factor: Fraction) -> Plan:
    """Return the plan with noise of another sigma squared; a planted bug."""
    steps = []
    for step in plan_.steps:
        parts = []
        for part in step.parts:
            module: Any = MECHANISMS[part.noise.mechanism]
            noise = module.restore(dict(part.noise.parameters))
            small = replace(noise, rho=noise.rho / factor)
            other = replace(
                part.noise, parameters=tuple(sorted(module.parameters(small).items()))
            )
            parts.append(replace(part, noise=other))
        steps.append(replace(step, parts=tuple(parts)))
    return replace(plan_, steps=tuple(steps))


@pytest.mark.contract
@pytest.mark.parametrize(
    ("name", "factor", "swap"),
    [
        # The bound of l2 without the number of cells.
        ("cells", Fraction(1, 2), False),
        # Replacing a unit, priced as adding one: signed sums cost four times as much.
        ("signed sum", Fraction(1), True),
    ],
)
def test_planted_bugs_exceed_the_claim(
    name: str,
    factor: Fraction,
    swap: bool,  # noqa: FBT001  a parameter
) -> None:
    """The same measure flags noise that forgets what a unit can do."""
    assert _worst(_with_squared(PLANS[name](), factor), swap=swap) > DELTA


def test_the_audit_flags_planted_bugs() -> None:
    """Noise that is 2% too small, one cell too few, and squares halved are refused."""
    found = PLANS["cells"]()
    audit_loss(found)
    (step,) = found.steps
    (part,) = step.parts
    small = _with_squared(found, Fraction(98, 100))
    measure = replace(part.measure, squared=2 * (part.measure.squared or 0))
    wider = replace(step, parts=(replace(part, measure=measure),))
    for forged in (
        small,
        replace(found, steps=(wider,)),
        replace(found, rho=(found.rho or 0) / 2),
        replace(found, loss=found.loss / 2),
        replace(found, composition="the losses of the steps add up"),
        replace(found, delta=found.delta / 2),
        replace(found, steps=(replace(step, delta=Fraction(1, 2)),)),
        replace(found, steps=(replace(step, epsilon=Fraction(1)),)),
        replace(found, steps=(replace(step, rho=(step.rho or 0) / 2),)),
    ):
        with pytest.raises(PlanFault, match=r"DPQL40[23]"):
            audit_loss(forged)
    with pytest.raises(PlanFault, match="DPQL403"):
        audit_loss(replace(found, spent=found.epsilon * 2))
