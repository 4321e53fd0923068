r"""Members of plain lines of JSON, found by searching text instead of parsing it.

A plain line is an object as programs write it:

    {"name": value, ...}    or    {"name":value,...}

Its values are strings, numbers, ``true``, ``false``, ``null`` and lists of these. Its
names hold no escapes, and no string holds an escaped quote. So in a plain line

- each quote opens or closes a string, by turns;
- between two strings stands a comma or a colon;
- a colon follows a string if and only if that string is a name.

A name without commas and colons is therefore found wherever ``"name":`` stands in the
line, and nowhere else. Any other line is for a parser.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping

import polars as pl

from dpql.curator.engines.polars_objects import objects
from dpql.curator.engines.polars_text import float_words

_MOST = 256
"""Columns; for many more, parsing a line is faster than searching it for each."""

_NAME = r'"[^"\\\x00-\x1f]*"'
_STRING = r'"(?:[^"\\\x00-\x1f]|\\[/bfnrt]|\\u[0-9A-Fa-f]{4})*"'
_NUMBER = r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?"
_ATOM = rf"(?:{_STRING}|{_NUMBER}|true|false|null)"
_MEMBER = rf"{_NAME}: ?(?:{_ATOM}|\[(?:{_ATOM}(?:, ?{_ATOM})*)?\])"
_PLAIN = rf"\A\{{{_MEMBER}(?:, ?{_MEMBER})*\}}\r?\z"

_VALUE = r' ?(?:"[^"]*|[-0-9tf][^,}]*)?'
"""A string but for its last quote, a number or a truth value; nothing of the others."""

_FLOAT = r"\A-?[0-9]+[.eE]"

read = json.JSONDecoder(parse_int=str).decode
"""Integers stay text: they may be longer than Python likes to read."""


def respelt(lines: pl.Series) -> pl.Series:
    r"""Return lines of JSON with ``\\`` as ``\u005c`` and ``\"`` as ``\u0022``.

    They mean the same, and every quote now opens or closes a string. Backslashes pair
    off from the left, here and in JSON; one outside a string remains a fault.
    """
    escaped = lines.str.contains(r'\\[\\"]')
    if not escaped.any():
        return lines
    pairs = lines.filter(escaped).str.replace_all(r"\\", r"\u005c", literal=True)
    others = pairs.str.replace_all(r"\"", r"\u0022", literal=True)
    return lines.scatter(escaped.arg_true(), others)


def plain(lines: pl.Series, names: Iterable[str]) -> pl.Series:
    """Tell which of the respelt lines are plain; none if a name cannot be searched."""
    wanted = list(names)
    if len(wanted) > _MOST or any(mark in name for name in wanted for mark in ":,"):
        return pl.repeat(False, len(lines), eager=True)
    return lines.str.contains(_PLAIN)


def members(lines: pl.Series, numbers: Mapping[str, bool]) -> list[pl.Series]:
    """Return columns of text by the rule for objects.

    Args:
        lines: plain lines, and nulls, which give nulls.
        numbers: the names, and whether each is declared to hold numbers.
    """
    frame = lines.alias("line").to_frame()
    values = frame.select(_last(name, str(i)) for i, name in enumerate(numbers))
    floats = values.select(pl.all().str.contains(_FLOAT))
    cells = values.select(
        _cell(str(i), number=number) for i, number in enumerate(numbers.values())
    )
    escaped = lines.str.contains("\\", literal=True).arg_true()
    return [
        _unescaped(_spelt(cell, value, float_), value, escaped, number=number)
        for cell, value, float_, number in zip(
            cells, values, floats, numbers.values(), strict=True
        )
    ]


def _last(name: str, alias: str) -> pl.Expr:
    """Return the last value of that name: a string with its first quote, or a word."""
    key = f'"{name}":'
    found = pl.col("line").str.extract_all(pl.escape_regex(key) + _VALUE).list.last()
    return found.str.strip_prefix(key).str.strip_chars_start(" ").alias(alias)


def _cell(alias: str, *, number: bool) -> pl.Expr:
    value = pl.col(alias)
    text = pl.when(value != "").then(value.str.strip_prefix('"'))
    if not number:
        return text.alias(alias)
    truth = pl.when(value == "true").then(pl.lit("1"))
    either = truth.when(value == "false").then(pl.lit("0"))
    return either.otherwise(text).alias(alias)


def _spelt(cells: pl.Series, values: pl.Series, floats: pl.Series) -> pl.Series:
    """Return the cells, with floats spelt as polars spells them."""
    numbers = values.filter(floats).cast(pl.Float64, strict=False)
    words = numbers.to_frame().select(float_words(pl.first(), pl.Float64)).to_series()
    return cells.scatter(floats.arg_true(), words)


def _unescaped(
    cells: pl.Series, values: pl.Series, places: pl.Series, *, number: bool
) -> pl.Series:
    """Return the cells, with those at the places that hold escapes read by Python."""
    held = values.gather(places)
    escaped = held.str.contains("\\", literal=True)
    strings = (read(value + '"') for value in held.filter(escaped))
    return cells.scatter(places.filter(escaped), objects(strings, number=number))
