"""Every type of column has a record of its keys."""

from __future__ import annotations

import pytest

from dpql.language.column_types import COLUMN_TYPES
from dpql.model.spec import NumberType


def test_every_type_of_number_is_a_column_type() -> None:
    """Beside the types of numbers there are those of words, truths and dates."""
    others = {"id", "category", "boolean", "date", "time"}
    assert {*others, *NumberType} == set(COLUMN_TYPES)


@pytest.mark.parametrize("name", COLUMN_TYPES)
def test_a_type_names_itself(name: str) -> None:
    """The first key is the type, and all but ids say something more."""
    first, *others = COLUMN_TYPES[name].fields
    assert (name,) == first.shape.words  # type: ignore[union-attr]
    assert bool(others) == (name != "id")


@pytest.mark.parametrize("name", sorted({*COLUMN_TYPES} - {"id", "category"}))
def test_whatever_is_counted_has_a_rule_for_nulls(name: str) -> None:
    """No cell is left without a meaning."""
    nulls = COLUMN_TYPES[name].field("nulls")
    assert nulls is not None
    assert nulls.required
