"""Stated changes against all data sets of at most four rows and all their neighbours.

A row without a value adds nothing, and of a unit's rows any that the bounds allow may
be left, so units range over everything that bounding can leave of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from functools import cache
from itertools import combinations_with_replacement, product
from math import exp, log

import pytest
from exact_parts import lattice_steps, part_sums

from dpql.mechanisms.quantile_score import scores
from dpql.statistics import lattice as lattices
from dpql.statistics.contribution import Contribution
from dpql.statistics.lattice import Lattice, lattice
from dpql.statistics.parts import (
    Parts,
    covariance_parts,
    mean_parts,
    proportion_parts,
    variance_parts,
)

pytestmark = pytest.mark.contract

Row = tuple[int, int, int]
"""Cell, u, v."""

Data = tuple[Row, ...]
Vector = tuple[int, ...]

ROWS = 4


def _bounded(unit: Data, bound: Contribution) -> bool:
    cells = [cell for cell, _, _ in unit]
    return (
        len(set(cells)) <= bound.cells_each
        and all(cells.count(cell) <= bound.rows_each for cell in set(cells))
        and (bound.total is None or len(unit) <= bound.total)
    )


def _neighbours(
    bound: Contribution, alphabet: list[Row]
) -> Iterator[tuple[Data, Data, Data]]:
    """Yield the rows of other units, and what the unit left before and after."""
    units = [
        unit
        for size in range(ROWS + 1)
        for unit in combinations_with_replacement(alphabet, size)
        if _bounded(unit, bound)
    ]
    for one in units:
        for other in units if bound.replace else [()]:
            if bound.replace and one > other:
                continue
            if bound.rows_public and len(one) != len(other):
                continue
            spare = ROWS - max(len(one), len(other))
            for size in range(spare + 1):
                for base in combinations_with_replacement(alphabet, size):
                    yield base, one, other


def _worst(
    bound: Contribution, alphabet: list[Row], released: Callable[[Data, Data], Vector]
) -> int:
    """Return the largest l1 change of what is released."""
    known = cache(released)
    return max(
        sum(
            abs(a - b)
            for a, b in zip(known(base, one), known(base, other), strict=True)
        )
        for base, one, other in _neighbours(bound, alphabet)
    )


def _bounds() -> Iterator[Contribution]:
    for swap, k, each, cells, total in product(
        (False, True), (1, 2), (1, 2), (1, 2), (None, 1, 2)
    ):
        if total is None or total < k * min(each, cells):
            yield Contribution(
                replace=swap, rows_each=k, cells_each=each, cells=cells, total=total
            )


BOUNDS = list(_bounds())
NAMED = {
    "proportion": (proportion_parts(), 1, 0),
    "mean": (mean_parts(2), 2, 0),
    "variance": (variance_parts(2), 2, 0),
    "covariance": (covariance_parts(1, 1), 1, 1),
}
"""Parts, the steps of the first column, and those of the second."""


def _moments(data: Data, cell: int) -> dict[str, int]:
    rows = [(u, v) for here, u, v in data if here == cell]
    return {
        "n": len(rows),
        "u": sum(u for u, _ in rows),
        "v": sum(v for _, v in rows),
        "uu": sum(u * u for u, _ in rows),
        "uv": sum(u * v for u, v in rows),
    }


def _alphabet(bound: Contribution, first: int, second: int) -> list[Row]:
    return list(product(range(bound.cells), range(first + 1), range(second + 1)))


def _worst_parts(
    bound: Contribution,
    name: str,
    steps: Callable[[Parts, dict[str, int]], tuple[int, ...]],
) -> int:
    parts, first, second = NAMED[name]

    def released(base: Data, unit: Data) -> Vector:
        return tuple(
            number
            for cell in range(bound.cells)
            for number in steps(parts, _moments(base + unit, cell))
        )

    return _worst(bound, _alphabet(bound, first, second), released)


def _lattice(bound: Contribution, name: str, rows: int) -> Lattice:
    return lattice(NAMED[name][0], bound, rows=rows, epsilon=Fraction(1, 20))


@pytest.mark.parametrize("name", NAMED)
@pytest.mark.parametrize("bound", BOUNDS, ids=str)
def test_parts_change_exactly_as_stated(bound: Contribution, name: str) -> None:
    """The stated change of all parts together is attained and never exceeded."""
    found = _lattice(bound, name, ROWS)
    change = _worst_parts(
        bound,
        name,
        lambda parts, moments: lattice_steps(found, part_sums(parts, moments)),
    )
    assert found.change == change


@pytest.mark.parametrize("name", NAMED)
@pytest.mark.parametrize("bound", BOUNDS[::3], ids=str)
def test_more_rows_than_the_ceiling(bound: Contribution, name: str) -> None:
    """Where rows exceed the ceiling every part is clamped, and privacy holds."""
    found = _lattice(bound, name, 1)
    change = _worst_parts(
        bound,
        name,
        lambda parts, moments: lattice_steps(found, part_sums(parts, moments)),
    )
    assert change <= found.change


def test_parts_of_clamped_moments_are_caught() -> None:
    """A clamped number of rows beside an unclamped sum changes parts by more."""
    bound = Contribution(replace=False, rows_each=1, cells_each=1, cells=1)
    found = _lattice(bound, "variance", ROWS)

    def planted(parts: Parts, moments: dict[str, int]) -> tuple[int, ...]:
        sums = part_sums(parts, {**moments, "n": min(moments["n"], 2)})
        return tuple(int(found.factor * number) for number in sums)

    assert _worst_parts(bound, "variance", planted) > found.change


@pytest.mark.parametrize("name", NAMED)
@pytest.mark.parametrize("bound", BOUNDS[::2], ids=str)
@pytest.mark.parametrize("finest", [1, 2, 3])
def test_rounded_parts_change_no_more_than_stated(
    bound: Contribution, name: str, finest: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rounding all touched parts moves them as much as is stated, at most."""
    monkeypatch.setattr(lattices, "FINEST", finest)
    found = _lattice(bound, name, ROWS)
    change = _worst_parts(
        bound,
        name,
        lambda parts, moments: lattice_steps(found, part_sums(parts, moments)),
    )
    assert change <= found.change


