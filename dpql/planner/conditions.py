"""A condition as the words it was written in, for people."""

from __future__ import annotations

from fractions import Fraction
from typing import assert_never

from dpql.diagnostics import shown
from dpql.model.limits import KEY
from dpql.model.spec import (
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


def condition_text(condition: Condition) -> str:  # noqa: PLR0911  one per kind
    """Return the condition in the notation of a spec, parentheses where needed.

    Nothing is cut: two conditions that differ are two texts.
    """
    match condition:
        case Comparison(column=column, operator=operator, value=value):
            return f"{_whole(column)} {operator.value} {_literal(value)}"
        case Membership(column=column, values=values):
            return f"{_whole(column)} in [{', '.join(map(_literal, values))}]"
        case Between(column=column, lower=lower, upper=upper):
            return f"{_whole(column)} between {lower} and {upper}"
        case IsNull(column=column):
            return f"{_whole(column)} is null"
        case Not(operand=operand):
            return f"not {_inner(operand)}"
        case And(operands=operands):
            return " and ".join(_inner(operand) for operand in operands)
        case Or(operands=operands):
            return " or ".join(_inner(operand) for operand in operands)
        case _:
            assert_never(condition)


def columns_in(condition: Condition | None) -> set[str]:
    """Return the columns that a condition reads."""
    match condition:
        case None:
            return set()
        case Not(operand=operand):
            return columns_in(operand)
        case And(operands=operands) | Or(operands=operands):
            return set().union(*map(columns_in, operands))
        case _:
            return {condition.column}


def _whole(text: str) -> str:
    return shown(text, limit=KEY.longest)


def _inner(condition: Condition) -> str:
    text = condition_text(condition)
    return f"({text})" if isinstance(condition, And | Or) else text


def _literal(value: Literal) -> str:
    return str(value) if isinstance(value, Fraction) else f'"{_whole(value)}"'
