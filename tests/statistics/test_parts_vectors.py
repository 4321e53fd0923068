"""Costs, parts, tails and intervals against the golden vectors."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from exact_parts import part_sums
from golden import TOLERANCE, cases, close, label

from dpql.model.plan import Grid
from dpql.statistics.contribution import Contribution
from dpql.statistics.inversion import Inversion
from dpql.statistics.lattice import Lattice
from dpql.statistics.parts import (
    Parts,
    covariance_parts,
    mean_parts,
    variance_parts,
)
from dpql.statistics.parts_reading import SHARE, read_mean, read_share
from dpql.statistics.promise import share_promise
from dpql.statistics.spread_reading import (
    Spread,
    covariance_point,
    variance_point,
)
from dpql.statistics.tails import Tail, laplace_width

pytestmark = pytest.mark.golden

Case = dict[str, Any]


def _contribution(given: Case) -> Contribution:
    return Contribution(
        replace=given["neighbours"] == "replace_one",
        rows_public=given["rows_public"],
        rows_each=given["k"],
        cells_each=given["l"],
        cells=given["cells"],
    )


@pytest.mark.parametrize("case", cases("questions/quantile_cost"), ids=label)
def test_cost_of_a_quantile(case: Case) -> None:
    """Cost and theta are the golden ones."""
    given, expect = case["input"], case["expect"]
    cost = _contribution(given).rank_change(Fraction(given["at"]))
    assert expect["cost"] == cost
    assert Fraction(expect["theta"]) == Fraction(given["epsilon"]) / cost


@pytest.mark.parametrize("case", cases("questions/joint_sensitivity"), ids=label)
def test_joint_sensitivity(case: Case) -> None:
    """Units, distinct values and parts change by the golden l1 distance."""
    given = case["input"]
    contribution, steps = _contribution(given), given["steps"]
    change = {
        "count_units": contribution.units_change,
        "distinct": lambda: contribution.distinct_change(given["values"]),
        "share": lambda: contribution.parts_change(mean_parts(1).per_row),
        "mean": lambda: contribution.parts_change(mean_parts(steps).per_row),
        "variance": lambda: contribution.parts_change(variance_parts(steps).per_row),
        "covariance": lambda: contribution.parts_change(
            covariance_parts(steps, given["steps_2"]).per_row
        ),
    }[given["statistic"]]()
    assert case["expect"]["l1"] == change


def _moments(rows: list[list[int]]) -> dict[str, int]:
    return {
        "n": len(rows),
        "u": sum(u for u, _ in rows),
        "v": sum(v for _, v in rows),
        "uu": sum(u * u for u, _ in rows),
        "uv": sum(u * v for u, v in rows),
    }


@pytest.mark.parametrize("case", cases("questions/partition"), ids=label)
def test_parts_and_points(case: Case) -> None:
    """Parts of the rows, and the points of parts with noise, are the golden ones."""
    given, expect = case["input"], case["expect"]
    steps, other = given["steps"], given["steps_2"]
    lower, step = Fraction(given["lower"]), Fraction(given["step"])
    grid = Grid(
        column="x",
        lower=lower,
        upper=lower + steps * step,
        steps=steps,
        error=Fraction(0),
    )
    moments = _moments(given["rows"])

    def noisy(parts: Parts, name: str) -> list[int]:
        sums = part_sums(parts, moments)
        assert expect[f"{name}_sums"] == list(sums)
        assert parts.per_row * len(given["rows"]) == sum(sums)
        noise = given[f"noise_{name}"]
        return [part + x for part, x in zip(sums, noise, strict=True)]

    share = Inversion(SHARE, Tail.of(Fraction(1, 64)), Fraction(1, 20))
    mean = read_mean(
        noisy(mean_parts(steps), "mean"),
        share,
        grid=grid,
        quantisation=Fraction(0),
    )
    assert Fraction(expect["mean"]) == mean.value
    variance = variance_point(
        noisy(variance_parts(steps), "variance"), Fraction(steps**2)
    )
    assert Fraction(expect["variance"]) == grid.width**2 * variance
    covariance = covariance_point(
        noisy(covariance_parts(steps, other), "covariance"), Fraction(steps * other)
    )
    second = Fraction(given["step_2"]) * other
    assert Fraction(expect["covariance"]) == grid.width * second * covariance


@pytest.mark.parametrize("case", cases("questions/pair_tail"), ids=label)
def test_tail_of_two_noises(case: Case) -> None:
    """K and c are the golden ones, from above, and never below the exact tail's."""
    given, expect = case["input"], case["expect"]
    weights = [Fraction(given["g"]), Fraction(given["h"])]
    alpha = Fraction(given["alpha"])
    critical = laplace_width(weights, alpha)
    assert close(expect["laplace_critical"], critical, TOLERANCE)
    width = Tail.of(Fraction(given["theta"])).width(weights, alpha)
    assert close(expect["closed_width"], width, TOLERANCE)
    tiny = Fraction(1, 10**38)
    assert Fraction(expect["laplace_critical"]) * (1 - tiny) <= critical
    assert Fraction(expect["closed_width"]) * (1 - tiny) <= width
    assert Fraction(expect["critical"]) <= width


@pytest.mark.parametrize("case", cases("questions/share_interval"), ids=label)
def test_share_interval_and_promise(case: Case) -> None:
    """Point, interval and promise are the golden ones."""
    given, expect = case["input"], case["expect"]
    theta, alpha = Fraction(given["theta"]), Fraction(given["alpha"])
    share = Inversion(SHARE, Tail.of(theta), alpha)
    found = read_share((given["A"], given["B"]), share)
    assert Fraction(expect["point"]) == found.value
    nano = Fraction(1, 10**9)
    assert abs(Fraction(expect["lower"]) - found.lower) <= nano
    assert abs(Fraction(expect["upper"]) - found.upper) <= nano
    steps = given["steps"]
    lattice = Lattice(
        factor=Fraction(1),
        rounded=False,
        per_row=Fraction(steps),
        most=0,
        change=steps,
        epsilon=theta * steps,
    )
    promised = share_promise(lattice, given["at_least"], alpha)
    promised = Fraction(1) if promised is None else promised
    assert close(expect["promise"], promised, nano)


@pytest.mark.parametrize("case", cases("questions/variance_interval"), ids=label)
def test_variance_interval(case: Case) -> None:
    """The interval holds the golden one, and is at most a hundredth wider."""
    given, expect = case["input"], case["expect"]
    tail = Tail.of(Fraction(given["theta"]))
    lower, upper = Spread(tail, Fraction(given["alpha"])).variance(given["B"])
    nano = Fraction(1, 10**9)
    golden = Fraction(expect["lower"]), Fraction(expect["upper"])
    assert lower <= golden[0] + nano
    assert upper >= golden[1] - nano
    assert upper - lower <= Fraction(101, 100) * (golden[1] - golden[0])
