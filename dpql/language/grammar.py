"""The parser of query.lark, and its faults in plain words."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Any

from lark import Lark, Token, UnexpectedInput, UnexpectedToken, v_args
from lark.visitors import Transformer_NonRecursive

from dpql.diagnostics import shown
from dpql.language.known_mistakes import hint_at
from dpql.language.predicate import (
    Argument,
    Listing,
    Mark,
    Named,
    Pairs,
    Piece,
    Predicate,
    enclosed,
    junction,
    negation,
    tested,
    use,
)
from dpql.language.quoting import unquoted
from dpql.model.limits import DEEPEST
from dpql.model.notation import RESERVED
from dpql.statistics import ASKING, OPTIONS

_GRAMMAR = Path(__file__).with_name("query.lark")

_DESCRIBED = {
    "NAME": "a name",
    "BACKQUOTED": "a name",
    "NUMBER": "a number",
    "STRING": "a text in quotes",
    "STAMP": "a date",
    "ASKED": "a name",
    "OPERATOR": "a comparison such as `>=`",
    "_NEWLINE": "a new line",
    "$END": "the end",
}

_MOST_EXPECTED = 6
_CHAIN = "join comparisons by `and`: `x >= 1 and x < 5`"

_SLOTS = {"{number}": "NUMBER", "{numbers}": "numbers", "{rows}": "NUMBER _rows"}
"""What the grammar reads where a clause has a value."""

_QUOTED = r"`[^`\n]+`" + r"""|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'"""
_REMARK = re.compile(rf"{_QUOTED}|(?P<remark>--.*)", re.DOTALL)

Complaint = tuple[str, str, int, int, str | None]
"""A fault of a text: code, message, start and end in characters, hint."""


class SyntaxFault(Exception):
    """The text is not in the grammar."""

    def __init__(self, complaint: Complaint) -> None:
        super().__init__(complaint[1])
        self.complaint = complaint


