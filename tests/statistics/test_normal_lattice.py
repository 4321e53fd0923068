"""The squares that parts of one state, against all tiny data sets."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations_with_replacement, product

import pytest

from dpql.statistics import normal_lattice as module
from dpql.statistics.contribution import Contribution
from dpql.statistics.normal_lattice import NormalLattice, normal_lattice
from dpql.statistics.parts import (
    Parts,
    covariance_parts,
    mean_parts,
    proportion_parts,
    variance_parts,
)

Row = tuple[int, int, int]
KINDS: dict[str, tuple[Parts, int, int]] = {
    "mean": (mean_parts(2), 2, 0),
    "proportion": (proportion_parts(), 1, 0),
    "variance": (variance_parts(2), 2, 0),
    "covariance": (covariance_parts(1, 2), 1, 2),
}
BOUNDS = [
    Contribution(replace=swap, rows_each=k, cells_each=at, cells=cells, total=total)
    for swap, k, at, cells, total in product(
        (False, True), (1, 2), (1, 2), (1, 2), (None, 3)
    )
    if at <= cells and (total is None or k <= total < k * at)
]


def _units(bound: Contribution, values: list[tuple[int, int]]) -> list[tuple[Row, ...]]:
    """Return all that one unit may hold after bounding."""
    alphabet = [(c, u, v) for c in range(bound.cells) for u, v in values]
    found = []
    for size in range(bound.rows + 1):
        for rows in combinations_with_replacement(alphabet, size):
            cells = [cell for cell, _, _ in rows]
            few = len(set(cells)) <= bound.cells_each
            if few and all(cells.count(c) <= bound.rows_each for c in set(cells)):
                found.append(rows)
    return found


def _noised(
    rows: tuple[Row, ...], cells: int, parts: Parts, factor: Fraction
) -> list[int]:
    """Return the whole numbers that take noise, cell by cell."""
    found = []
    for cell in range(cells):
        here = [(u, v) for c, u, v in rows if c == cell]
        moments = {
            "n": len(here),
            "u": sum(u for u, _ in here),
            "v": sum(v for _, v in here),
            "uu": sum(u * u for u, _ in here),
            "uv": sum(u * v for u, v in here),
        }
        for terms in parts.terms:
            total = sum(t.coefficient * moments[t.moments[0]] for t in terms)
            found.append((2 * factor * total + 1) // 2)
    return found


def _pairs(
    bound: Contribution, values: list[tuple[int, int]], bases: int
) -> Iterator[tuple[tuple[Row, ...], tuple[Row, ...]]]:
    units = _units(bound, values)
    alphabet = [(c, u, v) for c in range(bound.cells) for u, v in values]
    for size in range(bases + 1):
        for base in combinations_with_replacement(alphabet, size):
            for one, other in combinations_with_replacement(units, 2):
                if bound.replace or not one:
                    yield base + one, base + other


def _worst(
    kind: str, bound: Contribution, factor: Fraction, bases: int
) -> tuple[int, int]:
    """Return the largest change of a number, and the largest sum of squares."""
    parts, first, second = KINDS[kind]
    values = list(product(range(first + 1), range(second + 1)))
    seen: dict[tuple[Row, ...], list[int]] = {}

    def of(rows: tuple[Row, ...]) -> list[int]:
        key = tuple(sorted(rows))
        if key not in seen:
            seen[key] = _noised(key, bound.cells, parts, factor)
        return seen[key]

    most = squared = 0
    for one, other in _pairs(bound, values, bases):
        changes = [abs(a - b) for a, b in zip(of(one), of(other), strict=True)]
        most = max(most, *changes)
        squared = max(squared, sum(change**2 for change in changes))
    return most, squared


def _lattice(kind: str, bound: Contribution, rho: Fraction) -> NormalLattice:
    return normal_lattice(KINDS[kind][0], bound, rows=1000, rho=rho)


@pytest.mark.contract
@pytest.mark.parametrize("bound", BOUNDS, ids=str)
@pytest.mark.parametrize("kind", KINDS)
def test_squares_of_whole_parts_are_exact(kind: str, bound: Contribution) -> None:
    """No neighbours are further apart than stated, and some are as far."""
    if kind in ("variance", "covariance") and bound.rows_each * bound.cells_each > 3:
        pytest.skip("too many data sets")
    found = _lattice(kind, bound, Fraction(1, 10**9))
    assert found.factor == 1
    assert not found.rounded
    assert (found.change, found.squared) == _worst(kind, bound, Fraction(1), 0)


@pytest.mark.contract
@pytest.mark.parametrize("bound", BOUNDS, ids=str)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("finest", [3, 5])
def test_rounded_parts_stay_within_the_stated_squares(
    kind: str, bound: Contribution, finest: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rounding to a lattice, here a very coarse one, adds no more than is stated."""
    if bound.rows_each * bound.cells_each > 2:
        pytest.skip("too many data sets")
    parts = KINDS[kind][0]
    per_row = parts.per_row
    monkeypatch.setattr(module, "FINEST", finest)
    coarse = Parts(
        names=parts.names,
        terms=tuple(tuple(_times(term, 7) for term in terms) for terms in parts.terms),
        per_row=7 * per_row,
    )
    found = normal_lattice(coarse, bound, rows=1000, rho=Fraction(1, 10**9))
    assert found.rounded
    most, squared = _worst(kind, bound, 7 * found.factor, 2)
    assert most <= found.change
    assert squared <= found.squared


def _times(term: object, factor: int) -> object:
    from dataclasses import replace

    return replace(term, coefficient=factor * term.coefficient)  # type: ignore[type-var, attr-defined]  # a Term


@pytest.mark.parametrize("rho", ["1e-12", "1e-3", "1", "1000"])
def test_noise_is_never_narrow(rho: str) -> None:
    """Lattices are refined until sigma is 64 or more, whatever is spent."""
    for kind in KINDS:
        for bound in BOUNDS:
            found = _lattice(kind, bound, Fraction(rho))
            assert found.squared >= 2 * Fraction(rho) * 4096
            assert found.change <= 1 << 20
            assert found.squared >= found.change**2
            assert found.tail.sigma2 >= 4096


def test_a_wide_column_is_coarsened() -> None:
    """A float's square has more steps than 2**20, and is rounded to so many."""
    bound = Contribution(replace=False, rows_each=2, cells_each=3, cells=5)
    found = normal_lattice(
        variance_parts(1 << 20), bound, rows=10, rho=Fraction(1, 100)
    )
    assert found.rounded
    assert found.change == 1 << 20
    assert found.squared == 3 * ((1 << 20) + 2) ** 2
    assert found.per_row == Fraction(1 << 20, 2)
    assert found.most == 10 * (1 << 19)
