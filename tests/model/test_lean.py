"""Members that say nothing are left out of what is written, and come back."""

from __future__ import annotations

import pytest

from dpql.model import codec
from dpql.model.columns import CategoryColumn
from dpql.model.lean import Lean


def test_what_says_nothing_is_left_out() -> None:
    """So plans of before have the bytes and digests that they had."""
    plain = CategoryColumn(name="kind", keys=("a", "b"))
    assert isinstance(plain, Lean)
    assert "others" not in codec.encode(CategoryColumn, plain)
    full = CategoryColumn(name="kind", keys=("a", "others"), others=True)
    assert codec.encode(CategoryColumn, full)["others"] is True


@pytest.mark.parametrize("others", [False, True])
def test_it_comes_back(*, others: bool) -> None:
    """Reading adds what was left out."""
    keys = ("a", "others") if others else ("a",)
    column = CategoryColumn(name="kind", keys=keys, others=others)
    document = codec.encode(CategoryColumn, column)
    assert column == codec.decode(CategoryColumn, document)
