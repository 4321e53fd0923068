"""Boxes of a mean and of a variance: golden vectors, and every corner tried."""

from fractions import Fraction
from itertools import product
from typing import Any

import pytest
from golden import TOLERANCE, cases, close, label

from dpql.testing import Box, mean_box, variance_box

Case = dict[str, Any]


def of_kind(kind: str) -> list[Case]:
    """Return the vectors of one kind."""
    return [case for case in cases("tolerances") if case["kind"] == kind]


def mean_of(given: dict[str, Any]) -> Box:
    """Return the box of a mean vector."""
    return mean_box(
        given["s"],
        given["c"],
        total_tolerance=given["ts"],
        count_tolerance=given["tc"],
    )


def variance_of(given: dict[str, Any]) -> Box:
    """Return the box of a variance vector."""
    return variance_box(
        given["s2"],
        given["s"],
        given["c"],
        squares_tolerance=given["t2"],
        total_tolerance=given["ts"],
        count_tolerance=given["tc"],
        width=given["width"],
    )


@pytest.mark.golden
@pytest.mark.parametrize("case", of_kind("mean"), ids=label)
def test_mean_vectors(case: Case) -> None:
    """Both ends and the tolerance, each on its safe side."""
    box, expect = mean_of(case["input"]), case["expect"]
    assert close(expect["m_lo"], Fraction(box.lower), TOLERANCE)
    assert close(expect["m_hi"], Fraction(box.upper), TOLERANCE)
    assert close(expect["tolerance"], Fraction(box.tolerance), TOLERANCE)


@pytest.mark.golden
@pytest.mark.parametrize("case", of_kind("variance"), ids=label)
def test_variance_vectors(case: Case) -> None:
    """Both ends and the tolerance, each on its safe side."""
    box, expect = variance_of(case["input"]), case["expect"]
    assert close(expect["v_lo"], Fraction(box.lower), TOLERANCE)
    assert close(expect["v_hi"], Fraction(box.upper), TOLERANCE)
    assert close(expect["tolerance"], Fraction(box.tolerance), TOLERANCE)


def spread(middle: Fraction, half: Fraction) -> list[Fraction]:
    """Return nine points of an interval, ends included."""
    return [middle + half * Fraction(i, 4) for i in range(-4, 5)]


@pytest.mark.parametrize("total", [-50, -1, 0, 1, 50])
@pytest.mark.parametrize(("count", "wide"), [(20, 2), (3, 5), (1, 10)])
def test_mean_box_holds_every_point_and_is_attained(
    total: int, count: int, wide: int
) -> None:
    """Every total and count in the box gives a mean inside, and two at its ends."""
    box = mean_box(total, count, total_tolerance=3, count_tolerance=wide)
    means = [
        s / max(1, c)
        for s, c in product(
            spread(Fraction(total), Fraction(3)),
            spread(Fraction(count), Fraction(wide)),
        )
    ]
    assert Fraction(box.lower) <= min(means)
    assert max(means) <= Fraction(box.upper)
    assert float(min(means)) == pytest.approx(box.lower, rel=1e-15)
    assert float(max(means)) == pytest.approx(box.upper, rel=1e-15)
    truth = Fraction(total) / max(1, count)
    assert all(abs(mean - truth) <= Fraction(box.tolerance) for mean in means)


@pytest.mark.parametrize("total", [-50, -1, 0, 1, 50])
@pytest.mark.parametrize(("count", "wide"), [(20, 2), (3, 5), (1, 10)])
@pytest.mark.parametrize("squares", [0, 5, 400])
def test_variance_box_holds_every_point(
    total: int, count: int, wide: int, squares: int
) -> None:
    """Every noisy triple in the box gives a clamped variance inside."""
    box = variance_box(
        squares,
        total,
        count,
        squares_tolerance=5,
        total_tolerance=3,
        count_tolerance=wide,
        width=20,
    )
    for s2, s, c in product(
        spread(Fraction(squares), Fraction(5)),
        spread(Fraction(total), Fraction(3)),
        spread(Fraction(count), Fraction(wide)),
    ):
        size = max(1, c)
        variance = min(max(s2 / size - (s / size) ** 2, 0), 100)
        assert Fraction(box.lower) <= variance <= Fraction(box.upper)


def test_wrong_arguments_are_refused() -> None:
    """Negative tolerances and a width of 0 are refused by name."""
    with pytest.raises(ValueError, match="count_tolerance must be at least 0"):
        mean_box(1, 2, total_tolerance=1, count_tolerance=-1)
    with pytest.raises(ValueError, match="width must be above 0"):
        variance_of({"s2": 1, "s": 1, "c": 1, "t2": 1, "ts": 1, "tc": 1, "width": 0})
