"""Booleans are read from words, numbers and truth values."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import oracle_cells
import polars as pl
import pytest

from dpql.curator.sources.truths import truths

TEXTS = [
    *("true", "True", "TRUE", "tRuE", "t", "T", "false", "False", "f", "F"),
    *("1", "0", "01", "1.0", "0.0", "-0", "+1", "1e0", "10e-1", "1e-400", "0e9"),
    *("yes", "no", "y", "n", "on", "off", "2", "-1", "0.5", "", " ", " true", "true "),
    *("truе", "ｔ", "ſ", "nan", "inf", "true\x00", "t" * 100_000, "1" * 400),
    *("1.00000000000000000000000001", "0.99999999999999999999999999"),
]


def test_texts() -> None:
    """A text is a word in any case, or a number that is 0 or 1."""
    expected = [oracle_cells.truth(text) for text in TEXTS]
    assert [*expected, None] == truths(pl.Series([*TEXTS, None])).to_list()
    assert expected == [truths(pl.Series([text]))[0] for text in TEXTS]
    assert {0, 1, None} == set(expected)


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        (pl.Series([True, False, None]), [1, 0, None]),
        (pl.Series([1, 0, 2, -1, None]), [1, 0, None, None, None]),
        (pl.Series([1.0, -0.0, 0.5, float("nan"), float("inf")]), [1, 0, *[None] * 3]),
        (pl.Series([Decimal("1.0"), Decimal("0.5")]), [1, None]),
        (pl.Series([2**64 - 1, 1], dtype=pl.UInt64), [None, 1]),
        (pl.Series([None, None]), [None, None]),
    ],
    ids=str,
)
def test_stored_types(cells: Any, expected: list[int | None]) -> None:
    """A number is true if it is 1, false if it is 0, and neither otherwise."""
    assert expected == truths(cells).to_list()
    assert truths(cells).dtype == pl.Int64
