"""Every statistic of the table against all tiny data sets."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import combinations, combinations_with_replacement, product

import pytest
from exact_parts import evaluate

from dpql.errors import PlanFault
from dpql.model.plan import Grid, Measure
from dpql.statistics import STATISTICS, Setting

pytestmark = pytest.mark.contract

Row = tuple[int, int, int]
"""Cell (-1: filtered away), u, v."""

ROWS = 4
EMPTY = {"n": 0, "d": 0, "u": 0, "v": 0, "uu": 0, "uv": 0}


@dataclass(frozen=True)
class Case:
    """A statistic, its relation, its cells and its units."""

    kind: str
    replace: bool
    known: bool
    filtered: bool
    cells: int
    rows_each: int
    cells_each: int
    steps: int
    lower: Fraction = Fraction(-1)
    rows: int = ROWS
    total: int | None = None

    @property
    def setting(self) -> Setting:
        """The public setting of the case."""
        width = Fraction(self.steps)
        grid = Grid(
            column="x",
            lower=self.lower,
            upper=self.lower + width,
            steps=self.steps,
            error=Fraction(0),
        )
        summed = self.summed
        return Setting(
            replace=self.replace,
            known=self.known,
            rows=self.rows,
            rows_each=self.rows_each,
            cells_each=self.cells_each,
            cells=self.cells,
            total=self.total,
            whole=not self.filtered and self.cells == 1,
            grids=(grid,) * summed,
            unit_names=("m",) * summed,
        )

    @property
    def summed(self) -> int:
        """The number of columns that are summed."""
        statistic = STATISTICS[self.kind]
        return statistic.columns if statistic.power else 0

    @property
    def alphabet(self) -> list[Row]:
        """Every row there can be."""
        values = range(self.steps + 1) if self.summed else range(1)
        seconds = values if self.summed > 1 else range(1)
        rows = list(product(range(self.cells), values, seconds))
        # A row of an undeclared key belongs to no cell, filter or not; one of a null
        # has no value.
        statistic = STATISTICS[self.kind]
        if statistic.takes_condition:
            # Where n is public a row of a null is one for which it is not true.
            values = range(2)
            rows = list(product(range(self.cells), values, seconds))
        nulls = statistic.counts_values
        outside = self.filtered or self.cells > 1 or nulls
        return [*rows, (-1, 0, 0)] if outside else rows


LOOSE = ("covariance",)
"""Statistics whose stated change is only a bound where units have several rows."""


def shapes() -> Iterator[Case]:
    """Yield both relations, with and without filters and groups, one to three rows."""
    for kind, swap, filtered, cells, k, each in product(
        STATISTICS, (False, True), (False, True), (1, 2, 3), (1, 2, 3), (1, 2)
    ):
        whole = swap and not filtered and cells == 1
        if STATISTICS[kind].once and k > 1:
            continue
        counted = STATISTICS[kind].splits or STATISTICS[kind].counts_values
        known = whole and not counted
        steps = 1 if cells == 2 and STATISTICS[kind].power else 2
        yield Case(kind, swap, known, filtered, cells, k, each, steps)


def exists(case: Case) -> bool:
    """Tell whether there is such a statistic, and whether it is small enough."""
    if case.cells_each > case.cells or (case.cells == 3 and case.summed):
        return False
    if STATISTICS[case.kind].splits and case.cells == 1:
        return False
    try:
        STATISTICS[case.kind].describe(case.setting)
    except PlanFault:
        return False
    return True


def depends_on_bounds(case: Case) -> bool:
    """Tell whether other bounds of the columns give other integers."""
    describe = STATISTICS[case.kind].describe
    other = replace(case, lower=Fraction(2))
    return describe(case.setting).measures != describe(other.setting).measures


def cases() -> Iterator[Case]:
    """Yield every shape, and variants of those with one cell."""
    for case in filter(exists, shapes()):
        yield case
        if case.cells == 1 and depends_on_bounds(case):
            for lower in (Fraction(2), Fraction(-5), Fraction(1, 3)):
                yield replace(case, lower=lower)
        for total in range(case.rows_each, case.rows_each * case.cells_each):
            yield replace(case, total=total)
        if case.known:
            yield replace(case, rows=2, steps=3)
            yield replace(case, rows=3, steps=3)
        elif case.cells == 1 and not case.replace:
            yield replace(case, rows=2)


def moments(data: tuple[Row, ...], cells: int) -> list[dict[str, int]]:
    """Return the moments of every cell."""
    sums = [dict(EMPTY) for _ in range(cells)]
    for cell, u, v in data:
        if cell >= 0:
            here = sums[cell]
            here["n"] += 1
            here["d"] = len({x for one, x, _ in data if one == cell})
            here["u"] += u
            here["v"] += v
            here["uu"] += u * u
            here["uv"] += u * v
    return sums


def units(case: Case) -> dict[int, list[tuple[Row, ...]]]:
    """Return, by size, all that one unit may hold after bounding."""
    found: dict[int, list[tuple[Row, ...]]] = {}
    for size in range(ROWS + 1):
        for rows in combinations_with_replacement(case.alphabet, size):
            inside = [cell for cell, _, _ in rows if cell >= 0]
            most = len(inside) if case.total is None else case.total
            if len(inside) > most:
                continue
            if len(set(inside)) <= case.cells_each and all(
                inside.count(cell) <= case.rows_each for cell in set(inside)
            ):
                found.setdefault(size, []).append(rows)
    return found


def neighbours(case: Case) -> Iterator[tuple[tuple[Row, ...], tuple[Row, ...]]]:
    """Yield every pair of neighbouring data sets of at most ROWS rows."""
    largest = case.rows if case.known else ROWS
    by_size = units(case)
    for size, here in by_size.items():
        if size == 0 or size > largest:
            continue
        rests = (largest - size,) if case.known else range(largest - size + 1)
        for rest in rests:
            for base in combinations_with_replacement(case.alphabet, rest):
                if case.replace:
                    for one, other in combinations_with_replacement(here, 2):
                        yield base + one, base + other
                else:
                    for one in here:
                        yield base, base + one


@dataclass(frozen=True)
class Worst:
    """The largest change of a cell, l0 and sum of squares, and both ends attained.

    ``rounded`` is the largest sum of squares after rounding to a lattice on which the
    largest change of a cell is `COARSE` steps.
    """

    change: int
    l0: int
    squared: int
    rounded: int
    lower: int
    upper: int


COARSE = 3


def worst(case: Case, measure: Measure) -> Worst:
    """Return how far neighbours are apart, and what values there are."""
    seen: dict[tuple[Row, ...], list[int]] = {}

    def of(data: tuple[Row, ...]) -> list[int]:
        key = tuple(sorted(data))
        if key not in seen:
            seen[key] = [evaluate(measure, m) for m in moments(key, case.cells)]
        return seen[key]

    def coarse(value: int) -> int:
        return (2 * COARSE * value + most) // (2 * most)

    most = most_of(case, measure)
    change = l0 = squared = rounded = 0
    for one, other in neighbours(case):
        pairs = list(zip(of(one), of(other), strict=True))
        changes = [abs(a - b) for a, b in pairs]
        change = max(change, *changes)
        l0 = max(l0, sum(-(-c // measure.sensitivity) for c in changes))
        squared = max(squared, sum(c**2 for c in changes))
        rounded = max(rounded, sum((coarse(a) - coarse(b)) ** 2 for a, b in pairs))
    ends = [value for values in seen.values() for value in values]
    return Worst(change, l0, squared, rounded, min(ends), max(ends))


def most_of(case: Case, measure: Measure) -> int:
    """Return the most that one cell changes, as Gaussian noise has it."""
    description = STATISTICS[case.kind].describe(case.setting)
    if len(description.measures) > 1:
        return measure.sensitivity
    return description.concentrated().measures[0].sensitivity


CASES = list(cases())


@pytest.mark.parametrize("case", CASES, ids=str)
def test_no_neighbour_moves_a_measure_further_than_stated(case: Case) -> None:
    """The stated l0 holds for every pair, and is attained where MATH says exact."""
    for measure in STATISTICS[case.kind].describe(case.setting).measures:
        found = worst(case, measure)
        change, l0, lower, upper = found.change, found.l0, found.lower, found.upper
        _check_squares(case, found)
        assert l0 <= measure.l0
        assert change <= measure.sensitivity * measure.l0
        assert measure.lower <= lower
        assert upper <= measure.upper
        loose = case.kind in LOOSE and case.rows_each > 1
        signed = measure.lower < 0 < measure.upper
        doubled = case.replace and not case.known and signed
        if not loose and not doubled and case.total is None:
            assert change == measure.sensitivity
        if not loose and measure.l0 <= ROWS:
            assert l0 == measure.l0
        assert (lower, upper) == (measure.lower, measure.upper)


def _check_squares(case: Case, found: Worst) -> None:
    """Check that squares hold, after rounding too, and are attained where exact."""
    description = STATISTICS[case.kind].describe(case.setting)
    if len(description.measures) > 1:
        return
    (measure,) = description.concentrated().measures
    assert measure.squared is not None
    assert found.change <= measure.sensitivity
    assert found.squared <= measure.squared <= measure.l0 * measure.sensitivity**2
    assert found.rounded <= measure.l0 * COARSE**2
    reached = min(case.cells_each, case.cells)
    exact = case.kind not in LOOSE and case.lower == -1 and not case.known
    exact &= description.squares is not None
    # Where cells are few and a total bounds the rows, both bounds cannot be met.
    exact &= not (case.replace and case.total and case.cells < 2 * reached)
    if exact and reached * case.rows_each <= ROWS:
        assert found.squared == measure.squared


@dataclass(frozen=True)
class Bounded:
    """A statistic of units with more rows than are kept, under replace_one."""

    kind: str
    rows_each: int
    lower: Fraction

    @property
    def case(self) -> Case:
        """The case of a private n, one cell and no filter."""
        return Case(
            self.kind,
            replace=True,
            known=False,
            filtered=False,
            cells=1,
            rows_each=self.rows_each,
            cells_each=1,
            steps=2,
            lower=self.lower,
        )

    def left(self, most: int) -> dict[int, set[tuple[Row, ...]]]:
        """Return, by the number of rows of a unit, all that bounding may leave of it.

        Some rows hold nothing (nulls that are dropped); a lottery keeps rows_each of
        the others, whichever it likes.
        """
        nothing: Row = (-1, 0, 0)
        found: dict[int, set[tuple[Row, ...]]] = {}
        for size in range(most + 1):
            rows = combinations_with_replacement([*self.case.alphabet, nothing], size)
            for unit in rows:
                held = [row for row in unit if row != nothing]
                kept = combinations(held, min(self.rows_each, len(held)))
                found.setdefault(size, set()).update(kept)
        return found


BOUNDED = [
    Bounded(kind, k, lower)
    for kind, statistic in STATISTICS.items()
    if kind != "covariance"
    and not statistic.splits
    and not statistic.once
    and not statistic.joint_only
    and not statistic.takes_condition
    for k in (1, 2)
    for lower in ((Fraction(-1), Fraction(0), Fraction(3)))
]


@pytest.mark.parametrize("bounded", BOUNDED, ids=str)
@pytest.mark.parametrize("any_size", [False, True])
def test_replacing_a_unit_of_which_rows_are_dropped(
    bounded: Bounded,
    any_size: bool,  # noqa: FBT001  a parameter
) -> None:
    """The stated change holds and is attained, though n is not that of the source.

    The unit in its place has as many rows as it, so that the source keeps its declared
    number; nothing changes if it has any other number of rows.
    """
    case = bounded.case
    left = bounded.left(ROWS)
    everything = set().union(*left.values())
    pairs = [
        (one, other)
        for size in left
        for one in left[size]
        for other in (everything if any_size else left[size])
    ]
    for measure in STATISTICS[case.kind].describe(case.setting).measures:
        values = {
            (base, unit): evaluate(measure, moments(base + unit, 1)[0])
            for size in range(ROWS)
            for base in combinations_with_replacement(case.alphabet, size)
            for unit in everything
            if len(base) + len(unit) <= ROWS
        }
        bases = {base for base, _ in values}
        change = max(
            abs(values[base, one] - values[base, other])
            for base in bases
            for one, other in pairs
            if (base, one) in values and (base, other) in values
        )
        assert -(-change // measure.sensitivity) == measure.l0


def test_every_statistic_has_cases() -> None:
    """No line of the table escapes the brute force.

    What exists by parts of one alone is tried in test_contribution, and what finds keys
    in tests/mechanisms.
    """
    covered = {case.kind for case in CASES}
    others = {name for name, x in STATISTICS.items() if x.joint_only or x.finds}
    assert set(STATISTICS) - others == covered


def test_what_has_no_cases_is_refused() -> None:
    """Known rows and whole units are not counted; parts of one have other tests."""
    refused = {
        (case.kind, case.known)
        for case in shapes()
        if not exists(case)
        and (case.cells_each, case.cells) == (1, 1)
        and not STATISTICS[case.kind].splits
    }
    joint_only = product(
        (name for name, kind in STATISTICS.items() if kind.joint_only), (True, False)
    )
    joint_only = {*joint_only, ("proportion", False)}
    plain = {("count", True), ("units", True), ("covariance", False)}
    plain |= {("keys", True), ("keys", False)}
    assert {*plain, *joint_only} == refused