class ConditionBuilder(Transformer_NonRecursive[Token, Any]):
    """Makes predicates from parse trees of any depth, without recursion."""

    def __init__(self) -> None:
        super().__init__()
        self.complaints: list[Complaint] = []

    def name(self, children: list[Token]) -> Piece:
        """Return a name, which is no word of the language."""
        (token,) = children
        self.refuse_reserved(token)
        return _piece(token)

    def operand(self, children: list[Token]) -> Piece:
        """Return a column, a number, a key, or a text."""
        (token,) = children
        if token.type == "NAME" and token in RESERVED:
            null = token.upper() == "NULL"
            self._complain(
                "DPQL124",
                f"`{token}` is a word of the language",
                token,
                "write `is null`"
                if null
                else f"write `'{token}'` for a key, and for a column `` `{token}` ``",
            )
        return _piece(token)

    literal = operand

    def refuse_reserved(self, token: Token) -> None:
        """Complain about a bare name that is a word of the language."""
        if token.type == "NAME" and token in RESERVED:
            self._complain(
                "DPQL124",
                f"`{token}` is a word of the language",
                token,
                f"to name a column so, put it in backquotes: `` `{token}` ``",
            )

    def disjunction(self, children: list[Any]) -> Predicate:
        """Join by `or`."""
        return junction("or", children[::2])

    def conjunction(self, children: list[Any]) -> Predicate:
        """Join by `and`."""
        return junction("and", children[::2])

    @v_args(inline=True)
    def negated(self, word: Token, operand: Predicate) -> Predicate:
        """Negate."""
        return negation(operand, _start(word))

    @v_args(inline=True)
    def parenthesised(self, left: Token, inner: Predicate, right: Token) -> Predicate:
        """Count the parentheses in."""
        return enclosed(inner, _start(left), _end(right))

    @v_args(inline=True)
    def comparison(self, left: Predicate, sign: Token, right: Predicate) -> Predicate:
        """Compare two operands."""
        return tested(left, str(sign), (right,), right.end)

    @v_args(inline=True)
    def membership(self, operand: Predicate, _in: Token, found: Listing) -> Predicate:
        """Look up in a list."""
        return tested(operand, "in", found.values, found.end)

    @v_args(inline=True)
    def between(
        self, operand: Predicate, _between: Token, lower: Piece, _and: Token, upper: Any
    ) -> Predicate:
        """Compare with both ends of an interval."""
        return tested(operand, "between", (lower, upper), upper.end)

    def null_test(self, children: list[Any]) -> Predicate:
        """Ask for nulls, or for the rest."""
        operand, *words = children
        test = tested(operand, "is null", (), _end(words[-1]))
        return negation(test, test.start) if "not" in words else test

    @v_args(inline=True)
    def infix(self, left: Predicate, sign: Token, right: Predicate) -> Predicate:
        """Add, subtract, multiply, or divide."""
        return use(_piece(sign), (left, right), start=left.start, end=right.end)

    @v_args(inline=True)
    def negative(self, sign: Token, operand: Predicate) -> Predicate:
        """Change the sign."""
        return use(_piece(sign), (operand,), start=_start(sign), end=operand.end)

    def call(self, children: list[Any]) -> Predicate:
        """Use a function."""
        word, _, *found, right = children
        arguments: tuple[Argument, ...] = tuple(found)
        return use(_piece(word), arguments, start=_start(word), end=_end(right))

    def named(self, children: list[Any]) -> Named:
        """`WORD: LITERAL`."""
        word, value = children
        return Named(name=_piece(word), value=value, start=_start(word), end=value.end)

    def pairs(self, children: list[Any]) -> Pairs:
        """`{LITERAL: LITERAL, ...}`."""
        left, *found, right = children
        return Pairs(pairs=tuple(found), start=_start(left), end=_end(right))

    def pair(self, children: list[Piece]) -> tuple[Piece, Piece]:
        """`LITERAL: LITERAL`."""
        key, value = children
        return key, value

    def list(self, children: list[Any]) -> Listing:
        """`[LITERAL, ...]`."""
        left, *found, right = children
        return Listing(values=tuple(found), start=_start(left), end=_end(right))

    def _complain(
        self, code: str, message: str, token: Token, hint: str | None
    ) -> None:
        self.complaints.append((code, message, _start(token), _end(token), hint))


def parse_condition(text: str) -> tuple[Predicate, list[Complaint]]:
    """Return the predicate of a condition and what is wrong with its words.

    Raises:
        SyntaxFault: the text is not a condition, has a remark, or is nested too deeply.
    """
    _refuse_remark(text)
    builder = ConditionBuilder()
    predicate: Predicate = parse("condition", text, builder, "DPQL122")
    check_depth(predicate)
    return predicate, builder.complaints


def _refuse_remark(text: str) -> None:
    """Raise at `--` outside quotes: a folded value has no line ends to end a remark."""
    for match in _REMARK.finditer(text):
        if match["remark"]:
            raise SyntaxFault(
                (
                    "DPQL126",
                    "`--` starts a remark in query text only",
                    match.start(),
                    match.end(),
                    "delete it, or write a YAML comment: `# ...`",
                )
            )


def check_depth(predicate: Predicate) -> None:
    """Raise when an expression is nested too deeply to be read by anybody."""
    if predicate.depth > DEEPEST:
        raise SyntaxFault(
            (
                "DPQL125",
                f"the expression is nested deeper than {DEEPEST} levels",
                predicate.start,
                predicate.end,
                "write it flat, or let some part of it be a derived column",
            )
        )


def parse(start: str, text: str, builder: ConditionBuilder, code: str) -> Any:
    """Return what the builder makes of the text, or raise `SyntaxFault`."""
    try:
        return builder.transform(_parser(start).parse(text))
    except UnexpectedInput as error:
        raise SyntaxFault(_complaint(error, text, code)) from error


