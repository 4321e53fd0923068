"""Promises before data: kept by simulation, priced the safe way, absent where none."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest

from dpql.errors import PlanFault
from dpql.statistics import lattice as lattices
from dpql.statistics.contribution import Contribution
from dpql.statistics.lattice import lattice
from dpql.statistics.normal_lattice import normal_lattice
from dpql.statistics.parts import (
    Parts,
    covariance_parts,
    mean_parts,
    variance_parts,
)
from dpql.statistics.promise import (
    amount_for_promise,
    covariance_promise,
    share_promise,
    variance_promise,
)

ALPHA = Fraction(1, 20)
ROW = Contribution(replace=False, rows_each=1, cells_each=1, cells=1)
KINDS: dict[str, tuple[Parts, Any]] = {
    "mean": (mean_parts(10), share_promise),
    "variance": (variance_parts(10), variance_promise),
    "covariance": (covariance_parts(10, 5), covariance_promise),
}


def test_the_promise_of_a_mean() -> None:
    """At alpha .05 a mean is promised to 3.00 widths over n epsilon."""
    found = lattice(mean_parts(1000), ROW, rows=10**6, epsilon=Fraction(1))
    promised = share_promise(found, 1000, ALPHA)
    assert promised is not None
    assert pytest.approx(3.0, abs=0.01) == float(1000 * promised)


@pytest.mark.parametrize("rows", [1, 3])
def test_no_promise_for_few_rows(rows: int) -> None:
    """Where both parts may be below 0, or the count near it, nothing is promised."""
    for parts, promise in KINDS.values():
        found = lattice(parts, ROW, rows=100, epsilon=Fraction(1, 3))
        assert promise(found, rows, ALPHA) is None


def _errors(name: str, noise: np.ndarray, truth: list[float], row: float) -> np.ndarray:
    """Return how far the points of noisy parts are from the point of the true ones."""

    def points(parts: np.ndarray) -> np.ndarray:
        count = np.maximum(parts.sum(axis=-1), row)
        if name == "mean":
            first, second = np.maximum(parts[..., 0], 0), np.maximum(parts[..., 1], 0)
            return np.where(first + second > 0, first / (first + second), 0.5)
        if name == "variance":
            mean = (parts[..., 1] / 2 + parts[..., 2]) / count
            return np.clip(parts[..., 2] / count - mean**2, 0, 0.25)
        both = parts[..., 0]
        product = (both + parts[..., 1]) * (both + parts[..., 2])
        return np.clip(both / count - product / count**2, -0.25, 0.25)

    exact = np.array(truth)
    return np.abs(points(exact + noise) - points(exact))


@pytest.mark.parametrize("rows", [20, 1000])
@pytest.mark.parametrize("rounded", [False, True])
@pytest.mark.parametrize("name", KINDS)
def test_promises_are_kept(
    name: str, rows: int, monkeypatch: pytest.MonkeyPatch, *, rounded: bool
) -> None:
    """No true parts make the point miss its promise oftener than alpha."""
    if rounded:
        monkeypatch.setattr(lattices, "FINEST", 7)
    parts, promise = KINDS[name]
    found = lattice(parts, ROW, rows=10**5, epsilon=Fraction(1))
    assert rounded == found.rounded
    promised = promise(found, rows, ALPHA)
    assert promised is not None
    runs = 40_000
    generator = np.random.default_rng(11)
    q = np.exp(-float(found.theta))
    shape = (runs, len(parts.terms))
    noise = generator.geometric(1 - q, shape) - generator.geometric(1 - q, shape)
    full = float(found.per_row) * rows
    allowed = 0.05 * runs + 3.1 * (0.05 * 0.95 * runs) ** 0.5
    for first, second in product((0, 0.5, 0.9, 1), (0, 0.3, 1)):
        if name == "mean":
            share = [first, 1 - first]
        elif name == "variance":
            mixed = second * first * (1 - first)
            share = [(1 - first) - mixed, 2 * mixed, first - mixed]
        else:
            both = second * first
            share = [both, first - both, both, 1 - first - both]
            if min(share) < 0:
                continue
        truth = [full * s for s in share]
        error = _errors(name, noise, truth, float(found.per_row))
        assert np.count_nonzero(error > float(promised)) <= allowed


@pytest.mark.parametrize("name", KINDS)
@pytest.mark.parametrize("target", ["1/10", "1/300", "1/7000"])
@pytest.mark.parametrize(
    "bound",
    [ROW, Contribution(replace=True, rows_each=3, cells_each=2, cells=9, total=4)],
)
def test_epsilon_for_a_promise(name: str, target: str, bound: Contribution) -> None:
    """The epsilon found keeps the promise, and one in 10^9 less does not."""
    parts, promise = KINDS[name]

    def kept(epsilon: Fraction) -> bool:
        found = lattice(parts, bound, rows=10**6, epsilon=epsilon)
        promised = promise(found, 500, ALPHA)
        return promised is not None and promised <= Fraction(target)

    epsilon = _priced(promise, parts, bound, Fraction(target), Fraction(1000))
    assert epsilon is not None
    assert kept(epsilon)
    assert not kept(epsilon * (1 - Fraction(1, 10**9)))
    assert _priced(promise, parts, bound, Fraction(target), epsilon / 2) is None


def _priced(
    promise: Callable[..., Fraction | None],
    parts: Parts,
    bound: Contribution,
    target: Fraction,
    most: Fraction,
) -> Fraction | None:
    return amount_for_promise(
        promise,
        lambda epsilon: lattice(parts, bound, rows=10**6, epsilon=epsilon),
        at_least=500,
        target=target,
        alpha=ALPHA,
        most=most,
    )


def test_a_target_of_nothing_is_refused() -> None:
    """No epsilon makes an error of 0 certain."""
    with pytest.raises(PlanFault, match="DPQL410"):
        _priced(share_promise, mean_parts(2), ROW, Fraction(0), Fraction(1))


@pytest.mark.stats
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("rho", ["1/2000", "1/100"])
def test_promises_hold_under_gaussian_noise(kind: str, rho: str) -> None:
    """Of 20,000 estimates at most alpha are further off than was promised.

    Few more than alpha: six standard deviations. The rows are the fewest there may be,
    and spread over both ends of their range, all at one end, or a tenth at the other.
    """
    parts, promise = KINDS[kind]
    at_least, runs = 2_000, 20_000
    found = normal_lattice(parts, ROW, rows=10**6, rho=Fraction(rho))
    promised = promise(found, at_least, ALPHA)
    assert promised is not None
    total = float(found.per_row * at_least)
    generator = np.random.default_rng(41)
    noise = generator.normal(0, float(found.tail.sigma2) ** 0.5, (runs, 4)).round()
    for high in (0.0, 0.1, 0.5):
        true, estimates = ESTIMATES[kind](high, total, noise)
        missed = int(np.count_nonzero(np.abs(estimates - true) > float(promised)))
        assert missed <= runs / 20 + 6 * (runs / 20) ** 0.5


def _means(high: float, total: float, noise: Any) -> tuple[float, Any]:
    first = np.maximum(high * total + noise[:, 0], 0)
    second = np.maximum((1 - high) * total + noise[:, 1], 0)
    return high, first / np.maximum(first + second, 1)


def _variances(high: float, total: float, noise: Any) -> tuple[float, Any]:
    low, middle, top = (1 - high) * total + noise[:, 0], noise[:, 1], high * total
    top = top + noise[:, 2]
    count = low + middle + top
    mean = (middle / 2 + top) / count
    found = np.clip(top / count - mean**2, 0, 0.25)
    return high * (1 - high), found


def _covariances(high: float, total: float, noise: Any) -> tuple[float, Any]:
    both = high * total + noise[:, 0]
    first, second = noise[:, 1], noise[:, 2]
    neither = (1 - high) * total + noise[:, 3]
    count = both + first + second + neither
    found = both / count - (both + first) * (both + second) / count**2
    return high * (1 - high), np.clip(found, -0.25, 0.25)


ESTIMATES: dict[str, Any] = {
    "mean": _means,
    "variance": _variances,
    "covariance": _covariances,
}


def test_a_gaussian_promise_needs_rows() -> None:
    """With too few rows there is none, and with more of them a better one."""
    found = normal_lattice(mean_parts(1000), ROW, rows=10**6, rho=Fraction(1, 1000))
    assert share_promise(found, 10, ALPHA) is None
    promises = [share_promise(found, rows, ALPHA) for rows in (200, 1000, 10**5)]
    assert all(promises)
    assert promises == sorted((p or Fraction(0) for p in promises), reverse=True)
    priced = amount_for_promise(
        share_promise,
        lambda rho: normal_lattice(mean_parts(1000), ROW, rows=10**6, rho=rho),
        at_least=1000,
        target=promises[1] or Fraction(0),
        alpha=ALPHA,
        most=Fraction(1000),
    )
    assert priced is not None
    assert abs(priced - Fraction(1, 1000)) < Fraction(1, 10**6)
