"""Numbers are keys however they are stored, and nothing near a key is one."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import polars as pl
import pytest

from dpql.curator.sources.numeric_keys import NumericKeys

KEYS = ("3", "-1", "0", "4611686018427387903", "12")


@pytest.mark.parametrize(
    ("cells", "codes"),
    [
        (["3", "03", "3.0", "3e0", "+3", " 3", "3.5", "three"], [0] * 5 + [None] * 3),
        (["12.0000000000000000001", "1.2e1", "12", None], [None, 4, 4, None]),
        ([3, -1, 0, 4611686018427387903, 12, 13], [0, 1, 2, 3, 4, None]),
        ([3.0, -1.0, -0.0, 12.5, float("nan")], [0, 1, 2, None, None]),
        ([Decimal("3.00"), Decimal("3.01")], [0, None]),
        ([True, False], [None, 2]),
        ([None], [None]),
    ],
    ids=str,
)
def test_numbers_are_keys(cells: list[Any], codes: list[int | None]) -> None:
    """A cell is a key where it is exactly that number."""
    assert codes == NumericKeys(KEYS)(pl.Series(cells)).to_list()


def test_every_key_is_its_own_code() -> None:
    """The order of the keys does not matter, and neither do gaps between them."""
    keys = [str(3 * key % 1001 - 500) for key in range(1001)]
    assert list(range(1001)) == NumericKeys(keys)(pl.Series(keys)).to_list()
