"""Points and intervals of parts of one, at the ends and in the corners."""

from __future__ import annotations

from fractions import Fraction

import pytest
from exact_parts import part_sums

from dpql.model.plan import Grid
from dpql.statistics.inversion import Family, Inversion
from dpql.statistics.parts import covariance_parts, mean_parts, variance_parts
from dpql.statistics.parts_reading import (
    SHARE,
    ratio_family,
    read_mean,
    read_ratio,
    read_share,
)
from dpql.statistics.spread_reading import (
    Spread,
    read_covariance,
    read_deviation,
    read_variance,
    variance_point,
)
from dpql.statistics.tails import Tail

ALPHA = Fraction(1, 20)
FINE = Tail.of(Fraction(1, 64))
FINE_SHARE = Inversion(SHARE, FINE, ALPHA)
FINE_SPREAD = Spread(FINE, ALPHA)


def _grid(lower: int, upper: int, steps: int, error: str = "0") -> Grid:
    return Grid(
        column="x",
        lower=Fraction(lower),
        upper=Fraction(upper),
        steps=steps,
        error=Fraction(error),
    )


@pytest.mark.parametrize("noisy", [(0, 0), (-5, -900), (-900, 0)])
def test_no_positive_part(noisy: tuple[int, int]) -> None:
    """With no positive part the share is 1/2, inside its interval."""
    found = read_share(noisy, FINE_SHARE)
    assert Fraction(1, 2) == found.value
    assert 0 <= found.lower <= found.value <= found.upper <= 1


def test_a_kept_set_in_two_pieces() -> None:
    """Parts of 191 and -191 keep 0 and 1 but not 1/2: the interval is all."""
    found = read_share((191, -191), FINE_SHARE)
    assert (0, 1) == (found.lower, found.upper)
    half = FINE.width([Fraction(1, 2), Fraction(1, 2)], ALPHA)
    assert 191 > half


def test_a_test_that_fires_at_both_ends_leaves_the_far_one() -> None:
    """A part far below 0 beside a large one leaves the end that it points to."""
    for noisy, end in (((10**6, -(10**4)), 1), ((-(10**4), 10**6), 0)):
        found = read_share(noisy, FINE_SHARE)
        assert (end, end, end) == (found.value, found.lower, found.upper)


@pytest.mark.parametrize("first", [0, 3, 500, 65_000, 10**12])
@pytest.mark.parametrize("second", [0, 70, 4000, 65_000])
@pytest.mark.parametrize("theta", ["1/64", "1/5000", "1"])
def test_ends_are_where_the_width_says(first: int, second: int, theta: str) -> None:
    """Each end is excluded by the width, and a little inwards nothing is."""
    tail = Tail.of(Fraction(theta))
    found = read_share((first, second), Inversion(SHARE, tail, ALPHA))
    assert 0 <= found.lower <= found.value <= found.upper <= 1

    def excluded(x: Fraction) -> bool:
        width = tail.width([1 - x, x], ALPHA)
        return abs(first - x * (first + second)) > width

    reach = (found.upper - found.lower) / 10**9 + Fraction(1, 1 << 63)
    if found.lower > 0:
        assert excluded(found.lower - reach)
        assert not excluded(found.lower + reach)
    if found.upper < 1:
        assert excluded(found.upper + reach)
        assert not excluded(found.upper - reach)


def test_a_mean_is_mapped_and_clamped() -> None:
    """A mean lies in its bounds, and its interval grows by the quantisation."""
    grid = _grid(-10, 30, 40, "1/2")
    inner = read_mean((40_000, 40_000), FINE_SHARE, grid=grid, quantisation=Fraction(0))
    outer = read_mean(
        (40_000, 40_000), FINE_SHARE, grid=grid, quantisation=Fraction(1, 2)
    )
    assert 10 == inner.value == outer.value
    assert inner.lower - Fraction(1, 2) == outer.lower
    assert inner.upper + Fraction(1, 2) == outer.upper
    edge = read_mean((90_000, 0), FINE_SHARE, grid=grid, quantisation=Fraction(1))
    assert (30, 30) == (edge.value, edge.upper)


def test_the_mean_inside_a_variance_is_not_clamped() -> None:
    """With noise that takes p beyond 1 the variance is as that of the mirrored rows."""
    noisy, mirrored = (-30, -500, 9000), (9000, -500, -30)
    p = (Fraction(noisy[1], 2) + noisy[2]) / sum(noisy)
    assert p > 1
    point = variance_point(noisy, Fraction(16))
    assert variance_point(mirrored, Fraction(16)) == point
    assert 0 == point
    noisy, mirrored = (-30, 300, 9000), (9000, 300, -30)
    assert variance_point(mirrored, Fraction(16)) == variance_point(noisy, Fraction(16))
    # Clamped to 1, p would give the one the variance of p = 1, the other that of 0.
    wild = (-400, 700, 9000)
    assert (Fraction(350) + 9000) / 9300 > 1
    clamped = max(Fraction(0), Fraction(9000, 9300) - 1)
    reverse = Fraction(-400, 9300) - Fraction(0)
    assert clamped != reverse
    assert variance_point(wild, Fraction(16)) == variance_point(
        wild[::-1], Fraction(16)
    )


@pytest.mark.parametrize("noisy", [(0, 0, 0), (-5, 2, 1), (10, -50, 20)])
def test_a_variance_of_no_rows(noisy: tuple[int, int, int]) -> None:
    """Where the noisy number of rows is not positive, nothing is known."""
    assert (0, Fraction(1, 4)) == FINE_SPREAD.variance(noisy)
    assert (-Fraction(1, 4), Fraction(1, 4)) == FINE_SPREAD.covariance((*noisy, 0))


