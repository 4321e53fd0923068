"""Expressions inside a plan are looked at again: no forged one is believed."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest
from language.flights import flights

from dpql.language import load_text
from dpql.model.expression import (
    And,
    Bands,
    Between,
    CalendarPart,
    Call,
    Comparison,
    Constant,
    Expression,
    Function,
    Listed,
    Map,
    Membership,
    Operator,
    Pair,
    PartOf,
    Ranged,
    Reference,
)
from dpql.model.spec import DerivedColumn, Spec
from dpql.planner.rules import FORMAT_3
from dpql.planner.sound_expressions import is_condition, lattice_of
from dpql.planner.soundness import is_sound

SPEC = load_text(flights(), form="yaml")
A = Reference(column="arr_delay")
LATE = Comparison(column="arr_delay", operator=Operator.GREATER, value=Fraction(15))


def deriving(expression: Expression, name: str = "d") -> Spec:
    """Return the spec with another derived column."""
    column = DerivedColumn(name=name, expression=expression)
    return replace(SPEC, data=replace(SPEC.data, derived=(column,)))


def deep(levels: int) -> Expression:
    """Return a sum so deep."""
    found: Expression = A
    for _ in range(levels):
        one = Constant(value=Fraction(1))
        found = Call(function=Function.ADD, operands=(found, one))
    return found


def mapped(**changes: object) -> Expression:
    """Return a map with something else in it."""
    found = Map(
        operand=Reference(column="carrier"),
        pairs=(Pair(key="UA", value="big"),),
        otherwise=None,
        missing=None,
        digest=None,
    )
    return replace(found, **changes)  # type: ignore[arg-type]


SOUND: dict[str, Expression] = {
    "sum": deep(3),
    "deepest": deep(32),
    "map": mapped(),
    "map of a file": mapped(digest="0" * 64),
}
UNSOUND: dict[str, Expression] = {
    "deep": deep(33),
    "unknown column": Reference(column="nothing"),
    "id": Reference(column="tailnum"),
    "itself": Reference(column="d"),
    "date": Reference(column="when"),
    "constant": Constant(value=Fraction(1)),
    "word": Constant(value="true"),
    "too few operands": Call(function=Function.ADD, operands=(A,)),
    "too fine": Call(
        function=Function.ADD, operands=(A, Constant(value=Fraction(1, 10**30)))
    ),
    "part of a number": PartOf(part=CalendarPart.DAY, column="arr_delay"),
    "one edge": Bands(operand=A, edges=(Fraction(1),)),
    "edges that fall": Bands(operand=A, edges=(Fraction(1), Fraction(0))),
    "nested and": And(operands=(LATE, And(operands=(LATE, LATE)))),
    "lonely and": And(operands=(LATE,)),
    "empty list": Membership(column="arr_delay", values=()),
    "twice in a list": Listed(operand=A, values=(Fraction(1), Fraction(1))),
    "long list": Listed(operand=A, values=tuple(map(Fraction, range(3_000)))),
    "ends": Between(column="arr_delay", lower=Fraction(1), upper=Fraction(0)),
    "ends of a date": Ranged(
        operand=Reference(column="when"), lower="2013-02-01", upper="2013-01-01"
    ),
    "ends of two kinds": Ranged(
        operand=Reference(column="when"), lower="2013-02-01", upper=Fraction(1)
    ),
    "map of nothing": mapped(pairs=()),
    "map to a mark": mapped(pairs=(Pair(key="UA", value="a\u202eb"),)),
    "map to look-alikes": mapped(
        pairs=(Pair(key="UA", value="ﬁrst"),), otherwise="first"
    ),
    "map of a key twice": mapped(
        pairs=(Pair(key="UA", value="a"), Pair(key="UA", value="b"))
    ),
    "map of no key": mapped(pairs=(Pair(key="ZZ", value="a"),)),
    "digest": mapped(digest="x"),
}


@pytest.mark.parametrize("name", SOUND)
def test_sound_columns_pass(name: str) -> None:
    """What a text could have written is sound."""
    assert is_sound(deriving(SOUND[name]))


@pytest.mark.parametrize("name", UNSOUND)
def test_what_no_text_can_derive_is_unsound(name: str) -> None:
    """Every invariant that the model states in words is looked at."""
    assert lattice_of(deriving(UNSOUND[name]).data) is None
    assert not is_sound(deriving(UNSOUND[name]))


@pytest.mark.parametrize("name", ["arr_delay", "аrr_delay", "", "a`b"])
def test_names_are_new_and_unmistakable(name: str) -> None:
    """A derived column can be taken for no other."""
    assert not is_sound(deriving(A, name))


def test_old_formats_have_no_expressions() -> None:
    """A plan of format 3 has conditions of declared columns and literals only."""
    lattice = lattice_of(SPEC.data)
    assert lattice is not None
    for old in (False, True):
        assert is_condition(LATE, lattice, old=old)
    truth = Reference(column="big")
    assert is_condition(truth, lattice, old=False)
    assert not is_condition(truth, lattice, old=True)
    assert not is_sound(SPEC, FORMAT_3)


def test_a_condition_is_true_or_false() -> None:
    """A number is none, and neither is a constant."""
    lattice = lattice_of(SPEC.data)
    assert lattice is not None
    assert not is_condition(A, lattice, old=False)
    assert not is_condition(Constant(value="true"), lattice, old=False)
