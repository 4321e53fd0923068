"""Every key of a spec is described, and its example has its shape."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from dpql.language.keys import COLUMN_TYPES, SPEC, STATISTIC
from dpql.model.shape import (
    Choice,
    Either,
    Field,
    ListOf,
    Number,
    Record,
    Shape,
    Table,
    Text,
    Variants,
)
from dpql.statistics import KEYS


def _fields(shape: Shape) -> Iterator[Field]:
    """Yield every field below a shape."""
    match shape:
        case Record(fields=fields):
            for field in fields:
                yield field
                yield from _fields(field.shape)
        case Variants(records=records):
            for record in records.values():
                yield from _fields(record)
        case Table(value=value):
            yield from _fields(value)
        case Either(record=record):
            yield from _fields(record)
        case ListOf(item=item):
            yield from _fields(item)
        case Text() | Number() | Choice():
            pass


FIELDS = list(_fields(SPEC))


@pytest.mark.parametrize("field", FIELDS, ids=lambda field: field.name)
def test_a_key_is_described(field: Field) -> None:
    """The manual has a sentence and an example of each key."""
    assert field.summary[0].isupper() or field.summary[0] == "`"
    assert field.summary.endswith(".")
    assert field.examples


def test_keys_are_different() -> None:
    """No record has a key twice."""
    for record in (SPEC, STATISTIC, *COLUMN_TYPES.values()):
        names = [field.name for field in record.fields]
        assert len(set(names)) == len(names)


def test_a_statistic_is_one_of_the_table() -> None:
    """Exactly one word of the table is given, and every word of it can be."""
    assert KEYS in STATISTIC.one_of
    assert all(STATISTIC.field(name) is not None for name in KEYS)
