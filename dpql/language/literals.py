"""The meaning of literals: a number, a key, a date or a truth, by what they meet."""

from __future__ import annotations

from fractions import Fraction

from dpql.diagnostics import shown
from dpql.language import numbers
from dpql.language.predicate import Mark, Piece, Predicate
from dpql.language.suggestions import did_you_mean, quoted
from dpql.language.typed import Typed, Typer
from dpql.model.calendar import read_date, read_time
from dpql.model.expression import Literal, Reference
from dpql.model.lattice_keys import TRUTHS, keys_of
from dpql.model.lattice_nodes import Kind
from dpql.model.lattice_rules import is_numbered
from dpql.model.spec import CategoryColumn

_SHOWN_KEYS = 6


def literal(typer: Typer, found: Typed, piece: Piece, at: Predicate) -> Literal | None:
    """Return what a word means beside ``found``, or None after noting a fault.

    ``at`` is where ``found`` stands.
    """
    kind = found.node.shape.kind
    named = piece.mark is Mark.BARE and typer.context.is_column(piece.text)
    if piece.mark is Mark.COLUMN or (named and piece.text not in keys_of(found.node)):
        typer.add(
            "DPQL319",
            f"`{shown(piece.text)}` is a column, where only a constant can stand",
            piece,
            "join comparisons instead: `x == a or x == b`, `x >= a and x <= b`",
        )
        return None
    if kind is Kind.KEY and not (
        piece.mark is Mark.NUMBER and is_numbered(found.node, typer.lattice)
    ):
        return _key(typer, found, piece, at)
    if kind is Kind.BOOLEAN and piece.mark is not Mark.NUMBER:
        return _truth(typer, piece)
    if kind in (Kind.DATE, Kind.TIME):
        return _day(typer, found, piece, at)
    return _number(typer, found, piece, at)


def _key(typer: Typer, found: Typed, piece: Piece, at: Predicate) -> Literal | None:
    keys = found.node.shape.keys
    text = piece.text
    if piece.mark is Mark.NUMBER and _has_numbers(typer, found) and _is_whole(text):
        text = str(int(numbers.exact(text)))
    if text in keys:
        return text
    typer.add(
        "DPQL319",
        f"`{shown(piece.text)}` is not a key of `{typer.text(found, at)}`",
        piece,
        did_you_mean(piece.text, keys) or f"its keys are {quoted(keys[:_SHOWN_KEYS])}",
    )
    return None


def _has_numbers(typer: Typer, found: Typed) -> bool:
    """Tell whether the keys are numbers, however they are written."""
    if not isinstance(found.expression, Reference):
        return False
    column = typer.context.columns.get(found.expression.column)
    return isinstance(column, CategoryColumn) and column.numeric


def _is_whole(text: str) -> bool:
    return numbers.is_number(text) and numbers.exact(text).denominator == 1


def _truth(typer: Typer, piece: Piece) -> Literal | None:
    if piece.text in TRUTHS:
        return piece.text
    typer.add(
        "DPQL319",
        f"`{shown(piece.text)}` is neither true nor false",
        piece,
        did_you_mean(piece.text, typer.context.types) or "write `true` or `false`",
    )
    return None


def _day(typer: Typer, found: Typed, piece: Piece, at: Predicate) -> Literal | None:
    kind = found.node.shape.kind
    read = read_date if kind is Kind.DATE else read_time
    text = piece.text
    if piece.mark in (Mark.TEXT, Mark.STAMP) and read(text) is not None:
        return text
    form = "2013-06-01" if kind is Kind.DATE else "2013-06-01 12:30"
    typer.add(
        "DPQL319",
        f"`{shown(text)}` is not {kind.value}, and `{typer.text(found, at)}` is",
        piece,
        (did_you_mean(text, typer.context.types) if piece.mark is Mark.BARE else None)
        or f"write it like `{form}`",
    )
    return None


def _number(typer: Typer, found: Typed, piece: Piece, at: Predicate) -> Fraction | None:
    if piece.mark in (Mark.NUMBER, Mark.TEXT) and numbers.is_number(piece.text):
        return numbers.exact(piece.text)
    name = typer.text(found, at)
    kind = "a number"
    if isinstance(found.expression, Reference):
        kind = f"of type {typer.context.types.get(found.expression.column, '?')}"
    close = did_you_mean(piece.text, typer.context.types)
    typer.add(
        "DPQL319",
        f"`{shown(piece.text)}` is not a number, and `{name}` is {kind}",
        piece,
        (close if piece.mark is Mark.BARE else None)
        or "compare with a number such as `18`, `0.5` or `1/3`",
    )
    return None
