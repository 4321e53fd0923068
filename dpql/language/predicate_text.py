"""The canonical text of expressions as written.

What is written in quotes or backquotes where a column and a key could both stand keeps
them: only a reader who knows the columns could tell whether they are needed.
"""

from __future__ import annotations

from collections.abc import Set as AbstractSet

from dpql.language.predicate import (
    SIGN,
    Argument,
    Junction,
    Listing,
    Mark,
    Named,
    Negation,
    Pairs,
    Piece,
    Predicate,
    Test,
    Use,
)
from dpql.language.quoting import literal_text
from dpql.model.notation import column_text, is_bare

_BINDING = {"+": 1, "-": 1, "*": 2, "//": 2}
"""How tightly an operator binds."""

_SIGN_BINDS = 3
_NONE: AbstractSet[str] = frozenset()


def predicate_text(
    predicate: Predicate, columns: AbstractSet[str] | None = None
) -> str:
    """Return the canonical text; the depth is bounded by the parser.

    Where ``columns`` are known to be all that there are, a key that is none of them
    loses quotes that it does not need.
    """
    return _Writer(columns).text(predicate)


class _Writer:
    def __init__(self, columns: AbstractSet[str] | None) -> None:
        self._columns = columns

    def text(self, predicate: Predicate) -> str:
        match predicate:
            case Piece():
                return self._operand(predicate)
            case Use():
                return self._use(predicate)
            case Negation(operand=Test(operator="is null") as test):
                return f"{self._side(test.operand)} is not null"
            case Negation(operand=operand):
                inner = self.text(operand)
                joined = isinstance(operand, Junction)
                return f"not ({inner})" if joined else f"not {inner}"
            case Junction(word=word, operands=operands):
                return f" {word} ".join(self._joined(one, word) for one in operands)
            case Test():
                return self._test(predicate)

    def _operand(self, piece: Piece) -> str:
        """Return a word where only a column, a number or a truth can stand."""
        match piece.mark:
            case Mark.COLUMN:
                return column_text(piece.text, _NONE)
            case Mark.TEXT:
                return literal_text(piece.text)
            case _:
                return piece.text

    def _joined(self, predicate: Predicate, word: str) -> str:
        text = self.text(predicate)
        # Parentheses are needed only around `or` inside `and`, but a reader is glad of
        # both; around the same word they mean nothing.
        if isinstance(predicate, Junction) and predicate.word != word:
            return f"({text})"
        return text

    def _side(self, predicate: Predicate) -> str:
        """Return what stands beside a comparison or an operator."""
        text = self.text(predicate)
        return (
            f"({text})" if isinstance(predicate, Test | Negation | Junction) else text
        )

    def _test(self, test: Test) -> str:
        operand = self._side(test.operand)
        match test.operator:
            case "in":
                return f"{operand} in [{_literals(test.values)}]"
            case "between":
                lower, upper = map(_literal, test.values)
                return f"{operand} between {lower} and {upper}"
            case "is null":
                return f"{operand} is null"
            case operator:
                return f"{operand} {operator} {self._compared(test.values[0])}"

    def _compared(self, value: Predicate) -> str:
        """Return what stands right of an operator, where a bare word may be a key."""
        if not isinstance(value, Piece):
            return self._side(value)
        if value.mark is Mark.COLUMN:
            keys = {value.text} if self._columns is None else _NONE
            return column_text(value.text, keys)
        if value.mark is Mark.TEXT and self._columns is not None:
            free = value.text not in self._columns and is_bare(value.text)
            return value.text if free else literal_text(value.text)
        return self._operand(value)

    def _use(self, found: Use) -> str:
        word = found.word.text
        if word not in SIGN:
            arguments = ", ".join(map(self._argument, found.arguments))
            return f"{word}({arguments})"
        binding = _BINDING[word]
        if len(found.arguments) == 1:
            (operand,) = found.arguments
            text = self._term(operand, _SIGN_BINDS)
            return f"-({text})" if text.startswith("-") else f"-{text}"
        left, right = found.arguments
        return f"{self._term(left, binding)} {word} {self._term(right, binding + 1)}"

    def _term(self, argument: Argument, binding: int) -> str:
        assert not isinstance(argument, Listing | Pairs | Named)
        text = self._side(argument)
        if isinstance(argument, Use) and argument.word.text in SIGN:
            single = len(argument.arguments) == 1
            own = _SIGN_BINDS if single else _BINDING[argument.word.text]
            return f"({text})" if own < binding else text
        return text

    def _argument(self, argument: Argument) -> str:
        match argument:
            case Listing(values=values):
                return f"[{_literals(values)}]"
            case Pairs(pairs=pairs):
                words = (f"{_literal(one)}: {_literal(other)}" for one, other in pairs)
                return f"{{{', '.join(words)}}}"
            case Named(name=name, value=value):
                return f"{name.text}: {_literal(value)}"
            case _:
                return self.text(argument)


def _literals(values: tuple[Predicate, ...]) -> str:
    return ", ".join(map(_literal, values))


def _literal(value: Predicate) -> str:
    """Return a word where only a literal can stand, so that quotes say little."""
    assert isinstance(value, Piece)
    if value.mark is Mark.COLUMN:
        return column_text(value.text, {value.text})
    if value.mark is Mark.TEXT:
        return value.text if is_bare(value.text) else literal_text(value.text)
    return value.text
