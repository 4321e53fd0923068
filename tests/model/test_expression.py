"""A condition reads the columns of all its operands."""

from __future__ import annotations

from fractions import Fraction

from dpql.model.expression import (
    And,
    Between,
    Comparison,
    Condition,
    IsNull,
    Membership,
    Not,
    Operator,
    Or,
    columns_in,
)

ONE = Fraction(1)
EVERY: Condition = Or(
    operands=(
        And(
            operands=(
                Comparison(column="a", operator=Operator.LESS, value=ONE),
                Not(operand=Membership(column="b", values=("x",))),
            )
        ),
        Between(column="c", lower=ONE, upper=ONE),
        Not(operand=Not(operand=IsNull(column="d"))),
    )
)


def test_all_columns_of_a_condition_are_known() -> None:
    """A reviewer sees every column a filter reads."""
    assert set("abcd") == columns_in(EVERY)
    assert set() == columns_in(None)
