"""No exact total decides how its noise is drawn (R31).

Path, integer width and coins follow from the plan. Every measure of every statistic is
drawn with the same coins at both ends of its declared range, in between, and beyond it:
the same instructions are executed, and the same coins requested.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from functools import cache
from math import floor
from typing import Any

import polars as pl
import pytest
from spec_text import make_spec
from trails import Recorded, instructions

from dpql.curator import noise, run
from dpql.mechanisms import MECHANISMS, geometric
from dpql.mechanisms.bits import Bits
from dpql.model.plan import Part, Plan, Step, Term
from dpql.planner import plan
from dpql.testing import SeededBits

COLUMNS = {
    "age": "{type: integer, bounds: [16, 100], nulls: {as: 20}}",
    "deep": "{type: integer, bounds: [-1e9, 1], nulls: {as: 1}}",
    "wage": "{type: decimal, bounds: [0, 20000], step: 0.01, nulls: {as: 20}}",
    "score": "{type: float, bounds: [0, 100], nulls: {as: 20}}",
}
PRIVATE = ("sum", "mean", "variance")
FEW = 48
SPECIAL = [
    sign * (1 << bits) + near
    for bits in (31, 53, 61, 62, 63, 64)
    for sign in (-1, 1)
    for near in (-1, 0, 1)
]


@cache
def _plan(mechanism: str, rows: int, epsilon: str, *, known: bool) -> Plan:
    """Return a plan of every statistic, for a ceiling or for a public number."""
    asked = {f"{s}_{c}": {s: c} for c in COLUMNS for s in PRIVATE}
    asked["everyone"] = {"count": "rows", "where": "age > 20"}
    asked["ages"] = {"histogram": "age", "bins": "[16, 18, 65, 100]"}
    if known:
        asked["together"] = {"covariance": "[wage, score]"}
    return plan(
        make_spec(
            COLUMNS,
            {name: {**ask, "spend": "{share: 1}"} for name, ask in asked.items()},
            rows=f"{{exactly: {rows}}}" if known else f"{{at_most: {rows}}}",
            neighbours="replace_one" if known else "add_remove",
            mechanism=mechanism,
            epsilon=epsilon,
        )
    )


def _steps(mechanism: str) -> Iterator[tuple[Plan, Step]]:
    """Yield the steps of plans with narrow and wide ranges, with little and much noise.

    Steps whose noise and ranges another has are left out.
    """
    seen = set()
    for known in (False, True):
        for rows, epsilon in ((1_000, "10"), (10**6, "0.01"), (1 << 62, "1")):
            made = _plan(mechanism, rows, epsilon, known=known)
            for step in made.steps:
                kind = tuple((part.noise, part.measure.lower) for part in step.parts)
                if kind not in seen:
                    seen.add(kind)
                    yield made, step


def _declared(step: Step, cells: int) -> Step:
    """Return the step with so many cells, and measures that are moments as they are."""
    parts = tuple(
        replace(
            part,
            measure=replace(
                part.measure, terms=(Term(coefficient=1, moments=(str(i),)),)
            ),
        )
        for i, part in enumerate(step.parts)
    )
    return replace(step, parts=parts, cells=cells)


def _totals(part: Part) -> list[int]:
    """Return totals at the ends of the range, in between, and beyond."""
    lower, upper = part.measure.lower, part.measure.upper
    ends = [lower, upper, lower + 1, upper - 1, 0, 1, -1, (lower + upper) // 2]
    beyond = [lower - 1, upper + 1, lower - (1 << 90), upper + (1 << 90)]
    return [*ends, *(x for x in SPECIAL if lower <= x <= upper), *beyond]


def _arranged(step: Step, cells: int) -> Iterator[dict[str, list[int]]]:
    """Yield totals for every cell: each end everywhere, one cell apart, all kinds.

    A single cell gets all kinds one after another.
    """
    kinds = {str(i): _totals(part) for i, part in enumerate(step.parts)}
    if cells == 1:
        for rank in range(max(map(len, kinds.values()))):
            yield {name: [kind[rank % len(kind)]] for name, kind in kinds.items()}
        return
    for end in (0, 1):
        yield {name: [kind[end]] * cells for name, kind in kinds.items()}
        yield {
            name: [0] * (cells // 2) + [kind[end]] + [0] * (cells - cells // 2 - 1)
            for name, kind in kinds.items()
        }
    for way in (1, -1):
        yield {
            name: [kind[way * cell % len(kind)] for cell in range(cells)]
            for name, kind in kinds.items()
        }


def _draw(
    made: Plan, step: Step, moments: dict[str, list[int]]
) -> tuple[tuple[int, int], object]:
    """Return the way of one draw: its instructions and its requests."""
    coins = Recorded(1)
    done = instructions(lambda: noise.perturbed(step, moments, made.spec.data, coins))
    return done, tuple(coins.requests)


def _same_way(made: Plan, step: Step, cells: int) -> None:
    declared = _declared(step, cells)
    first, *others = _arranged(declared, cells)
    _draw(
        made, declared, first
    )  # tables of logarithms are made once, whoever asks first
    expected = _draw(made, declared, first)
    for moments in others:
        assert expected == _draw(made, declared, moments), step.name


@pytest.mark.heavy
@pytest.mark.parametrize("mechanism", MECHANISMS)
@pytest.mark.parametrize("cells", [1, 3])
def test_a_few_totals_go_one_way(mechanism: str, cells: int) -> None:
    """Drawn one by one, no total of any measure changes an instruction or a coin."""
    for made, step in _steps(mechanism):
        _same_way(made, step, cells)


@pytest.mark.heavy
@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_many_totals_go_one_way(
    mechanism: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Drawn at once, no total of any measure changes an instruction or a coin.

    What counts as many is lowered, so that all measures can be tried.
    """
    monkeypatch.setattr(noise, "MANY", FEW)
    for made, step in _steps(mechanism):
        _same_way(made, step, FEW)


