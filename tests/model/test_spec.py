"""The types of a spec are values."""

from __future__ import annotations

from dataclasses import FrozenInstanceError, replace

import pytest
from language.samples import REFERENCE

from dpql.language import load_text
from dpql.model.spec import CategoryColumn, Spans, Spec


@pytest.fixture
def spec() -> Spec:
    """Return a spec made from text."""
    return load_text(REFERENCE, form="yaml")


def test_a_spec_is_hashable_and_frozen(spec: Spec) -> None:
    """A spec can be a key, and cannot change."""
    assert {spec: 1}[spec] == 1
    with pytest.raises(FrozenInstanceError):
        spec.release = "other"  # type: ignore[misc]  the point of the test


def test_spans_take_no_part_in_equality(spec: Spec) -> None:
    """Two texts with the same meaning are equal, wherever things stand."""
    elsewhere = load_text("\n\n" + REFERENCE, form="yaml")
    assert spec == elsewhere
    assert hash(spec) == hash(elsewhere)
    assert spec.spans.span("release") != elsewhere.spans.span("release")
    assert spec == replace(spec, spans=Spans())


def test_columns_are_found_by_name(spec: Spec) -> None:
    """A column is looked up by its name."""
    column = spec.data.column("district")
    assert isinstance(column, CategoryColumn)
    assert column.keys == ("north", "east", "south", "west")
