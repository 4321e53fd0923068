"""The formulae of the statistics' docstrings, evaluated a second way."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from statistics import mean, pvariance, variance

import pytest
from exact_parts import evaluate
from hypothesis import given
from hypothesis import strategies as st

from dpql.errors import PlanFault
from dpql.model.plan import Affine, Grid
from dpql.statistics import STATISTICS, Description, Setting
from dpql.statistics.readout import read
from dpql.statistics.variance import spread

F = Fraction
Rows = Sequence[tuple[int, int]]
rows = st.lists(st.tuples(st.integers(0, 7), st.integers(0, 5)), min_size=2, max_size=9)
bounds = st.tuples(
    st.fractions(-9, 9, max_denominator=6),
    st.fractions(F(1, 9), 9, max_denominator=9),
)
GRIDS = (
    Grid(column="x", lower=F(-2), upper=F(5), steps=7, error=F(1, 2)),
    Grid(column="y", lower=F(1), upper=F(2), steps=5, error=F(0)),
)


def grid_of(ends: tuple[Fraction, Fraction], steps: int) -> Grid:
    """Return a grid of any rational bounds."""
    lower, width = ends
    return Grid(column="x", lower=lower, upper=lower + width, steps=steps, error=F(0))


def described(
    kind: str, grids: tuple[Grid, ...], n: int, *, known: bool
) -> Description:
    """Return a statistic of n rows."""
    setting = Setting(
        replace=known,
        known=known,
        rows=n,
        rows_each=1,
        cells_each=1,
        cells=1,
        grids=grids,
        unit_names=("m/s",) * len(grids),
    )
    return STATISTICS[kind].describe(setting)


def value(found: Description, data: Rows) -> Fraction:
    """Return the statistic of the data without noise."""
    moments = {
        "n": len(data),
        "u": sum(u for u, _ in data),
        "v": sum(v for _, v in data),
        "uu": sum(u * u for u, _ in data),
        "uv": sum(u * v for u, v in data),
    }
    parts = [F(evaluate(measure, moments)) for measure in found.measures]
    return read(
        found.readout,
        parts,
        [F(0)] * len(parts),
        lower=found.lower,
        upper=found.upper,
        quantisation=F(0),
    ).value


@given(rows, bounds, st.booleans())
def test_sums_and_means(
    data: Rows,
    ends: tuple[Fraction, Fraction],
    known: bool,  # noqa: FBT001  drawn
) -> None:
    """Exact on any grid, whether the count is public or not."""
    grid = grid_of(ends, 7)
    values = [grid.lower + u * grid.step for u, _ in data]
    n = len(data)
    assert value(described("sum", (grid,), n, known=known), data) == sum(values)
    assert value(described("mean", (grid,), n, known=known), data) == mean(values)


@given(rows, bounds)
def test_variances(data: Rows, ends: tuple[Fraction, Fraction]) -> None:
    """Of the sample where the count is public, else of the population."""
    grid = grid_of(ends, 7)
    values = [grid.lower + u * grid.step for u, _ in data]
    n = len(data)
    known = described("variance", (grid,), n, known=True)
    assert value(known, data) == variance(values)
    private = described("variance", (grid,), n, known=False)
    assert value(private, data) == pvariance(values)


@given(rows)
def test_covariances(data: Rows) -> None:
    """The sample covariance, by its definition."""
    xs = [GRIDS[0].lower + u * GRIDS[0].step for u, _ in data]
    ys = [GRIDS[1].lower + v * GRIDS[1].step for _, v in data]
    middle = (mean(xs), mean(ys))
    products = [(x - middle[0]) * (y - middle[1]) for x, y in zip(xs, ys, strict=True)]
    found = described("covariance", GRIDS, len(data), known=True)
    assert value(found, data) == sum(products) / (len(data) - 1)


@pytest.mark.parametrize("n", range(2, 9))
def test_the_largest_variance(n: int) -> None:
    """V(n) is attained by halves at either end: n/(4(n-1)) even, (n+1)/(4n) odd."""
    halves = [F(0)] * (n // 2) + [F(1)] * (n - n // 2)
    assert spread(n) == variance(halves)
    assert spread(n) == (F(n, 4 * (n - 1)) if n % 2 == 0 else F(n + 1, 4 * n))


def test_counts_and_histograms_count() -> None:
    """One per row; the range is the declared rows; no unit, no grid."""
    for kind in ("count", "histogram"):
        found = described(kind, (), 9, known=False)
        assert value(found, [(0, 0)] * 4) == 4
        assert (found.lower, found.upper, found.unit) == (0, 9, None)
        assert (found.quantisation, found.sensitivity) == (0, 1)


@given(rows, st.lists(st.fractions(F(-1, 2), F(1, 2)), min_size=9, max_size=9))
def test_the_grid_moves_no_value_further_than_stated(
    data: Rows, shakes: list[Fraction]
) -> None:
    """Values anywhere within half a step of their grid point give values within."""
    grid, n = GRIDS[0], len(data)
    on_grid = [grid.lower + u * grid.step for u, _ in data]
    real = [
        min(max(x + s * grid.step, grid.lower), grid.upper)
        for x, s in zip(on_grid, shakes, strict=False)
    ]
    for kind, known, exact in (
        ("sum", True, sum(real)),
        ("mean", False, mean(real)),
        ("variance", True, variance(real)),
        ("variance", False, pvariance(real)),
    ):
        found = described(kind, (grid,), n, known=known)
        assert abs(value(found, data) - exact) <= found.quantisation


@pytest.mark.parametrize("known", [True, False])
def test_the_error_of_the_grid_is_that_of_the_notes(
    known: bool,  # noqa: FBT001  both forms
) -> None:
    """w² V (2/Q + 1/Q²), with V(n) of a sample and 1/4 of a population."""
    grid, n = GRIDS[0], 6
    shape = spread(n) if known else F(1, 4)
    steps = F(1, grid.steps)
    expected = grid.width**2 * shape * (2 * steps + steps**2)
    assert described("variance", (grid,), n, known=known).quantisation == expected
    if known:
        rough = replace(GRIDS[1], error=F(1, 2))
        other = F(1, rough.steps)
        area = grid.width * rough.width * spread(n)
        assert described(
            "covariance", (grid, rough), n, known=True
        ).quantisation == area * (steps + other + steps * other)


def test_units_multiply() -> None:
    """A variance is in squares, a covariance in products, unknown units stay so."""
    assert described("variance", GRIDS[:1], 5, known=True).unit == "(m/s)²"
    assert described("covariance", GRIDS, 5, known=True).unit == "(m/s)·(m/s)"
    assert described("mean", GRIDS[:1], 5, known=False).unit == "m/s"


@pytest.mark.parametrize(
    ("kind", "grids", "n", "known", "code"),
    [
        ("count", 0, 9, True, "DPQL420"),
        ("variance", 1, 1, True, "DPQL421"),
        ("covariance", 2, 1, True, "DPQL421"),
        ("covariance", 2, 9, False, "DPQL422"),
    ],
)
def test_what_has_no_meaning_is_refused(
    kind: str,
    grids: int,
    n: int,
    known: bool,  # noqa: FBT001  a column of the table
    code: str,
) -> None:
    """Public counts, samples of one, covariances of private counts."""
    with pytest.raises(PlanFault, match=code):
        described(kind, GRIDS[:grids], n, known=known)


def test_a_statistic_has_the_power_of_its_moments() -> None:
    """The grids are as fine as the products that are summed ask for."""
    for kind, statistic in STATISTICS.items():
        if statistic.joint_only or statistic.takes_condition or statistic.finds:
            continue
        known = statistic.columns > 0
        grids = tuple(replace(one, error=Fraction(0)) for one in GRIDS)
        found = described(kind, grids[: statistic.columns], 3, known=known)
        terms = [term for measure in found.measures for term in measure.terms]
        names = {name for term in terms for name in term.moments} - {"n"}
        if found.ranks is not None:
            # What is counted by its candidate is a factor, too.
            names = {"u"}
        assert statistic.power == max(map(len, names), default=0), kind


def test_a_known_sum_is_read_off_its_integer() -> None:
    """The readout of one noisy number is affine."""
    readout = described("sum", GRIDS[:1], 3, known=True).readout
    assert isinstance(readout, Affine)
