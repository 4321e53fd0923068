"""The draw of a quantile: the same on every path, with work that no row changes."""

from __future__ import annotations

import sys
from collections.abc import Callable
from fractions import Fraction
from types import FrameType
from typing import Any

import numpy as np
import pytest

from dpql.exact import exp_down, exp_up
from dpql.mechanisms import quantile, quantile_draw
from dpql.mechanisms.quantile import QuantileNoise
from dpql.mechanisms.quantile_draw import SHORT, Kit, Weights
from dpql.mechanisms.quantile_score import scores
from dpql.testing import SeededBits, Tape


def _noise(theta: Fraction, candidates: int, at: Fraction = Fraction(1, 2)) -> Any:
    return QuantileNoise(at=at, candidates=candidates, cost=2, epsilon=2 * theta)


@pytest.mark.parametrize(
    "theta", [Fraction(5, 2), Fraction(1, 77), Fraction(1, 10**4), Fraction(1, 10**9)]
)
@pytest.mark.parametrize("bits", [9, 90, 154])
def test_weights_bracket_the_truth(theta: Fraction, bits: int) -> None:
    """No weight exceeds the truth, and none falls short of it by two units."""
    weights = Weights(theta, bits)
    assert 1 << bits == weights.of(0)
    assert 0 == weights.of(weights.most)
    for score in {1, 2, 2047, 2048, 4095, weights.most // 3, weights.most - 1}:
        if 0 < score <= weights.most:
            found = weights.of(score)
            assert found <= exp_up(-theta * score) * 2**bits
            assert exp_down(-theta * score) * 2**bits < found + SHORT


def test_no_table_is_built_for_very_small_theta(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Beyond 2**22 weights each candidate's is computed, and the choices are equal."""
    counts = np.array([4, 0, 3, 900, 2, 2, 50_000, 1])
    noise = _noise(Fraction(1, 5000), 8)
    lanes = [bytes([i]) + bytes(15) for i in range(0, 256, 5)]
    tabled = [quantile.choose(noise, counts, Tape([lane * 8])) for lane in lanes]
    monkeypatch.setattr(quantile_draw, "_LARGEST_TABLE", 1)
    again = _noise(Fraction(1, 5000), 8)
    assert tabled == [
        quantile.choose(again, counts, Tape([lane * 8])) for lane in lanes
    ]
    tiny = _noise(Fraction(1, 10**12), 8)
    tape = Tape([b"\x9f" + bytes(31)])
    assert 4 == quantile.choose(tiny, counts, tape)


def test_a_table_is_built_once_it_is_worth_its_while() -> None:
    """Few cells take a weight for each candidate, many a table; both choose alike."""
    noise, counts = _noise(Fraction(1, 50), 8), np.arange(8)
    most = Weights(noise.theta, 90).most
    tabled = []
    chosen = []
    for i in range(most // 8 + 3):
        tape = Tape([bytes([i % 256, 77]) * 16])
        chosen.append(quantile.choose(noise, counts, tape))
        tabled.append(noise.kit._table is not None)
    first = tabled.index(True)
    assert -(-most // 8) - 1 == first
    again = _noise(Fraction(1, 50), 8)
    lone = [
        quantile.choose(again, counts, Tape([bytes([i % 256, 77]) * 16]))
        for i in range(first, first + 3)
    ]
    assert chosen[first : first + 3] == lone


def test_three_limbs_add_up_like_two() -> None:
    """More than 2**17 candidates are summed in three limbs, to the same integers."""
    theta, found = Fraction(1, 40), np.arange(3000)
    few, many = Kit(theta, 90, 3000).sums(found), Kit(theta, 90, 1 << 18).sums(found)
    assert [few[i] for i in range(3000)] == [many[i] for i in range(3000)]
    exact = Kit(theta, 90, 3000).exact_sums(found, 90)
    assert exact == [few[i] for i in range(3000)]


def test_many_cells_are_drawn_like_one() -> None:
    """Every cell gets the candidate that its own lane gives it alone."""
    noise = _noise(Fraction(1, 9), 40)
    tables = np.random.default_rng(7).integers(0, 30, (50, 40))
    together = quantile.choose_many(noise, tables, SeededBits("cells"))
    alone = [
        quantile.choose(noise, row, SeededBits("cells").lane(i))
        for i, row in enumerate(tables)
    ]
    assert alone == together


DATA = [
    [0] * 30,
    [10**6] + [0] * 29,
    [0] * 29 + [10**6],
    [1] * 30,
    [0] * 15 + [3] + [0] * 14,
    list(range(30)),
]


def _lines(act: Callable[[], object]) -> int:
    """Return how many lines of Python run in the draw and its scores."""
    seen = 0

    def trace(frame: FrameType, event: str, _: object) -> Any:
        nonlocal seen
        if "mechanisms" not in frame.f_code.co_filename:
            return None
        seen += event == "line"
        return trace

    sys.settrace(trace)
    try:
        act()
    finally:
        sys.settrace(None)
    return seen


@pytest.mark.parametrize("largest", [1 << 22, 1])
def test_work_does_not_depend_on_rows(
    largest: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same lines run, the same weights are computed, whatever the rows."""
    monkeypatch.setattr(quantile_draw, "_LARGEST_TABLE", largest)
    noise = _noise(Fraction(1, 300), 30)
    for _ in range(1000):
        quantile.choose(noise, DATA[0], SeededBits(1))
    works = {
        _lines(lambda row=row, lane=lane: quantile.choose(noise, row, lane))
        for row in DATA
        for lane in (SeededBits(1), SeededBits(2))
    }
    assert 1 == len(works)


def test_work_per_distinct_score_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """One evaluation for each distinct score would tell rows by its time."""

    def planted(self: Kit, found: Any) -> list[int]:
        weights, _ = self._tabulated()
        known: dict[int, int] = {}
        prefix, total = [], 0
        for score in np.minimum(found, weights.most).tolist():
            if score not in known:
                known[score] = weights.of(score)
            total += known[score]
            prefix.append(total)
        return prefix

    monkeypatch.setattr(Kit, "sums", planted)
    monkeypatch.setattr(quantile_draw, "_LARGEST_TABLE", 1)
    noise = _noise(Fraction(1, 300), 30)
    quantile.choose(noise, DATA[0], SeededBits(1))
    works = {
        _lines(lambda row=row: quantile.choose(noise, row, SeededBits(1)))
        for row in DATA
    }
    assert len(works) > 1


def test_scores_of_a_huge_table_do_not_wrap() -> None:
    """2**41 rows at the finest quantile stay within machine integers."""
    b = 1 << 20
    counts = [1 << 40, 0, 1 << 40]
    expected = [0, 0, 0]
    assert expected == scores(counts, Fraction(1, 2)).tolist()
    at = Fraction(b - 1, b)
    assert [(1 << 41) * (b - 1) - b * (1 << 40)] * 2 + [0] == scores(
        counts, at
    ).tolist()
