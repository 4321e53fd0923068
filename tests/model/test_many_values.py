"""Values of few kinds are the tuple of their values, made when they are looked at."""

from __future__ import annotations

import pickle
from fractions import Fraction

import pytest

from dpql.model.many_values import Deferred, ManyValues
from dpql.model.release import Value

CELLS = [("a", "x"), ("a", "y"), ("b", "x"), ("b", "y")]


def _value(number: int, cell: tuple[str, ...] = ()) -> Value:
    exact = Fraction(number, 2)
    return Value(
        cell=cell, noisy=(exact,), value=exact, lower=exact - 1, upper=exact + 1
    )


MANY = ManyValues(CELLS, [0, 1, 0, 0], [_value(3), _value(8)])
PLAIN = tuple(_value(n, cell) for n, cell in zip((3, 8, 3, 3), CELLS, strict=True))


def test_they_are_the_tuple_of_their_values() -> None:
    """In order, by index and by slice; equal and hashed alike on either side."""
    assert PLAIN == tuple(MANY)
    assert MANY == PLAIN
    assert PLAIN == MANY
    assert hash(PLAIN) == hash(MANY)
    assert PLAIN[1:3] == MANY[1:3]
    assert PLAIN[-1] == MANY[-1]
    assert len(PLAIN) == len(MANY)
    assert "<4 values>" == repr(MANY)
    assert PLAIN == pickle.loads(pickle.dumps(MANY))  # noqa: S301  our own bytes


@pytest.mark.parametrize(
    "other",
    [
        ManyValues(CELLS, [0, 1, 0, 1], MANY.kinds),
        ManyValues(CELLS[::-1], MANY.which, MANY.kinds),
        ManyValues(CELLS, MANY.which, [_value(3), _value(9)]),
        ManyValues(CELLS[:3], [0, 1, 0], MANY.kinds),
        PLAIN[:3],
        list(PLAIN),
    ],
    ids=["which", "cells", "kinds", "fewer", "fewer in a tuple", "a list"],
)
def test_what_differs_is_not_equal(other: object) -> None:
    """In a cell, in a kind, in which it is, in how many there are."""
    assert other != MANY
    assert MANY != other


def test_the_order_of_the_kinds_does_not_matter() -> None:
    """Values are compared, however they are kept."""
    assert ManyValues(CELLS, [1, 0, 1, 1], MANY.kinds[::-1]) == MANY


def test_any_sequence_of_values_has_kinds() -> None:
    """Each different one once; what is many already stays as it is."""
    found = ManyValues.of(PLAIN)
    assert found == MANY
    assert MANY.kinds == found.kinds
    assert [0, 1, 0, 0] == list(found.which)
    assert MANY is ManyValues.of(MANY)
    assert MANY is ManyValues.of(Deferred(4, lambda: MANY))


def test_a_function_is_called_once_for_each_kind() -> None:
    """It sees no cell."""
    seen: list[Value] = []

    def twice(value: Value) -> Fraction:
        seen.append(value)
        return 2 * value.value

    assert [3, 8, 3, 3] == list(MANY.each(twice))
    assert [(), ()] == [value.cell for value in seen]
    assert 2 == len(seen)
    assert MANY == MANY.of_kinds(lambda value: value)
