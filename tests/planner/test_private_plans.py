"""Whole small plans that find keys: no neighbour tells more than the plan says it may.

An outcome is the keys that are found, with their counts, and then the noisy numbers of
every further step. After each outcome of the searches a neighbour may move the steps as
badly as their bounds allow, so the sums hold whatever the bounding of a unit keeps, and
however many keys are found. Noise is that of the finished plan; laws and moves are
written here again (tests/exact_pairs.py). Every sum is certified from above.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache
from itertools import combinations_with_replacement, product
from typing import Any

import pytest
from exact_pairs import (
    Noise,
    Pair,
    adaptive_up,
    hockey_stick_up,
    moved,
    renyi_factor_down,
    together,
    worst_moves,
)
from spec_text import ID, integer, spec_text

from dpql.exact import exp_up
from dpql.language import load_text
from dpql.mechanisms import MECHANISMS, SEARCHES
from dpql.mechanisms.key_threshold import KeyThreshold
from dpql.model.plan import Plan, Step
from dpql.model.spec import Neighbours, PrivateColumn, Spec
from dpql.planner import plan
from dpql.planner.audit import audit_loss
from tests.mechanisms.test_key_privacy import last_of, pair_of

Bounds = tuple[int, int, int | None]
Moves = set[tuple[int, ...]]
LARGE = Fraction(200)


@dataclass(frozen=True)
class Case:
    """A spec of searches and further steps, and what a unit may bring."""

    id: str
    steps: dict[str, dict[str, str]]
    epsilon: str = "3"
    delta: str = "1/10"
    bounds: Bounds | None = (1, 1, None)
    relation: str = "add_remove"
    values: tuple[int, int] = (-1, 1)
    others: bool = False


UNITS = {"count": "units", "by": "[kind]"}
LISTED = {"list": "keys", "by": "[kind]"}
SUM = {"sum": "x", "by": "[kind]"}
COUNT = {"count": "rows", "by": "[kind]"}
MEAN = {"mean": "x", "by": "[kind]"}
PURE, NORMAL = {"mechanism": "geometric"}, {"mechanism": "gaussian"}

CASES = [
    Case("units and a sum", {"found": UNITS, "sum": SUM}),
    Case("units and a pure sum", {"found": UNITS, "sum": {**SUM, **PURE}}),
    Case("keys and a count", {"found": LISTED, "count": COUNT}, bounds=(2, 2, None)),
    Case(
        "a normal sum",
        {"found": UNITS, "sum": {**SUM, **NORMAL}},
        bounds=(1, 2, None),
    ),
    Case(
        "all normal",
        {"found": {**UNITS, **NORMAL}, "count": {**COUNT, **NORMAL}},
        epsilon="4",
        bounds=(1, 2, None),
    ),
    Case(
        "normal names",
        {"found": {**LISTED, **NORMAL}, "count": {**COUNT, **NORMAL}},
        epsilon="4",
        bounds=(1, 2, None),
    ),
    Case(
        "a total of rows",
        {"found": UNITS, "count": {**COUNT, **PURE}},
        bounds=(2, 2, 3),
        epsilon="4",
    ),
    Case("others", {"found": LISTED, "sum": {**SUM, **PURE}}, others=True),
    Case(
        "replaced",
        {"found": UNITS, "sum": {**SUM, **PURE}},
        relation="replace_one",
        epsilon="5",
    ),
    Case(
        "replaced, normal",
        {"found": UNITS, "count": {**COUNT, **NORMAL}},
        relation="replace_one",
        epsilon="5",
    ),
    Case(
        "rows replaced",
        {"found": {**COUNT}, "sum": {**SUM, **PURE}},
        bounds=None,
        relation="replace_one",
        values=(1, 2),
        epsilon="5",
    ),
    Case("a mean", {"found": LISTED, "mean": {**MEAN, **PURE}}, values=(0, 2)),
    Case(
        "two searches",
        {"found": UNITS, "more": {"list": "keys", "by": "[place]"}},
        epsilon="4",
    ),
    Case("never below", {"found": {**UNITS, "shown_from": "3"}, "count": COUNT}),
]


def private_spec(case: Case) -> Spec:
    """Return the spec; its keys are declared in the text, and then private."""
    columns = {
        "kind": "{type: category, keys: [a, b]}",
        "place": "{type: category, keys: [a, b]}",
        "x": integer(*case.values),
    }
    contributes = None
    if case.bounds is not None:
        rows, groups, total = case.bounds
        most = "" if total is None else f", total: {total}"
        contributes = f"{{rows: {rows}, groups: {groups}{most}}}"
        columns["person"] = ID
    replaced = case.relation == "replace_one"
    text = spec_text(
        columns,
        {
            name: {
                **{k: v for k, v in one.items() if k not in ("list", "shown_from")},
                **({"count": "rows"} if "list" in one else {}),
                "spend": "{share: 1}",
            }
            for name, one in case.steps.items()
        },
        rows=f"{{{'exactly' if replaced else 'at_most'}: 30}}",
        unit="row" if case.bounds is None else "person",
        contributes=contributes,
        neighbours=case.relation,
        epsilon=case.epsilon,
        delta=case.delta,
        mechanism="auto",
    )
    spec = load_text(text, form="yaml")
    data = replace(
        spec.data,
        columns=tuple(
            PrivateColumn(name=column.name, others=case.others)
            if column.name in ("kind", "place")
            else column
            for column in spec.data.columns
        ),
    )
    statistics = tuple(
        replace(
            one,
            kind="keys" if "list" in case.steps[one.name] else one.kind,
            shown_from=int(case.steps[one.name].get("shown_from", "0")) or None,
        )
        for one in spec.statistics
    )
    return replace(spec, data=data, statistics=statistics)


@cache
def planned(case_id: str) -> Plan:
    """Return the plan of a case."""
    return plan(private_spec(next(case for case in CASES if case.id == case_id)))


@dataclass(frozen=True)
class Model:
    """What decides the divergence of a plan: its noises, and what neighbours change."""

    searches: tuple[Any, ...]
    keys: int
    replaced: bool
    claims: tuple[tuple[Fraction, Fraction], ...]
    steps: tuple[tuple[Noise, frozenset[tuple[int, ...]], Fraction], ...]
    epsilon: Fraction
    delta: Fraction


def noise_of(step: Step) -> Noise:
    """Return the one law of all parts of a step."""
    found = set()
    for part in step.parts:
        module: Any = MECHANISMS[part.noise.mechanism]
        noise = module.restore(dict(part.noise.parameters))
        assert noise.lattice == 1
        normal = part.noise.mechanism == "gaussian"
        found.add(
            Noise("gaussian", noise.sigma2)
            if normal
            else Noise("geometric", noise.epsilon / noise.sensitivity)
        )
    (law,) = found
    return law


def brought(case: Case, what: str, cells: int, scale: int) -> set[tuple[int, ...]]:
    """Return what one unit may bring into cells: extremes, in units of the measure."""
    rows, groups, total = case.bounds or (1, 1, None)
    low, high = case.values
    if what == "count":
        low = high = 1
    sums: set[tuple[int, ...]] = set()
    for counts in product(range(rows + 1), repeat=cells):
        if sum(map(bool, counts)) > groups or sum(counts) > (total or rows * groups):
            continue
        if what == "mean":
            # Parts of one: what is above the least value, and what is below the most.
            width = high - low
            ends = [
                {(0, width * n), (width * n, 0), (n, width * n - n)} for n in counts
            ]
            sums |= {
                tuple(scale * part for cell in each for part in cell)
                for each in product(*ends)
            }
        else:
            sums |= set(product(*({low * n, high * n} for n in counts)))
    return sums


def moves_of(case: Case, step: Step) -> Moves:
    """Return how far neighbours move a step: as many cells as they can reach."""
    what = step.statistic
    groups = 1 if case.bounds is None else case.bounds[1]
    replaced = case.relation == "replace_one"
    scale = int(step.parts[0].measure.scale)
    units = brought(case, what, 2 * groups if replaced else groups, scale)
    empty = tuple(0 for _ in next(iter(units)))
    return worst_moves(
        tuple(a - b for a, b in zip(one, other, strict=True))
        for one in units
        for other in (units if replaced else {empty})
    )


def model_of(case: Case, made: Plan) -> Model:
    """Return what a plan comes to."""
    noises = [
        SEARCHES[step.search.noise.mechanism].restore(
            dict(step.search.noise.parameters)
        )
        for step in made.steps
        if step.search is not None
    ]
    groups = 1 if case.bounds is None else case.bounds[1]
    return Model(
        searches=tuple(noises),
        keys=groups,
        replaced=case.relation == "replace_one",
        claims=tuple(
            # What has a rho is compared by its delta alone: at any epsilon it fails so.
            (step.loss or LARGE, step.delta)
            for step in made.steps
            if step.search is not None
        ),
        steps=tuple(
            (noise_of(step), frozenset(moves_of(case, step)), step.rho or Fraction(0))
            for step in made.steps
            if step.parts
        ),
        epsilon=made.loss,
        delta=made.delta_spent,
    )


def numbers(noise: Any, changed: int) -> Sequence[int]:
    """Return numbers of units: all of them, or a few where many keys are many sums."""
    last, normal = last_of(noise), isinstance(noise, KeyThreshold)
    if changed == 1 or (changed == 2 and not normal):
        return range(last + 1)
    return sorted({0, 1, 2, last // 2, last - 2, last})


def found_pairs(model: Model) -> Iterator[Pair]:
    """Yield the pairs of what all searches show, for all neighbours, both ways."""
    ways = [(model.keys, model.keys)] if model.replaced else [(model.keys, 0)]
    ways += [] if model.replaced else [(0, model.keys)]
    many = len(model.searches) * sum(ways[0])
    for up, down in ways:
        each = [
            [
                together(
                    [
                        *(pair_of(noise, n + 1, n, index) for n in more),
                        *(pair_of(noise, n, n + 1, index) for n in less),
                    ]
                )
                for more in combinations_with_replacement(numbers(noise, many), up)
                for less in combinations_with_replacement(numbers(noise, many), down)
            ]
            for index, noise in enumerate(model.searches)
        ]
        for some in product(*each):
            yield together(some)


def step_pairs(model: Model) -> list[Pair]:
    """Return the pairs of all further steps, moved as badly as may be."""
    each = [
        [together(moved(noise, d) for d in one if d) for one in moves]
        for noise, moves, _ in model.steps
    ]
    return [together(some) for some in product(*each)]


def worst(model: Model) -> Fraction:
    """Return the largest divergence of a plan at its epsilon."""
    then = step_pairs(model)
    return max(adaptive_up(pair, then, model.epsilon) for pair in found_pairs(model))


def violations(model: Model) -> set[str]:
    """Return which claims of a plan do not hold: the whole, and its parts by theirs."""
    found = set()
    if worst(model) > model.delta:
        found.add("whole")
    for noise, moves, rho in model.steps:
        pairs = (together(moved(noise, d) for d in one if d) for one in moves)
        # The divergence of order 2, which is attained by whole moves.
        if any(renyi_factor_down(pair) > exp_up(2 * rho) for pair in pairs):
            found.add("rho")
    for noise, (epsilon, delta) in zip(model.searches, model.claims, strict=True):
        alone = replace(model, searches=(noise,))
        if any(hockey_stick_up(x, epsilon) > delta for x in found_pairs(alone)):
            found.add("search")
    return found


@pytest.mark.heavy
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_no_neighbour_tells_more_than_the_plan_says(case: Case) -> None:
    """All searches and steps together, at the loss and the delta that are stated."""
    made = planned(case.id)
    assert violations(model_of(case, made)) == set()
    assert made.loss <= made.spent <= made.epsilon
    assert made.delta_spent <= made.delta


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_the_bytes_of_a_plan_say_the_same(case: Case) -> None:
    """The audit finds the same losses from the members of the plan alone."""
    assert audit_loss(planned(case.id)) == planned(case.id).loss


def test_cases_are_of_every_kind() -> None:
    """Of every search, of both ways to compose, with steps of either noise."""
    plans = [planned(case.id) for case in CASES]
    searches = {
        step.search.noise.mechanism for p in plans for step in p.steps if step.search
    }
    assert searches == set(SEARCHES)
    assert {p.in_rho for p in plans} == {True, False}
    assert {
        part.noise.mechanism for p in plans for s in p.steps for part in s.parts
    } == {
        "geometric",
        "gaussian",
    }
    assert any(step.joint for p in plans for step in p.steps)
    assert {step.relation for p in plans for step in p.steps} == set(Neighbours)
