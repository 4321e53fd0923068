"""The meaning of tests: comparisons, lists and intervals.

A bare word right of an operator is a column if one is declared, else a key; where it is
both, quotes or backquotes have to say which.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

from dpql.diagnostics import shown
from dpql.language.literals import literal
from dpql.language.predicate import Mark, Piece, Predicate, Test
from dpql.language.typed import Typed, Typer
from dpql.model.expression import (
    Between,
    Compared,
    Comparison,
    Constant,
    Listed,
    Literal,
    Membership,
    Operator,
    Ranged,
    Reference,
)
from dpql.model.lattice_keys import TRUTHS, keys_of
from dpql.model.lattice_nodes import Kind
from dpql.model.lattice_rules import described, is_numbered
from dpql.model.lattice_tests import MIRRORED
from dpql.model.notation import number_text

_EQUALITIES = (Operator.EQUAL, Operator.UNEQUAL)
_LITERALS = (Mark.TEXT, Mark.NUMBER, Mark.STAMP)


def tested(typer: Typer, test: Test) -> Typed | None:
    """Return the meaning of a test, or None after noting what is wrong."""
    if test.operator == "is null":
        return typer.missing(test.operand, test)
    if test.operator in ("in", "between"):
        return _among(typer, test)
    turned = _turned(test)
    if _is_key_first(typer, turned):
        return None
    found = typer.typed(turned.operand)
    return None if found is None else _compared(typer, turned, found)


def ambiguous(typer: Typer, piece: Piece, what: str) -> None:
    """Note a word that is a column and something else as well."""
    name = shown(piece.text)
    typer.add(
        "DPQL361",
        f"`{name}` is a column, and it is {what} as well",
        piece,
        f"write `'{name}'` for the key, or `` `{name}` `` for the column",
    )


def _turned(test: Test) -> Test:
    """Return a comparison with its literal on the right, if only one is on the left."""
    (right,) = test.values
    if not _is_literal(test.operand) or _is_literal(right):
        return test
    sign = Operator(test.operator)
    return replace(
        test,
        operand=right,
        operator=MIRRORED.get(sign, sign).value,
        values=(test.operand,),
    )


def _is_key_first(typer: Typer, test: Test) -> bool:
    """Tell whether a key seems to stand left of its column, and note it."""
    left, (right,) = test.operand, test.values
    if not isinstance(left, Piece) or not isinstance(right, Piece):
        return False
    known = typer.context.is_column
    first = left.mark is Mark.BARE and left.text not in TRUTHS and not known(left.text)
    if not first or right.text not in typer.context.columns or not known(right.text):
        return False
    if left.text not in typer.context.keys(right.text):
        return False
    typer.add(
        "DPQL301",
        f"no column `{shown(left.text)}` in data `{shown(typer.context.name)}`",
        left,
        f"put the column first, `{shown(right.text)} {test.operator} "
        f"{shown(left.text)}`, or the key in quotes",
    )
    return True


def _is_literal(predicate: Predicate) -> bool:
    return isinstance(predicate, Piece) and predicate.mark in _LITERALS


def _compared(typer: Typer, test: Test, left: Typed) -> Typed | None:
    operator, (right,) = Operator(test.operator), test.values
    if operator not in _EQUALITIES and _is_key(typer, left):
        _note_unordered(typer, test, left)
        return None
    if isinstance(right, Piece):
        if right.mark is Mark.BARE and _is_ambiguous(typer, right, left, test):
            return None
        if _means_literal(typer, right):
            return _with_literal(typer, test, left, right)
    other = typer.typed(right)
    if other is None:
        return None
    compared = Compared(left=left.expression, operator=operator, right=other.expression)
    return typer.made(compared, [left, other], test)


def _with_literal(typer: Typer, test: Test, left: Typed, right: Piece) -> Typed | None:
    value = literal(typer, left, right, test.operand)
    if value is None:
        return None
    operator = Operator(test.operator)
    if isinstance(left.expression, Reference):
        name = left.expression.column
        comparison = Comparison(column=name, operator=operator, value=value)
        return typer.made(comparison, [], test)
    constant = typer.made(Constant(value=value), [], right)
    if constant is None:
        return None
    compared = Compared(
        left=left.expression, operator=operator, right=constant.expression
    )
    return typer.made(compared, [left, constant], test)


def _means_literal(typer: Typer, piece: Piece) -> bool:
    """Tell whether a word right of an operator is a key, a number or a date."""
    if piece.mark is not Mark.BARE:
        return piece.mark is not Mark.COLUMN
    return not typer.context.is_column(piece.text)


def _is_ambiguous(typer: Typer, piece: Piece, left: Typed, test: Test) -> bool:
    """Tell whether a bare word is a column and a key, and note it."""
    both = typer.context.is_column(piece.text) and piece.text in keys_of(left.node)
    if both:
        ambiguous(typer, piece, f"a key of `{typer.text(left, test.operand)}`")
    return both


def _is_key(typer: Typer, found: Typed) -> bool:
    """Tell whether an operand is a key and no number."""
    key = found.node.shape.kind is Kind.KEY
    return key and not is_numbered(found.node, typer.lattice)


def _note_unordered(typer: Typer, test: Test, found: Typed) -> None:
    name = typer.text(found, test.operand)
    declared = isinstance(found.expression, Reference)
    what = "a category" if declared else described(found.node)
    typer.add(
        "DPQL319",
        f"`{name}` is {what}: its keys have no order",
        test.operand,
        f"write `{name} in [...]`, or compare with `==` or `!=`",
    )


def _among(typer: Typer, test: Test) -> Typed | None:
    """Return the meaning of `in` and of `between`."""
    found = typer.typed(test.operand)
    if found is None:
        return None
    if test.operator == "between" and _is_key(typer, found):
        _note_unordered(typer, test, found)
        return None
    pieces = [one for one in test.values if isinstance(one, Piece)]
    read = [literal(typer, found, one, test.operand) for one in pieces]
    values = [one for one in read if one is not None]
    if len(values) < len(read):
        return None
    if test.operator == "in":
        return _listed(typer, test, found, list(zip(values, pieces, strict=True)))
    return _ranged(typer, test, found, *values)


def _listed(
    typer: Typer, test: Test, found: Typed, values: Sequence[tuple[Literal, Piece]]
) -> Typed | None:
    seen: dict[Literal, Piece] = {}
    for value, piece in values:
        if seen.setdefault(value, piece) is not piece:
            typer.add(
                "DPQL305",
                f"`{shown(piece.text)}` is twice in the list",
                piece,
                "keep one of them",
            )
    if isinstance(found.expression, Reference):
        name = found.expression.column
        return typer.made(Membership(column=name, values=tuple(seen)), [], test)
    listed = Listed(operand=found.expression, values=tuple(seen))
    return typer.made(listed, [found], test)


def _ranged(
    typer: Typer, test: Test, found: Typed, lower: Literal, upper: Literal
) -> Typed | None:
    both = isinstance(lower, Fraction) and isinstance(upper, Fraction)
    if type(lower) is type(upper) and lower > upper:  # type: ignore[operator]
        first, last = test.values
        ends = [
            number_text(one) if isinstance(one, Fraction) else shown(one)
            for one in (upper, lower)
        ]
        typer.context.add(
            "DPQL320",
            "`between` has its ends the wrong way round, so nothing passes",
            typer.scalar.part(first.start, last.end),
            f"write `between {ends[0]} and {ends[1]}`",
        )
    if isinstance(found.expression, Reference) and both:
        assert isinstance(lower, Fraction)
        assert isinstance(upper, Fraction)
        name = found.expression.column
        return typer.made(Between(column=name, lower=lower, upper=upper), [], test)
    ranged = Ranged(operand=found.expression, lower=lower, upper=upper)
    return typer.made(ranged, [found], test)
