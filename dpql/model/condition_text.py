"""A condition as text: exact, and read back by the language as the same condition."""

from __future__ import annotations

from fractions import Fraction
from typing import assert_never

from dpql.model.condition import (
    And,
    Between,
    Comparison,
    Condition,
    IsNull,
    Literal,
    Membership,
    Not,
    Or,
)
from dpql.model.notation import name_text, number_text, quoted


def condition_text(condition: Condition) -> str:  # noqa: PLR0911  one per kind
    """Return the condition in the notation of a spec; different ones differ in text.

    Nothing is cut or rounded. Keys are always in quotes, so that no key can pass for
    a number or for a condition of its own.
    """
    match condition:
        case Comparison(column=column, operator=operator, value=value):
            return f"{name_text(column)} {operator.value} {literal_text(value)}"
        case Membership(column=column, values=values):
            return f"{name_text(column)} in [{', '.join(map(literal_text, values))}]"
        case Between(column=column, lower=lower, upper=upper):
            ends = f"{number_text(lower)} and {number_text(upper)}"
            return f"{name_text(column)} between {ends}"
        case IsNull(column=column):
            return f"{name_text(column)} is null"
        case Not(operand=IsNull(column=column)):
            return f"{name_text(column)} is not null"
        case Not(operand=operand):
            return f"not {_operand(operand)}"
        case And(operands=operands):
            return " and ".join(map(_operand, operands))
        case Or(operands=operands):
            return " or ".join(map(_operand, operands))
        case _:
            assert_never(condition)


def literal_text(value: Literal) -> str:
    """Return a number exactly, a key in quotes."""
    return number_text(value) if isinstance(value, Fraction) else quoted(value)


def _operand(condition: Condition) -> str:
    # `and` inside `or` would need no parentheses, but a reader is glad of them.
    text = condition_text(condition)
    return f"({text})" if isinstance(condition, And | Or) else text
