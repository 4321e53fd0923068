"""Comparisons read stored cells or whole numbers, and null goes by Kleene."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import pytest
from exact_rows import value_of
from expressions import DATA

from dpql.model import lattice_nodes as nodes
from dpql.model.expression import (
    And,
    CalendarPart,
    Call,
    Compared,
    Comparison,
    Constant,
    Expression,
    Function,
    IsNull,
    Listed,
    Membership,
    Not,
    Operator,
    Or,
    PartOf,
    Ranged,
    Reference,
)
from dpql.model.lattice_rules import Untyped

ONE = Fraction(1)


def less(column: str, value: Fraction | str) -> Comparison:
    """Return a comparison."""
    return Comparison(column=column, operator=Operator.LESS, value=value)


def equal(column: str, value: Fraction | str) -> Comparison:
    """Return another."""
    return Comparison(column=column, operator=Operator.EQUAL, value=value)


def test_kleene() -> None:
    """False decides `and`, true decides `or`; else null is null, and so is its not."""
    table = {0: Fraction(0), 1: Fraction(1), None: None}
    b, k = Reference(column="b"), equal("k", "UA")
    for first, second in product((0, 1, None), repeat=2):
        row = {"b": first, "k": None if second is None else 1 - second}
        both = value_of(DATA.lattice.typed(And(operands=(b, k))), DATA, row)
        either = value_of(DATA.lattice.typed(Or(operands=(b, k))), DATA, row)
        known = [x for x in (first, second) if x is not None]
        null = len(known) < 2
        assert both == table[0 if 0 in known else None if null else 1]
        assert either == table[1 if 1 in known else None if null else 0]
        negated = value_of(DATA.lattice.typed(Not(operand=b)), DATA, row)
        assert negated == table[None if first is None else 1 - first]


def test_plain_columns_are_read_as_they_are_stored() -> None:
    """Beyond the bounds, off the grid; what is missing counts as its fill."""
    assert ONE == value_of(
        DATA.lattice.typed(less("i", Fraction(-100))), DATA, {"i": -200}
    )
    assert ONE == value_of(
        DATA.lattice.typed(less("f", Fraction(15))), DATA, {"f": 14.999999999}
    )
    filled = DATA.lattice.typed(less("j", Fraction(21)))
    assert (ONE, False) == (value_of(filled, DATA, {"j": None}), filled.shape.nullable)
    pair = Compared(
        left=Reference(column="i"),
        operator=Operator.GREATER,
        right=Reference(column="j"),
    )
    assert ONE == value_of(DATA.lattice.typed(pair), DATA, {"i": 1000, "j": 999})
    assert ONE == value_of(DATA.lattice.typed(pair), DATA, {"i": 21, "j": None})
    null = DATA.lattice.typed(IsNull(column="j"))
    assert ONE == value_of(null, DATA, {"j": None})


def test_more_than_a_plain_column_is_clamped() -> None:
    """An expression has the bounds that the plan states."""
    twice = Call(function=Function.ADD, operands=(Reference(column="i"),) * 2)
    test = Compared(
        left=twice, operator=Operator.LESS, right=Constant(value=Fraction(-14))
    )
    node = DATA.lattice.typed(test)
    assert isinstance(node, nodes.Compare)
    assert 0 == value_of(node, DATA, {"i": -200})


def test_parts_are_compared_as_keys_and_as_numbers() -> None:
    """A text asks for the key, a number for the number."""
    hour = PartOf(part=CalendarPart.HOUR, column="s")
    row = {"s": 15_750 * 86_400 + 7 * 3_600}
    for test in (
        Compared(left=hour, operator=Operator.EQUAL, right=Constant(value="07")),
        Compared(left=hour, operator=Operator.LESS, right=Constant(value=Fraction(8))),
        Listed(operand=hour, values=(Fraction(7),)),
        Listed(operand=hour, values=("07", "08")),
        Ranged(operand=hour, lower=Fraction(13, 2), upper=Fraction(7)),
        Not(
            operand=Compared(
                left=Constant(value="08"), operator=Operator.EQUAL, right=hour
            )
        ),
    ):
        assert ONE == value_of(DATA.lattice.typed(test), DATA, row)


@pytest.mark.parametrize(
    "wrong",
    [
        less("k", "UA"),
        equal("k", "ZZ"),
        equal("k", ONE),
        equal("i", "UA"),
        equal("u", ONE),
        equal("u", "2013-02-29"),
        equal("u", "2013-02-03 12:00"),
        less("b", "true"),
        equal("b", "maybe"),
        Membership(column="k", values=("UA", "ZZ")),
        Ranged(operand=Reference(column="k"), lower="AA", upper="UA"),
        Compared(
            left=Reference(column="u"),
            operator=Operator.LESS,
            right=Reference(column="s"),
        ),
        Compared(
            left=Reference(column="u"),
            operator=Operator.LESS,
            right=Reference(column="i"),
        ),
        Compared(
            left=Reference(column="k"),
            operator=Operator.LESS,
            right=Reference(column="l"),
        ),
        And(operands=(Reference(column="b"), Reference(column="i"))),
        Not(operand=Reference(column="k")),
        Reference(column="nobody"),
    ],
    ids=str,
)
def test_what_cannot_be_compared_is_refused(wrong: Expression) -> None:
    """Before any data."""
    with pytest.raises(Untyped):
        DATA.lattice.typed(wrong)


def test_keys_of_two_columns_are_compared_by_their_texts() -> None:
    """Not by their places."""
    for operator, expected in (
        (Operator.EQUAL, [0, 1, 0]),
        (Operator.UNEQUAL, [1, 0, 1]),
    ):
        test = Compared(
            left=Reference(column="k"), operator=operator, right=Reference(column="l")
        )
        node = DATA.lattice.typed(test)
        found = [
            value_of(node, DATA, {"k": k, "l": other})
            for k, other in ((0, 0), (1, 0), (0, 1))
        ]
        assert expected == found
        assert value_of(node, DATA, {"k": None, "l": 0}) is None
