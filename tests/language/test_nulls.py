"""What a missing cell does is checked against the bounds of its column."""

from __future__ import annotations

import pytest
from language.flights import faults, flights

from dpql.language import load_text
from dpql.model.spec import DropNulls, FillNulls

GIVEN = "distance:  {type: integer, bounds: [1, 5_000], unit: mile, nulls: {as: 1_000}}"


@pytest.mark.parametrize(
    ("nulls", "expected"),
    [("drop", DropNulls()), ("{as: 1}", FillNulls(value=1)), ("{as: 5_000}", None)],
)  # type: ignore[list-item]
def test_a_fill_lies_within_the_bounds(nulls: str, expected: object) -> None:
    """Both ends included."""
    text = flights().replace("nulls: {as: 1_000}", f"nulls: {nulls}")
    column = load_text(text, form="yaml").data.number("distance")
    assert column.nulls == (expected or FillNulls(value=column.upper))


@pytest.mark.parametrize(
    ("nulls", "code"), [("{as: 0}", "DPQL307"), ("keep", "DPQL209")]
)
def test_other_fills_are_refused(nulls: str, code: str) -> None:
    """With the range of those that are allowed."""
    text = flights().replace("nulls: {as: 1_000}", f"nulls: {nulls}")
    (fault,) = faults(text)
    assert code == fault.code
