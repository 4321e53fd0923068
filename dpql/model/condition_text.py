"""An expression as text: exact, and read back by the language as the same expression.

Nothing is cut or rounded. Keys and dates are always in quotes, so that no key can pass
for a number or for a condition of its own.
"""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from typing import assert_never

from dpql.model.expression import (
    And,
    Bands,
    Between,
    Call,
    Compared,
    Comparison,
    Condition,
    Constant,
    Expression,
    Function,
    IsMissing,
    IsNull,
    Listed,
    Literal,
    Map,
    Membership,
    Not,
    Or,
    PartOf,
    Ranged,
    Reference,
    Test,
)
from dpql.model.notation import column_text, name_text, number_text, quoted

_INFIX = {
    Function.ADD: 1,
    Function.SUBTRACT: 1,
    Function.MULTIPLY: 2,
    Function.FLOOR_DIVIDE: 2,
}
"""How tightly an operator binds."""

_OTHERS: AbstractSet[str] = frozenset()


def condition_text(condition: Condition, keys: AbstractSet[str] = _OTHERS) -> str:
    """Return the expression in the notation of a spec; different ones differ in text.

    Columns that are called like one of the ``keys`` stand in backquotes wherever a key
    could stand.
    """
    return _Writer(keys).text(condition)


def literal_text(value: Literal) -> str:
    """Return a number exactly, a key in quotes."""
    return quoted(value) if isinstance(value, str) else number_text(value)


class _Writer:
    """Writes one expression; whoever made it has bounded its depth."""

    def __init__(self, keys: AbstractSet[str]) -> None:
        self._keys = keys

    def text(self, expression: Expression) -> str:  # noqa: PLR0911, PLR0912, C901  one per kind
        match expression:
            case Reference(column=column):
                return column_text(column, self._keys)
            case Constant(value=value):
                return literal_text(value)
            case Call():
                return self._call(expression)
            case Bands(operand=operand, edges=edges):
                numbers = ", ".join(map(number_text, edges))
                return f"bands({self.text(operand)}, [{numbers}])"
            case Map():
                return self._map(expression)
            case PartOf(part=part, column=column):
                return f"{part.value}({name_text(column)})"
            case Comparison(column=column, operator=operator, value=value):
                return f"{name_text(column)} {operator.value} {literal_text(value)}"
            case Membership(column=column, values=values):
                return f"{name_text(column)} in {_list(values)}"
            case Between(column=column, lower=lower, upper=upper):
                ends = f"{number_text(lower)} and {number_text(upper)}"
                return f"{name_text(column)} between {ends}"
            case Compared(left=left, operator=operator, right=right):
                return f"{self._side(left)} {operator.value} {self._side(right)}"
            case Listed(operand=operand, values=values):
                return f"{self._side(operand)} in {_list(values)}"
            case Ranged(operand=operand, lower=lower, upper=upper):
                ends = f"{literal_text(lower)} and {literal_text(upper)}"
                return f"{self._side(operand)} between {ends}"
            case IsNull(column=column):
                return f"{name_text(column)} is null"
            case IsMissing(operand=operand):
                return f"is_null({self.text(operand)})"
            case Not(operand=IsNull(column=column)):
                return f"{name_text(column)} is not null"
            case Not(operand=operand):
                return f"not {self._operand(operand)}"
            case And(operands=operands):
                return " and ".join(map(self._operand, operands))
            case Or(operands=operands):
                return " or ".join(map(self._operand, operands))
            case _:
                assert_never(expression)

    def _operand(self, condition: Condition) -> str:
        # `and` inside `or` would need no parentheses, but a reader is glad of them.
        text = self.text(condition)
        return f"({text})" if isinstance(condition, And | Or) else text

    def _side(self, expression: Expression) -> str:
        """Return what stands beside a comparison."""
        text = self.text(expression)
        return f"({text})" if isinstance(expression, Test | Not | And | Or) else text

    def _call(self, call: Call) -> str:
        binding = _INFIX.get(call.function)
        if binding is None:
            operands = ", ".join(map(self.text, call.operands))
            return f"{call.function.value}({operands})"
        left, right = call.operands
        first = self._term(left, binding)
        second = self._term(right, binding + 1)
        return f"{first} {call.function.value} {second}"

    def _term(self, expression: Expression, binding: int) -> str:
        if isinstance(expression, Call):
            loose = _INFIX.get(expression.function, binding) < binding
            text = self._call(expression)
            return f"({text})" if loose else text
        return self._side(expression)

    def _map(self, found: Map) -> str:
        pairs = [f"{quoted(pair.key)}: {quoted(pair.value)}" for pair in found.pairs]
        text = f"map({self.text(found.operand)}, {{{', '.join(pairs)}}}"
        if found.otherwise is not None:
            text += f", else: {quoted(found.otherwise)}"
        if found.missing is not None:
            text += f", missing: {quoted(found.missing)}"
        return f"{text})"


def _list(values: tuple[Literal, ...]) -> str:
    return f"[{', '.join(map(literal_text, values))}]"
