"""The meaning of an expression: what its words stand for, and of which kind it is.

Everything that the lattice refuses is a fault at the operand that it refuses.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from dpql.diagnostics import shown
from dpql.errors import Span
from dpql.language import numbers
from dpql.language.comparisons import ambiguous, tested
from dpql.language.context import Context
from dpql.language.functions import FUNCTIONS, applied
from dpql.language.grammar import SyntaxFault, parse_condition
from dpql.language.predicate import (
    Argument,
    Junction,
    Mark,
    Negation,
    Piece,
    Predicate,
    Test,
    Use,
)
from dpql.language.tree import Scalar
from dpql.language.typed import Typed, Typer
from dpql.model.expression import (
    And,
    Constant,
    Expression,
    IsMissing,
    IsNull,
    Not,
    Or,
    Reference,
    columns_in,
)
from dpql.model.lattice_keys import TRUTHS
from dpql.model.lattice_nodes import Node
from dpql.model.lattice_rules import LIMIT, Untyped, as_truth
from dpql.model.limits import CONDITION
from dpql.statistics.statistic import PRIVATE

_UNREADABLE = frozenset({"id", PRIVATE})
"""The types of columns that no expression reads."""


def resolve_expression(scalar: Scalar, context: Context) -> Typed | None:
    """Return the meaning of an expression, or None after noting what is wrong."""
    if len(scalar.text) > CONDITION.longest:
        return None
    try:
        predicate, complaints = parse_condition(scalar.text)
    except SyntaxFault as fault:
        complaints = [fault.complaint]
    for code, message, start, end, hint in complaints:
        context.add(code, message, scalar.part(start, end), hint)
    if complaints:
        return None
    found = _Typer(scalar, context)
    typed = found.typed(predicate)
    if typed is None or not found.is_countable(typed.node, predicate):
        return None
    return typed


def resolve_condition(scalar: Scalar, context: Context) -> Expression | None:
    """Return the meaning of a condition, or None after noting what is wrong."""
    typed = resolve_expression(scalar, context)
    if typed is None:
        return None
    constant = not columns_in(typed.expression)
    try:
        as_truth(typed.node)
    except Untyped as fault:
        context.add(
            "DPQL360", fault.message, scalar.part(0, len(scalar.text)), fault.hint
        )
        return None
    if constant:
        context.add(
            "DPQL360",
            "the condition is the same for every row",
            scalar.part(0, len(scalar.text)),
            "compare a column with something, or delete it",
        )
        return None
    return typed.expression


class _Typer(Typer):
    """Types one expression; the parser has bounded its depth."""

    def __init__(self, scalar: Scalar, context: Context) -> None:
        self.scalar = scalar
        self.context = context
        self.lattice = context.lattice

    def typed(self, predicate: Predicate) -> Typed | None:
        match predicate:
            case Piece():
                return self._leaf(predicate)
            case Use():
                return applied(self, predicate)
            case Test():
                return tested(self, predicate)
            case Negation(operand=operand):
                found = self.typed(operand)
                if found is None:
                    return None
                return self.made(Not(operand=found.expression), [found], predicate)
            case Junction():
                return self._junction(predicate)

    def made(
        self, expression: Expression, operands: Sequence[Typed], at: Predicate
    ) -> Typed | None:
        """Return an expression with its node, or note that it has none."""
        nodes = [operand.node for operand in operands]
        try:
            node = self.lattice.combined(expression, nodes)
        except Untyped as fault:
            self.refuse(fault, at)
            return None
        for operand, part in zip(operands, _parts(at), strict=False):
            if isinstance(part, Piece) and not self.is_countable(operand.node, part):
                return None
        if not self.is_countable(node, at):
            return None
        return Typed(expression, node)

    def refuse(self, fault: Untyped, at: Predicate) -> None:
        """Note what has no type, at the operand that is to blame."""
        parts = _parts(at)
        blamed: Predicate = at
        if fault.operand is not None and fault.operand < len(parts):
            blamed = parts[fault.operand]
        self.add("DPQL360", fault.message, blamed, fault.hint or _usage(at))

    def is_countable(self, node: Node, at: Predicate) -> bool:
        """Tell whether all whole numbers on the way fit, or note that they do not."""
        excess = node.shape.excess
        if excess is None:
            return True
        if isinstance(at, Piece):
            # Compared with constants alone, its cells are read as they are.
            self.add(
                "DPQL362",
                f"`{shown(at.text)}` has more steps than can be computed with",
                at,
                "declare narrower bounds or larger steps",
            )
            return False
        digits = len(str(excess)) - 1
        self.add(
            "DPQL362",
            f"whole numbers of 10^{digits} and more may be met here; the most is "
            f"2^{LIMIT.bit_length() - 1}",
            at,
            "round an operand, as in `round(x, 0.1)`, or declare narrower bounds and "
            "larger steps",
        )
        return False

    def add(self, code: str, message: str, at: Argument, hint: str | None) -> None:
        """Note a fault of a part of the expression."""
        self.context.add(code, message, self.span(at), hint)

    def span(self, at: Argument) -> Span:
        """Return where a part of the expression stands."""
        return self.scalar.part(at.start, at.end)

    def _leaf(self, piece: Piece) -> Typed | None:
        """Return the meaning of a word that stands by itself."""
        match piece.mark:
            case Mark.NUMBER:
                return self._number(piece)
            case Mark.TEXT | Mark.STAMP:
                return self.made(Constant(value=piece.text), [], piece)
            case Mark.BARE if piece.text in TRUTHS:
                if self.context.is_column(piece.text):
                    ambiguous(self, piece, "true or false")
                    return None
                return self.made(Constant(value=piece.text), [], piece)
        return self.column(piece)

    def column(self, piece: Piece) -> Typed | None:
        """Return the column that a word names."""
        name, span = piece.text, self.span(piece)
        if name in self.context.below:
            self.add(
                "DPQL364",
                f"`{shown(name)}` is not declared above",
                piece,
                "a derived column names declared ones and derived ones above it",
            )
            return None
        kind = self.context.declared(name, span)
        if kind in _UNREADABLE:
            allowed = tuple(set(self.context.types.values()) - _UNREADABLE)
            self.context.typed(name, span, allowed, "it cannot be in a condition")
            return None
        if kind is None or name not in self.context.columns:
            return None
        return Typed(Reference(column=name), self.lattice.column(name))

    def _number(self, piece: Piece) -> Typed | None:
        value = self.number(piece)
        return None if value is None else self.made(Constant(value=value), [], piece)

    def number(self, piece: Piece) -> Fraction | None:
        """Return the number that a word is, or note that it is none."""
        if numbers.is_number(piece.text):
            return numbers.exact(piece.text)
        self.add(
            "DPQL319",
            f"`{shown(piece.text)}` is not a number",
            piece,
            "write it like `250`, `0.05`, `1e-9`, `2_000_000` or `1/3`, and spaces "
            "around a minus between numbers",
        )
        return None

    def _junction(self, junction: Junction) -> Typed | None:
        typed = [self.typed(operand) for operand in junction.operands]
        found = [one for one in typed if one is not None]
        if len(found) < len(typed):
            return None
        kind = And if junction.word == "and" else Or
        made = self.made(
            kind(operands=tuple(one.expression for one in found)), found, junction
        )
        if made is None:
            return None
        flat: list[Expression] = []
        for one in found:
            same = isinstance(one.expression, kind)
            flat += one.expression.operands if same else [one.expression]  # type: ignore[union-attr]
        return Typed(kind(operands=tuple(flat)), made.node)

    def missing(self, operand: Predicate, at: Predicate) -> Typed | None:
        """Return whether an operand is null."""
        found = self.typed(operand)
        match found:
            case None:
                return None
            case Typed(expression=Reference(column=name)):
                return self.made(IsNull(column=name), [], at)
            case _:
                return self.made(IsMissing(operand=found.expression), [found], at)

    def text(self, found: Typed, at: Predicate) -> str:
        """Return a word for an operand, for a message."""
        if isinstance(found.expression, Reference):
            return shown(found.expression.column)
        return shown(self.scalar.text[at.start : at.end])


def _usage(at: Predicate) -> str:
    """Return how what has no type is written."""
    signature = FUNCTIONS.get(at.word.text) if isinstance(at, Use) else None
    if signature is None:
        return "numbers go with numbers, dates with dates, keys with keys"
    return f"write it like `{signature.form}`"


def _parts(at: Predicate) -> tuple[Predicate, ...]:
    """Return the operands as the lattice counts them."""
    match at:
        case Use(arguments=arguments):
            return tuple(
                one
                for one in arguments
                if isinstance(one, Piece | Use | Test | Negation | Junction)
            )
        case Test(operand=operand, values=values):
            return (operand, *values)
        case Negation(operand=operand):
            return (operand,)
        case Junction(operands=operands):
            return operands
        case _:
            return ()
