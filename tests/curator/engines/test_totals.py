"""Totals are exact, whatever the number of batches and the size of their terms."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpql.curator.engines.totals import (
    BATCH_ROWS,
    EXACT_DOUBLES,
    EXACT_INTEGERS,
    LIMB,
    SUMMED_ROWS,
    CellSums,
    Totals,
    product,
    sums_of_rows,
)
from dpql.curator.sources import source

LARGEST = (1 << 62) - 1
"""The largest product of two factors of 31 bits is below this."""


def test_no_source_makes_larger_batches() -> None:
    """What is proved of a batch holds for the largest that a source makes."""
    assert 2 * source.BATCH_ROWS <= BATCH_ROWS


def test_the_limits_of_a_word_hold_for_a_full_batch() -> None:
    """Doubles and integers hold the sum of a batch of the largest terms they take."""
    assert (EXACT_DOUBLES - 1) * BATCH_ROWS < 1 << 53
    assert (EXACT_INTEGERS - 1) * BATCH_ROWS < 1 << 63
    assert (EXACT_INTEGERS - 1) * SUMMED_ROWS < 1 << 53
    assert max(LARGEST & ((1 << LIMB) - 1), LARGEST >> LIMB) < EXACT_DOUBLES


@pytest.mark.property
@given(
    terms=st.lists(st.integers(0, LARGEST) | st.just(LARGEST), max_size=30),
    cells=st.data(),
)
def test_terms_are_summed_by_cell(terms: list[int], cells: st.DataObject) -> None:
    """Each cell has the sum of its terms; the cell after the last is left out."""
    numbers = st.lists(st.integers(0, 3), min_size=len(terms), max_size=len(terms))
    held = cells.draw(numbers)
    totals = Totals([(2, 3)])
    sums = CellSums()(np.array(held, np.int64), 3, [_limbs(np.array(terms)), []])
    totals.add([(0, sums)])
    expected = [
        sum(x for x, cell in zip(terms, held, strict=True) if cell == one)
        for one in range(3)
    ]
    assert [[expected, [held.count(one) for one in range(3)]]] == totals.integers()


def _limbs(terms: Any) -> list[Any]:
    words = terms.astype(np.int64)
    return [words & ((1 << LIMB) - 1), words >> LIMB]


def test_a_full_batch_of_the_largest_terms_is_exact() -> None:
    """The low bits are those of the exact sum, in doubles too."""
    terms = _limbs(np.full(BATCH_ROWS, LARGEST))
    totals = Totals([(1, 1)])
    totals.add([(0, CellSums()(np.zeros(BATCH_ROWS), 1, [terms]))])
    assert [[[BATCH_ROWS * LARGEST]]] == totals.integers()


@pytest.mark.heavy
def test_totals_pass_every_word() -> None:
    """2**34 rows of the largest terms pass 2**64 and 2**95, and are counted."""
    totals = Totals([(2, 1)])
    sums = [np.array([BATCH_ROWS * ((1 << LIMB) - 1)])] * 2
    for _ in range(1 << 16):
        totals.add([(0, [[np.array([BATCH_ROWS])], sums])])
    assert [[[1 << 34], [(1 << 34) * LARGEST]]] == totals.integers()
    assert (1 << 34) * LARGEST > 1 << 95


def test_a_limb_of_any_sum_that_fits_is_carried() -> None:
    """A sum of a batch just below 2**63 is carried into the next limbs."""
    totals = Totals([(1, 1)])
    for _ in range(5):
        totals.add([(0, [[np.array([(1 << 63) - 1])]])])
    assert [[[5 * ((1 << 63) - 1)]]] == totals.integers()


def test_tallies_are_kept_apart() -> None:
    """Sums reach the tally of their number, which may come twice or never."""
    totals = Totals([(1, 2), (1, 1), (1, 1)])
    totals.add([(0, [[np.array([1, 2])]]), (2, [[np.array([3])]])])
    totals.add([(2, [[np.array([4])]])])
    assert [[[1, 2]], [[0]], [[7]]] == totals.integers()


@pytest.mark.property
@pytest.mark.parametrize("dtype", [np.int64, np.float64])
@pytest.mark.parametrize("bits", [1, 17, 18, 22, 23, 26, 27, 31])
@pytest.mark.parametrize("exact", [EXACT_DOUBLES, EXACT_INTEGERS])
@given(data=st.data())
def test_products_of_integers_and_doubles_sum_alike(
    dtype: Any, bits: int, exact: int, data: st.DataObject
) -> None:
    """Squares are exact in one limb or two; a mask leaves rows out."""
    top = (1 << bits) - 1
    numbers = data.draw(st.lists(st.integers(0, top) | st.just(top), max_size=600))
    mask = np.array([number % 3 > 0 for number in numbers], np.bool_)
    factor = np.array(numbers, dtype)
    terms = product([factor, factor], top * top, exact)
    for kept in (mask, None):
        limbs = [int(limb[0]) for limb in sums_of_rows(terms, kept)]
        found = sum(limb << index * LIMB for index, limb in enumerate(limbs))
        assert found == sum(x * x for x in numbers if kept is None or x % 3)


def test_the_largest_terms_of_a_full_batch_are_summed() -> None:
    """No partial sum of doubles passes what they hold."""
    top = EXACT_INTEGERS - 1
    terms = [np.full(BATCH_ROWS, float(top))]
    assert [top * BATCH_ROWS] == [int(x[0]) for x in sums_of_rows(terms, None)]
