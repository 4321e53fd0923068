"""Whole numbers of a node are the exact value of its expression, on every row."""

from __future__ import annotations

from fractions import Fraction

import pytest
from exact_rows import Row, meaning, value_of
from expressions import DATA, expressions, rows
from hypothesis import given, settings
from hypothesis import strategies as st

from dpql.model.expression import Call, Constant, Expression, Function, Reference
from dpql.model.lattice_numbers import ARITY
from dpql.model.lattice_rules import Untyped


def number(value: int | str) -> Constant:
    """Return a constant."""
    return Constant(value=Fraction(value))


def call(name: str, *operands: Expression) -> Call:
    """Return a function of operands."""
    return Call(function=Function(name), operands=operands)


WHOLE, PARTS = Reference(column="i"), Reference(column="d")


@pytest.mark.property
@settings(max_examples=600, deadline=None)
@given(expression=expressions(6), given_rows=st.lists(rows(), min_size=3, max_size=3))
def test_a_node_computes_what_the_expression_means(
    expression: Expression, given_rows: list[Row]
) -> None:
    """Nulls, extremes and cells out of bounds included, nested to depth 6."""
    node = DATA.lattice.typed(expression)
    if node.shape.excess is not None:
        return
    for row in given_rows:
        value = value_of(node, DATA, row)
        assert meaning(expression, DATA, row) == value
        assert value is not None or node.shape.nullable


@pytest.mark.parametrize("z", range(-7, 10))
def test_quotients_are_floors_of_negative_numbers_too(z: int) -> None:
    """As Python divides; many engines divide towards 0."""
    row = {"i": z}
    for divisor in (2, -2, 7, -7):
        node = DATA.lattice.typed(call("//", WHOLE, number(divisor)))
        assert z // divisor == value_of(node, DATA, row)
    node = DATA.lattice.typed(call("round", WHOLE, number(4)))
    assert 4 * ((z + 2) // 4) == value_of(node, DATA, row)


@pytest.mark.parametrize(
    "wrong",
    [
        call("//", WHOLE, number(0)),
        call("//", WHOLE, PARTS),
        call("round", WHOLE, number(0)),
        call("round", WHOLE, number(-1)),
        call("round", WHOLE, PARTS),
        call("div", WHOLE, PARTS, number(0), number(1), number(0)),
        call("div", WHOLE, PARTS, number(1), number(0), number(1)),
        call("div", WHOLE, PARTS, number(0), number(1), number("0.3")),
        call("div", WHOLE, PARTS, WHOLE, number(1), number(1)),
        call("coalesce", WHOLE, PARTS),
        call("case", WHOLE, PARTS, PARTS),
        call("+", WHOLE, Reference(column="k")),
        call("+", WHOLE, Reference(column="u")),
        call("-", Reference(column="u"), Reference(column="s")),
        call("-", Reference(column="u"), WHOLE),
        call("abs", WHOLE, PARTS),
        call("min", WHOLE),
    ],
    ids=str,
)
def test_what_makes_no_sense_has_no_type(wrong: Expression) -> None:
    """It is refused before any data."""
    with pytest.raises(Untyped):
        DATA.lattice.typed(wrong)


def test_the_limit_is_2_to_the_62() -> None:
    """One below is computed, the limit itself is refused; so is all made of it."""
    wide = call("*", WHOLE, number((1 << 62) // 9))
    assert wide.operands
    most = DATA.lattice.typed(
        call("//", WHOLE, number("1/" + str(((1 << 62) - 1) // 9)))
    )
    assert most.shape.excess is None
    beyond = call("//", WHOLE, number("1/" + str(-(-(1 << 62) // 9))))
    assert 1 << 62 <= (DATA.lattice.typed(beyond).shape.excess or 0)
    further = call("min", call("abs", beyond), number(3))
    assert DATA.lattice.typed(further).shape.excess is not None


def test_numbers_do_not_grow_without_end() -> None:
    """What is beyond the limit is not computed any further."""
    found: Expression = WHOLE
    for _ in range(31):
        found = call("*", found, number("123456789/987654321"))
    assert DATA.lattice.typed(call("+", found, WHOLE)).shape.excess is not None


def test_every_function_has_its_operands() -> None:
    """Nothing is taken for a function of two by mistake."""
    assert set(Function) == set(ARITY)
