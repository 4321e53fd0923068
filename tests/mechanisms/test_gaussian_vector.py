"""What the first words of many lanes settle: a table, and the normal law inverted."""

from __future__ import annotations

from fractions import Fraction

import gmpy2
import numpy as np
import pytest

from dpql.mechanisms import gaussian_tail
from dpql.mechanisms.gaussian_tail import DIGITS, tail_of
from dpql.mechanisms.gaussian_vector import (
    Arithmetic,
    Table,
    _intervals,
    cuts,
    quantiles,
)

SQUARES = ["1/2000", "3/10", "1", "7/3", "25", "12345/7", "4095"]


def _table(sigma2: str) -> tuple[Table, tuple[int, ...]]:
    thresholds = cuts(tail_of(Fraction(sigma2)), DIGITS)
    return Table(thresholds), thresholds


def _halvings(thresholds: tuple[int, ...], digits: int) -> int:
    """Return #{x : cut[x] > M} as the note has it: halvings of a power of two."""
    size = 1 << (len(thresholds) + 2).bit_length()
    cut = [0, *thresholds] + [0] * size
    position, step = 0, size // 2
    while step:
        position += step * (cut[position + step] > digits)
        step //= 2
    return position


@pytest.mark.parametrize("sigma2", SQUARES)
def test_the_table_counts_thresholds(sigma2: str) -> None:
    """For random digits and those about every threshold: the count, and open lanes."""
    table, thresholds = _table(sigma2)
    near = [c + d for c in thresholds for d in (-2, -1, 0, 1, 2)]
    edges = [0, 1, 2, 255, 256, 257, (1 << 62) - 1, 1 << 62, (1 << DIGITS) - 1]
    powers = [(1 << k) + d for k in range(9, DIGITS) for d in (-1, 0, 1)]
    random = np.random.default_rng(1).integers(0, 1 << DIGITS, 2000).tolist()
    digits = [m for m in near + edges + powers + random if 0 <= m < 1 << DIGITS]
    magnitudes, doubtful = table.settled(np.array(digits, np.int64))
    ordered = set(doubtful.tolist())
    for index, m in enumerate(digits):
        assert (m in thresholds) == (index in ordered)
        assert _halvings(thresholds, m) == magnitudes[index]
        assert sum(c > m for c in thresholds) == magnitudes[index]


@pytest.mark.parametrize("sigma2", SQUARES)
def test_a_negative_word_complements_its_digits(sigma2: str) -> None:
    """The word of -1 - M has the sign set and the digits of M."""
    table, _ = _table(sigma2)
    digits = np.random.default_rng(2).integers(0, 1 << DIGITS, 500)
    up, _ = table.settled(digits)
    down, _ = table.settled(~digits)
    assert up.tolist() == down.tolist()


def test_cuts_are_certified() -> None:
    """Every threshold is the floor of 2**63 H, the last positive one included."""
    for sigma2 in SQUARES:
        tail = tail_of(Fraction(sigma2))
        thresholds = cuts(tail, DIGITS)
        assert thresholds[-1] == 0
        for x, cut in enumerate(thresholds, start=1):
            low, high = tail.bounds(x, 300)
            assert cut << (300 - DIGITS) <= high
            assert low < (cut + 1) << (300 - DIGITS)


def test_two_thresholds_in_one_interval_are_refused() -> None:
    """The one comparison would be wrong, so such a table is not made."""
    with pytest.raises(AssertionError, match="one threshold"):
        Table(((1 << 62) + 5, 1 << 62, 0))


def test_intervals_never_fall() -> None:
    """The interval of larger digits is the same one or a higher one."""
    digits = np.unique(np.random.default_rng(3).integers(0, 1 << DIGITS, 10_000))
    found = _intervals(digits)
    assert np.all(np.diff(found) >= 0)
    ends = _intervals(np.array([0, (1 << DIGITS) - 1]))
    assert [0, DIGITS * 256] == ends.tolist()


def _exact(point: float) -> gmpy2.mpfr:
    """Return z with Psi(z) = point / 2**64, by Newton from above."""
    wanted = gmpy2.mpfr(point) / gmpy2.exp2(64)
    z = gmpy2.sqrt(-2 * gmpy2.log(2 * wanted))
    for _ in range(60):
        tail = gmpy2.erfc(z / gmpy2.sqrt(gmpy2.mpfr(2))) / 2
        density = gmpy2.exp(-z * z / 2) / gmpy2.sqrt(2 * gmpy2.const_pi())
        step = (gmpy2.log(tail) - gmpy2.log(wanted)) * tail / density
        z += step
        if abs(step) < gmpy2.exp2(-120):
            break
    return z


@pytest.mark.heavy
def test_the_inverse_of_the_normal_law_is_within_its_bound() -> None:
    """AS 241 in doubles errs by 2**-47 at most, where 2**-44 is allowed for it.

    All exponents of U, both sides of the branches, and many points between.
    """
    generator = np.random.default_rng(4)
    words = generator.integers(1, 1 << 63, 2200) >> generator.integers(0, 33, 2200)
    points = words.astype(np.float64) + 0.5
    near = (0.5 - 0.425) * 2.0**64
    points = np.concatenate(
        [points, near * (1 + np.linspace(-1e-3, 1e-3, 201)), 2.0 ** np.arange(29, 63)]
    )
    found, far = quantiles(points)
    worst = 0.0
    with gmpy2.context(precision=200):
        for point, z, beyond in zip(
            points.tolist(), found.tolist(), far.tolist(), strict=True
        ):
            if not beyond:
                worst = max(worst, float(abs(_exact(point) - z)))
    assert worst <= 2.0**-47


def test_beyond_the_last_branch_nothing_is_settled() -> None:
    """Digits below 2**64 exp(-25) are open, whatever the noise."""
    last = int(2**64 * np.exp(-25.0))
    digits = np.array([0, 1, 2, 1000, last - 1000], np.int64)
    for sigma2 in ("4096", "1e9", "1e18"):
        _, doubtful = Arithmetic(Fraction(sigma2)).settled(digits)
        assert [0, 1, 2, 3, 4] == doubtful.tolist()


@pytest.mark.parametrize("sigma2", ["4096", "12345678", "1e12", "1e17"])
def test_one_lane_is_as_many(sigma2: str) -> None:
    """What Python's floats settle is what the arrays settle."""
    arithmetic = Arithmetic(Fraction(sigma2))
    digits = np.random.default_rng(5).integers(0, 1 << DIGITS, 2000)
    digits[:200] >>= np.arange(200) % 40
    magnitudes, doubtful = arithmetic.settled(digits)
    is_open = set(doubtful.tolist())
    for index, m in enumerate(digits.tolist()):
        found = arithmetic.settled_one(m, 1000)
        if found is not None and index not in is_open:
            assert found - 1000 == magnitudes[index]
    assert len(is_open) < 300


def test_few_lanes_are_open() -> None:
    """At sigma 2**20 about one lane in a million is left to exact arithmetic."""
    digits = np.random.default_rng(6).integers(0, 1 << DIGITS, 200_000)
    _, doubtful = Arithmetic(Fraction(1 << 40)).settled(digits)
    assert len(doubtful) < 10
    assert gaussian_tail.LARGEST == Fraction(1 << 86)
