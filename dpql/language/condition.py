"""The meaning of a condition: declared columns and literals of their type."""

from __future__ import annotations

from dpql.diagnostics import shown
from dpql.errors import Span
from dpql.language import numbers
from dpql.language.context import Context
from dpql.language.grammar import SyntaxFault, parse_condition
from dpql.language.predicate import Junction, Negation, Piece, Predicate, Test
from dpql.language.suggestions import did_you_mean, quoted
from dpql.language.tree import Scalar
from dpql.model.limits import CONDITION
from dpql.model.notation import number_text
from dpql.model.spec import (
    And,
    Between,
    Comparison,
    Condition,
    IsNull,
    Literal,
    Membership,
    Not,
    NumberType,
    Operator,
    Or,
)

_NUMBERS = tuple(NumberType)
_EQUALITIES = ("==", "!=")


def resolve_condition(scalar: Scalar, context: Context) -> Condition | None:
    """Return the meaning of a `where`, or None after noting what is wrong."""
    if len(scalar.text) > CONDITION.longest:
        return None
    try:
        predicate, complaints = parse_condition(scalar.text)
    except SyntaxFault as fault:
        code, message, start, end, hint = fault.complaint
        context.add(code, message, scalar.part(start, end), hint)
        return None
    for code, message, start, end, hint in complaints:
        context.add(code, message, scalar.part(start, end), hint)
    return None if complaints else _Typer(scalar, context).condition(predicate)


class _Typer:
    """Types one condition; the parser has bounded its depth."""

    def __init__(self, scalar: Scalar, context: Context) -> None:
        self._scalar = scalar
        self._context = context

    def condition(self, predicate: Predicate) -> Condition | None:
        match predicate:
            case Negation(operand=operand):
                inner = self.condition(operand)
                return None if inner is None else Not(operand=inner)
            case Junction():
                return self._junction(predicate)
            case Test():
                return self._test(predicate)

    def _junction(self, junction: Junction) -> Condition | None:
        operands = [self.condition(operand) for operand in junction.operands]
        found = [operand for operand in operands if operand is not None]
        if len(found) < len(operands):
            return None
        flat: list[Condition] = []
        kind = And if junction.word == "and" else Or
        for operand in found:
            if isinstance(operand, kind):
                flat += operand.operands
            else:
                flat.append(operand)
        return kind(operands=tuple(flat))

    def _test(self, test: Test) -> Condition | None:
        column, name = test.column, test.column.text
        kind = self._context.declared(name, self._span(column))
        if kind is None:
            return None
        if kind == "id":
            use = "it cannot be in a condition"
            allowed = (*_NUMBERS, "category")
            self._context.typed(name, self._span(column), allowed, use)
            return None
        if test.operator == "is null":
            return IsNull(column=name)
        if kind == "category" and test.operator not in (*_EQUALITIES, "in"):
            self._context.add(
                "DPQL319",
                f"`{shown(name)}` is a category: its keys have no order",
                self._span(column),
                f"write `{shown(name)} in [...]`, or compare with `==` or `!=`",
            )
            return None
        values = [self._literal(value, name, kind) for value in test.values]
        found = [value for value in values if value is not None]
        return self._typed(test, found) if len(found) == len(values) else None

    def _typed(self, test: Test, values: list[Literal]) -> Condition | None:
        name = test.column.text
        if test.operator == "in":
            return self._membership(test, values)
        if test.operator != "between":
            operator = Operator(test.operator)
            return Comparison(column=name, operator=operator, value=values[0])
        lower, upper = values
        if isinstance(lower, str) or isinstance(upper, str):
            return None
        if lower > upper:
            self._context.add(
                "DPQL320",
                "`between` has its ends the wrong way round, so nothing passes",
                self._scalar.part(test.values[0].start, test.values[1].end),
                f"write `between {number_text(upper)} and {number_text(lower)}`",
            )
        return Between(column=name, lower=lower, upper=upper)

    def _membership(self, test: Test, values: list[Literal]) -> Condition:
        seen: dict[Literal, Piece] = {}
        for value, piece in zip(values, test.values, strict=True):
            if seen.setdefault(value, piece) is not piece:
                self._context.add(
                    "DPQL305",
                    f"`{shown(piece.text)}` is twice in the list",
                    self._span(piece),
                    "keep one of them",
                )
        return Membership(column=test.column.text, values=tuple(seen))

    def _literal(self, piece: Piece, name: str, kind: str) -> Literal | None:
        if kind == "category":
            return self._key(piece, name)
        if numbers.is_number(piece.text):
            return numbers.exact(piece.text)
        if kind in _NUMBERS:
            self._context.add(
                "DPQL319",
                f"`{shown(piece.text)}` is not a number, and `{shown(name)}` is of "
                f"type {kind}",
                self._span(piece),
                "compare with a number such as `18`, `0.5` or `1/3`",
            )
        return None

    def _key(self, piece: Piece, name: str) -> Literal | None:
        keys = self._context.keys(name)
        if piece.text in keys or not keys:
            return piece.text
        self._context.add(
            "DPQL319",
            f"`{shown(piece.text)}` is not a key of `{shown(name)}`",
            self._span(piece),
            did_you_mean(piece.text, keys) or f"its keys are {quoted(keys[:6])}",
        )
        return None

    def _span(self, piece: Piece) -> Span:
        return self._scalar.part(piece.start, piece.end)