@pytest.mark.parametrize(
    ("sums", "end"),
    [((0, 0, 64_000), 0), ((32_000, 0, 32_000), Fraction(1, 4)), ((1, -9000, 1), 0)],
)
def test_an_interval_at_the_end_of_variances(
    sums: tuple[int, int, int], end: Fraction
) -> None:
    """Noise that points beyond an end leaves an interval, and the value lies in it."""
    for nudge in (-3000, 0, 3000):
        noisy = (sums[0], sums[1] - nudge, sums[2])
        lower, upper = FINE_SPREAD.variance(noisy)
        assert 0 <= lower <= upper <= Fraction(1, 4)
        found = read_variance(
            noisy,
            FINE_SPREAD,
            per_row=Fraction(64),
            grid=_grid(0, 8, 8),
            quantisation=Fraction(0),
        )
        assert found.lower <= found.value <= found.upper
    assert end in (0, Fraction(1, 4))


def test_a_variance_and_its_deviation() -> None:
    """Rows half at 0 and half at Q: the variance is a quarter, the deviation a half."""
    grid = _grid(0, 100, 10)
    parts = variance_parts(10)
    moments = {"n": 2000, "u": 10_000, "v": 0, "uu": 100_000, "uv": 0}
    noisy = part_sums(parts, moments)
    assert (100_000, 0, 100_000) == noisy
    variance = read_variance(
        noisy,
        FINE_SPREAD,
        per_row=Fraction(100),
        grid=grid,
        quantisation=Fraction(0),
    )
    assert 2500 == variance.value == variance.upper
    assert 2400 < variance.lower < 2500
    found = read_deviation(variance, grid.width)
    assert 50 == found.value == found.upper
    assert found.lower**2 <= variance.lower < (found.lower + Fraction(1, 10**9)) ** 2
    inner = read_variance(
        (300_000, 400_000, 300_000),
        FINE_SPREAD,
        per_row=Fraction(100),
        grid=grid,
        quantisation=Fraction(3),
    )
    root = read_deviation(inner, grid.width)
    assert root.lower**2 <= inner.lower <= inner.upper <= root.upper**2


def test_a_covariance_of_equal_columns() -> None:
    """The covariance of a column with itself is its variance, within its interval."""
    steps, rows = 4, [0, 1, 4, 4, 2] * 300
    moments = {
        "n": len(rows),
        "u": sum(rows),
        "v": sum(rows),
        "uu": sum(u * u for u in rows),
        "uv": sum(u * u for u in rows),
    }
    grid = _grid(0, 8, steps)
    found = read_covariance(
        part_sums(covariance_parts(steps, steps), moments),
        FINE_SPREAD,
        per_row=Fraction(steps**2),
        grids=(grid, grid),
        quantisation=Fraction(0),
    )
    mean = Fraction(sum(rows), len(rows))
    expected = 4 * sum((u - mean) ** 2 for u in rows) / len(rows)
    assert expected == found.value
    assert found.lower < expected < found.upper
    assert -16 < found.lower
    assert found.upper - found.lower < 2


def test_a_ratio_of_sums() -> None:
    """Sums over rows that hold both, exact also where a bound is not 0."""
    below, above = _grid(2, 6, 4), _grid(-3, 5, 8)
    rows = [(1, 2), (4, 8), (0, 0), (3, 7)] * 400
    moments = {
        "n": len(rows),
        "u": sum(u for u, _ in rows),
        "v": sum(v for _, v in rows),
        "uu": 0,
        "uv": sum(u * v for u, v in rows),
    }
    noisy = part_sums(covariance_parts(4, 8), moments)
    ratio = Inversion(ratio_family(below, above), FINE, ALPHA)
    found = read_ratio(noisy, ratio, below=below, above=above)
    expected = Fraction(sum(v - 3 for _, v in rows), sum(u + 2 for u, _ in rows))
    assert expected == found.value
    assert found.lower < expected < found.upper
    blurred = read_ratio(
        noisy,
        ratio,
        below=_grid(2, 6, 4, "1/2"),
        above=_grid(-3, 5, 8, "1/2"),
    )
    error = (Fraction(1, 2) + found.upper * Fraction(1, 2)) / 2
    assert found.upper + error == blurred.upper
    nothing = read_ratio((1, -9, 2, -8), ratio, below=below, above=above)
    least, most = Fraction(-3, 2), Fraction(5, 2)
    assert (least, most) == (nothing.lower, nothing.upper)
    assert (least + most) / 2 == nothing.value


def test_dropped_and_filled_nulls() -> None:
    """Dropped nulls are in no part; filled ones keep the sum of a row."""
    parts = mean_parts(10)
    held = {"n": 3, "u": 24}
    assert (24, 6) == part_sums(parts, held)
    filled = {"n": 4, "u": 24 + 5}
    assert (29, 11) == part_sums(parts, filled)
    # A count of the rows of the cell would read the null as the lower bound.
    assert (24, 16) == part_sums(parts, {"n": 4, "u": 24})


def test_an_interval_is_a_function_of_released_numbers_alone() -> None:
    """Reading twice gives the same exact ends, whatever gmpy2's own context is."""
    import gmpy2

    family = Family(
        lower=Fraction(0),
        upper=Fraction(1),
        coefficients=(
            (Fraction(1), Fraction(0)),
            (Fraction(1, 2), -Fraction(1, 2)),
            (Fraction(0), -Fraction(1)),
        ),
    )
    first = Inversion(family, FINE, ALPHA).kept((5000, 900, 70_000))
    with gmpy2.context(precision=24, round=gmpy2.RoundDown):
        again = Inversion(family, Tail.of(Fraction(1, 64)), ALPHA).kept(
            (5000, 900, 70_000)
        )
    assert first == again