def terminals() -> dict[str, str]:
    """Return the keywords of the grammar by terminal name."""
    return {
        terminal.name: terminal.pattern.value
        for terminal in _parser("spec").terminals
        if terminal.pattern.type == "str"
    }


def grammar_text() -> str:
    """Return the grammar with the rules of the options."""
    grammar = _GRAMMAR.read_text(encoding="utf-8")
    return grammar + _option_rules(grammar)


@cache
def _parser(start: str) -> Lark:
    return Lark(grammar_text(), parser="lalr", lexer="contextual", start=start)


def _option_rules(grammar: str) -> str:
    """Return the rules of the options' clauses, and the words that are new in them."""
    names = " | ".join(option.name for option in OPTIONS)
    clauses = {option.name: option.clause.split() for option in OPTIONS}
    words = {word for clause in clauses.values() for word in clause if word.isalpha()}
    rules = [
        f"{name}: {' '.join(_SLOTS.get(word, word.upper()) for word in clause)}"
        for name, clause in clauses.items()
    ]
    terminals = [
        f'{word.upper()}: "{word}"'
        for word in sorted(words)
        if f"\n{word.upper()}:" not in grammar
    ]
    # Only before its value does the word of an option go on with the line above: a
    # column or a statistic may have the same name.
    starts = "|".join(
        rf"{first}[ \t]+{second}\b" if second.isalpha() else rf"{first}[ \t]*[-\[0-9]"
        for first, second, *_ in clauses.values()
    )
    line_ends = r"\n(?:[ \t]*(?:--[^\n]*)?\n)*[ \t]*"
    continued = f"OPTION_CONTINUED.2: /{line_ends}(?={starts})/"
    asked = "ASKED: " + " | ".join(f'"{word}"' for word in ASKING)
    return "\n".join([f"\n_option: {names}", *rules, *terminals, continued, asked, ""])


def _complaint(error: UnexpectedInput, text: str, code: str) -> Complaint:
    position = error.pos_in_stream
    start = len(text) if position is None else max(0, position)
    end = start + 1
    if isinstance(error, UnexpectedToken):
        end = start + max(1, len(error.token))
        if error.token.type == "$END":
            start = end = len(text.rstrip())
    found = text[start:end].strip()
    message = f"`{shown(found)}` does not belong here" if found else "more is missing"
    mistake = _CHAIN if _is_chained(error) else hint_at(text, start)
    hint = mistake or _expected(error)
    return ("DPQL121" if mistake else code, message, start, start + len(found), hint)


def _is_chained(error: UnexpectedInput) -> bool:
    """Tell whether a comparison is compared again, as in `1 < x < 5`."""
    if not isinstance(error, UnexpectedToken) or error.token.type != "OPERATOR":
        return False
    return "AND" in (error.accepts or ())


def _expected(error: UnexpectedInput) -> str | None:
    names = getattr(error, "accepts", None) or getattr(error, "allowed", None) or ()
    words = sorted({_described(name) for name in names})
    if not words:
        return None
    if len(words) > _MOST_EXPECTED:
        words = [*words[:_MOST_EXPECTED], "..."]
    return f"expected {', '.join(words)}"


def _described(terminal: str) -> str:
    described = _DESCRIBED.get(terminal)
    return described or f"`{_parser('spec').get_terminal(terminal).pattern.value}`"


_MARKS = {
    "BACKQUOTED": Mark.COLUMN,
    "STRING": Mark.TEXT,
    "NUMBER": Mark.NUMBER,
    "STAMP": Mark.STAMP,
}


def _piece(token: Token) -> Piece:
    return Piece(
        text=unquoted(token),
        start=_start(token),
        end=_end(token),
        mark=_MARKS.get(token.type, Mark.BARE),
    )


def _start(token: Token) -> int:
    return token.start_pos or 0


def _end(token: Token) -> int:
    return token.end_pos or 0
