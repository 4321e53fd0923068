"""Expressions as written: the untyped tree of a text, and where its parts stand."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum, auto


class Mark(Enum):
    """How a word is written, which tells what it may mean."""

    BARE = auto()
    """Without quotes: a column, or else a key."""
    COLUMN = auto()
    """In backquotes: always a column."""
    TEXT = auto()
    """In quotes: always a key."""
    NUMBER = auto()
    STAMP = auto()
    """A date, a time or a key of a part of dates, without quotes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """A column or a literal, and where it stands in the text."""

    text: str
    start: int
    end: int
    mark: Mark = Mark.BARE

    @property
    def depth(self) -> int:
        """Return the height of the tree; a word adds none to what holds it."""
        return 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing:
    """Literals in brackets: an argument of a function."""

    values: tuple[Piece, ...]
    start: int
    end: int
    depth: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Pairs:
    """Pairs of literals in braces: an argument of a function."""

    pairs: tuple[tuple[Piece, Piece], ...]
    start: int
    end: int
    depth: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Named:
    """`word: literal`, an argument of a function."""

    name: Piece
    value: Piece
    start: int
    end: int
    depth: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Use:
    """A function and its arguments; ``word`` may also be `+`, `-`, `*` or `//`.

    With one argument `-` is the sign.
    """

    word: Piece
    arguments: tuple[Argument, ...]
    start: int
    end: int
    depth: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Test:
    """A test of one operand; ``operator`` also names `in`, `between` and `is null`.

    A comparison has one value, which may be any expression; others have literals.
    """

    operand: Predicate
    operator: str
    values: tuple[Predicate, ...]
    start: int
    end: int
    depth: int


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


Predicate = Piece | Use | Test | Negation | Junction
Argument = Predicate | Listing | Pairs | Named

SIGN = {"+", "-", "*", "//"}
"""The functions that are written as operators."""


def use(
    word: Piece, arguments: tuple[Argument, ...], *, start: int, end: int
) -> Predicate:
    """Return the use of a function."""
    depth = 1 + max((argument.depth for argument in arguments), default=0)
    return Use(word=word, arguments=arguments, start=start, end=end, depth=depth)


def tested(
    operand: Predicate, operator: str, values: tuple[Predicate, ...], end: int
) -> Predicate:
    """Return the test of an operand."""
    return Test(
        operand=operand,
        operator=operator,
        values=values,
        start=operand.start,
        end=end,
        depth=1 + max(part.depth for part in (operand, *values)),
    )


def negation(operand: Predicate, start: int) -> Predicate:
    """Negate."""
    return Negation(
        operand=operand,
        start=start,
        end=operand.end,
        depth=1 + max(1, operand.depth),
    )


def junction(word: str, operands: list[Predicate]) -> Predicate:
    """Join predicates."""
    return Junction(
        word=word,
        operands=tuple(operands),
        start=operands[0].start,
        end=operands[-1].end,
        depth=1 + max(1, *(operand.depth for operand in operands)),
    )


def enclosed(predicate: Predicate, start: int, end: int) -> Predicate:
    """Return the predicate with its parentheses counted in its extent."""
    return replace(predicate, start=start, end=end)