@pytest.mark.heavy
@pytest.mark.parametrize(
    ("mechanism", "name"),
    [
        ("snapping", "everyone"),
        ("snapping", "sum_wage"),
        ("geometric", "everyone"),
        ("geometric", "variance_score"),
    ],
)
def test_ten_thousand_totals_go_one_way(mechanism: str, name: str) -> None:
    """Where no number is lowered, ends of the range and one cell apart agree too."""
    made = _plan(mechanism, 10**6, "1", known=False)
    (step,) = (step for step in made.steps if step.name == name)
    _same_way(made, step, noise.MANY)


def test_a_way_that_forks_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """The comparison fails where a single instruction depends on a total."""
    made = _plan("geometric", 1_000, "10", known=False)
    step = made.steps[0]
    honest = geometric.perturb

    def forked(noise_: Any, value: int, bits: Bits) -> int:
        return honest(noise_, value if value < 1 << 9 else int(value), bits)

    planted = forked.__code__.replace(co_filename=noise.__file__)
    monkeypatch.setattr(forked, "__code__", planted)
    monkeypatch.setattr(geometric, "perturb", forked)
    with pytest.raises(AssertionError, match=step.name):
        _same_way(made, step, 1)


@pytest.mark.heavy
@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_two_rows_at_the_bound_are_released(mechanism: str) -> None:
    """A variance by 10,000 keys, whose total no signed word holds, is drawn.

    It once ended the run, and one row less did not: numpy made floats of such totals.
    """
    keys = ", ".join(f"k{i}" for i in range(100))
    made = plan(
        make_spec(
            {
                "a": f"{{type: category, keys: [{keys}]}}",
                "b": f"{{type: category, keys: [{keys}]}}",
                "x": "{type: float, bounds: [0, 100], nulls: drop}",
            },
            {"spread": {"variance": "x", "by": "[a, b]", "spend": "{share: 1}"}},
            rows="{at_most: 100000}",
            mechanism=mechanism,
        )
    )
    squares = made.steps[0].parts[-1].measure
    if mechanism == "snapping":
        assert 1 << 62 == squares.sensitivity
    for rows in (0, 1, 2, 3, 4):
        table = pl.DataFrame(
            {"a": ["k1"] * rows, "b": ["k2"] * rows, "x": [100.0] * rows},
            schema={"a": pl.String, "b": pl.String, "x": pl.Float64},
        )
        released = run(made, {"rows": table}, bits=SeededBits(rows))
        assert 10_000 == len(released["spread"].values)


def test_totals_are_clamped_at_both_ends() -> None:
    """Sums beyond the declared range count as its ends, all others as they are."""
    made = _plan("geometric", 1_000, "10", known=False)
    for step in made.steps:
        for part in _declared(step, 1).parts:
            given = _totals(part)
            moments = dict.fromkeys(map(str, range(len(step.parts))), given)
            lower, upper = part.measure.lower, part.measure.upper
            scaled = [floor(part.measure.scale * x + Fraction(1, 2)) for x in given]
            expected = [sorted((lower, x, upper))[1] for x in scaled]
            assert expected == noise.totals(part.measure, moments, len(given))