def test_rounding_without_its_surcharge_is_caught(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Rounded parts do change by more than the change before rounding."""
    monkeypatch.setattr(lattices, "FINEST", 2)
    bound = Contribution(replace=False, rows_each=2, cells_each=1, cells=1)
    found = _lattice(bound, "variance", ROWS)
    assert found.rounded
    change = _worst_parts(
        bound,
        "variance",
        lambda parts, moments: lattice_steps(found, part_sums(parts, moments)),
    )
    assert (
        found.change - (len(lattice_steps(found, (0, 0, 0))) - 1)
        < change
        <= found.change
    )


@pytest.mark.parametrize("bound", BOUNDS, ids=str)
def test_units_change_exactly_as_stated(bound: Contribution) -> None:
    """A unit counts once in each cell where one of its rows survives."""

    def released(base: Data, unit: Data) -> Vector:
        del base
        return tuple(any(cell == row[0] for row in unit) for cell in range(bound.cells))

    change = _worst(bound, _alphabet(bound, 0, 0), released)
    assert bound.units_change() == change


@pytest.mark.parametrize("values", [1, 3])
@pytest.mark.parametrize("bound", BOUNDS, ids=str)
def test_distinct_values_change_exactly_as_stated(
    bound: Contribution, values: int
) -> None:
    """Distinct values of a cell change by at most k, also where a unit is replaced."""

    def released(base: Data, unit: Data) -> Vector:
        return tuple(
            len({u for here, u, _ in base + unit if here == cell})
            for cell in range(bound.cells)
        )

    change = _worst(bound, _alphabet(bound, values - 1, 0), released)
    assert change <= bound.distinct_change(values)
    if bound.total is None or not bound.replace:
        assert bound.distinct_change(values) == change


QUANTILES = [Fraction(1, 2), Fraction(1, 3), Fraction(9, 10)]
CANDIDATES = 3


def _rank_changes(
    bound: Contribution, at: Fraction
) -> Iterator[tuple[list[list[int]], list[list[int]]]]:
    """Yield the scores of all cells of every two neighbours."""

    @cache
    def found(data: Data) -> list[list[int]]:
        tables = [[0] * CANDIDATES for _ in range(bound.cells)]
        for cell, u, _ in data:
            tables[cell][u] += 1
        return [scores(table, at).tolist() for table in tables]

    alphabet = _alphabet(bound, CANDIDATES - 1, 0)
    for base, one, other in _neighbours(bound, alphabet):
        yield found(tuple(sorted(base + one))), found(tuple(sorted(base + other)))


def _loss(one: list[list[int]], other: list[list[int]], theta: float) -> float:
    """Return the privacy loss of choosing in all cells, in either direction."""

    def rises(first: list[int], second: list[int]) -> tuple[float, float]:
        z, w = (log(sum(exp(-theta * s) for s in side)) for side in (first, second))
        ratios = [theta * (t - s) + w - z for s, t in zip(first, second, strict=True)]
        return max(ratios), -min(ratios)

    found = [rises(*pair) for pair in zip(one, other, strict=True)]
    return max(sum(up for up, _ in found), sum(down for _, down in found))


def _divergence(
    one: list[list[int]], other: list[list[int]], a: int, t: float
) -> float:
    """Return the Renyi divergence of order a between the choices of all cells."""
    total = 0.0
    for first, second in zip(one, other, strict=True):
        p, q = ([exp(-t * s) for s in side] for side in (first, second))
        sums = sum(p), sum(q)
        powers = sum(
            (x / sums[0]) ** a * (y / sums[1]) ** (1 - a)
            for x, y in zip(p, q, strict=True)
        )
        total += log(powers) / (a - 1)
    return total


def _rank_bounds() -> Iterator[Contribution]:
    for bound in BOUNDS:
        if bound.rows_each * bound.reached <= 2:
            yield bound
    three = Contribution(replace=True, rows_each=1, cells_each=2, cells=3)
    yield three
    yield Contribution(
        replace=True, rows_each=1, cells_each=1, cells=1, rows_public=True
    )


RANK_BOUNDS = list(_rank_bounds())


@pytest.mark.parametrize("at", QUANTILES)
@pytest.mark.parametrize("bound", RANK_BOUNDS, ids=str)
def test_cost_loss_and_zcdp_of_quantiles(bound: Contribution, at: Fraction) -> None:
    """The cost of a median is attained; no loss exceeds epsilon, nor its zCDP."""
    cost = bound.rank_change(at)
    worst, epsilon = 0, Fraction(3, 2)
    theta = float(epsilon / cost)
    rho = float(bound.rank_rho(at, epsilon))
    seen = set()
    for one, other in _rank_changes(bound, at):
        key = str((one, other))
        if key in seen:
            continue
        seen.add(key)
        changes = [
            [t - s for s, t in zip(first, second, strict=True)]
            for first, second in zip(one, other, strict=True)
        ]
        worst = max(worst, sum(max(c) - min(c) for c in changes))
        assert _loss(one, other, theta) <= float(epsilon) * (1 + 1e-12)
        for order in (2, 16):
            for pair in ((one, other), (other, one)):
                assert _divergence(*pair, order, theta) <= order * rho * (1 + 1e-12)
    assert worst <= cost
    if bound.rows_each == 1 and bound.total is None and at == QUANTILES[0]:
        assert cost == worst


def test_a_cost_of_b_is_caught() -> None:
    """Where most candidates lie below all rows, theta made of b loses too much."""
    bound = Contribution(replace=False, rows_each=1, cells_each=1, cells=1)
    at = Fraction(9, 10)
    one = [scores([0] * 300 + [12, 0], at).tolist()]
    other = [scores([0] * 300 + [12, 1], at).tolist()]
    changes = [t - s for s, t in zip(one[0], other[0], strict=True)]
    assert bound.rank_change(at) == max(changes) - min(changes)
    assert _loss(one, other, 0.1 / bound.rank_change(at)) <= 0.1
    assert _loss(one, other, 0.1 / at.denominator) > 0.1


def test_zcdp_of_the_note() -> None:
    """Shared cells may be the worse in squares, and one cell costs epsilon^2/8."""
    half, one = Fraction(1, 2), Fraction(1)
    alone = Contribution(replace=False, rows_each=1, cells_each=1, cells=5)
    assert Fraction(1, 8) == alone.rank_rho(half, one)
    shared = Contribution(replace=True, rows_each=1, cells_each=1, cells=2)
    theta = one / shared.rank_change(half)
    assert theta**2 / 2 * 4 == shared.rank_rho(half, one)
    bounded = replace(shared, rows_each=3, total=1)
    assert bounded.rank_rho(half, one) <= Fraction(1, 8)
