"""Conditions as written: the untyped tree of a `where`, and its canonical text."""

from __future__ import annotations

from dataclasses import dataclass, replace

from dpql.language.quoting import literal_text
from dpql.model.notation import name_text


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """A column or literal of a condition, and where it stands in the text."""

    text: str
    start: int
    end: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Test:
    """A test of one column; ``operator`` also names `in`, `between` and `is null`."""

    column: Piece
    operator: str
    values: tuple[Piece, ...]
    start: int
    end: int

    @property
    def depth(self) -> int:
        """Return the height of the tree."""
        return 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Negation:
    """`not` something."""

    operand: Predicate
    start: int
    end: int
    depth: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Junction:
    """Several predicates joined by `and`, or by `or`."""

    word: str
    operands: tuple[Predicate, ...]
    start: int
    end: int
    depth: int


Predicate = Test | Negation | Junction


def junction(word: str, operands: list[Predicate]) -> Predicate:
    """Join predicates."""
    return Junction(
        word=word,
        operands=tuple(operands),
        start=operands[0].start,
        end=operands[-1].end,
        depth=1 + max(operand.depth for operand in operands),
    )


def enclosed(predicate: Predicate, start: int, end: int) -> Predicate:
    """Return the predicate with its parentheses counted in its extent."""
    return replace(predicate, start=start, end=end)


def predicate_text(predicate: Predicate) -> str:
    """Return the canonical text; the depth is bounded by the parser."""
    match predicate:
        case Negation(operand=Test(operator="is null") as test):
            return f"{name_text(test.column.text)} is not null"
        case Negation(operand=operand):
            inner = predicate_text(operand)
            return f"not ({inner})" if isinstance(operand, Junction) else f"not {inner}"
        case Junction(word=word, operands=operands):
            return f" {word} ".join(_operand(operand, word) for operand in operands)
        case Test():
            return _test(predicate)


def _operand(predicate: Predicate, word: str) -> str:
    text = predicate_text(predicate)
    # Parentheses are needed only around `or` inside `and`, but a reader is glad of
    # both; around the same word they mean nothing.
    if isinstance(predicate, Junction) and predicate.word != word:
        return f"({text})"
    return text


def _test(test: Test) -> str:
    column = name_text(test.column.text)
    values = [literal_text(value.text) for value in test.values]
    match test.operator:
        case "in":
            return f"{column} in [{', '.join(values)}]"
        case "between":
            return f"{column} between {values[0]} and {values[1]}"
        case "is null":
            return f"{column} is null"
        case operator:
            return f"{column} {operator} {values[0]}"
