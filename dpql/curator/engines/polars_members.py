r"""Members of plain lines of JSON, found by searching text instead of parsing it.

A plain line is an object as programs write it:

    {"name": value, ...}    or    {"name":value,...}

Its values are strings, numbers, ``true``, ``false``, ``null`` and lists of these. Its
names hold no escapes, and no string holds an escaped quote. So in a plain line

- each quote opens or closes a string, by turns;
- between two strings stands a comma or a colon;
- a colon follows a string if and only if that string is a name.

A name without commas and colons is therefore found wherever ``"name":`` stands in the
line, and nowhere else. Any other line is for a parser, which is here, too.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping

import polars as pl

from dpql.curator.engines.polars_columns import Kind
from dpql.curator.engines.polars_objects import Value, column
from dpql.curator.engines.polars_text import encoded, float_words, word

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

_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_ESCAPES = re.compile(
    r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}"
    r"|\\u(?!00[0-7])[0-9a-fA-F]{4}"
)
"""Escapes of characters beyond ASCII, where every backslash begins an escape."""


class _Fraction(str):
    """A number that is no integer, as it is written."""

    __slots__ = ()


_read = json.JSONDecoder(parse_int=str, parse_float=_Fraction).decode
"""Numbers stay text: they may be longer than Python likes to read."""


def parsed(lines: Iterable[bytes], kinds: Mapping[str, Kind]) -> list[pl.Series]:
    """Return the columns of lines of any bytes, each parsed by itself.

    A line that is no JSON object is a row of nulls, and so is a member that is missing.
    """
    rows = [_row(line.removeprefix(_BYTE_ORDER_MARK)) for line in lines]
    return [
        column((_value(row.get(encoded(name)), kind) for row in rows), kind)
        for name, kind in kinds.items()
    ]


def _row(line: bytes) -> dict[bytes, object]:
    """Return the members of a line, with names and strings as bytes."""
    text = word(line)
    encoding = "utf-8" if text is not None else "latin-1"
    try:
        row = _read(_by_bytes(line) if text is None else text)
    except (ValueError, RecursionError):
        return {}
    if not isinstance(row, dict):
        return {}
    return {
        name.encode(encoding, "surrogatepass"): value.encode(encoding, "surrogatepass")
        if type(value) is str
        else value
        for name, value in row.items()
    }


def _by_bytes(line: bytes) -> str:
    r"""Return a line that is no UTF-8 as JSON text in which a character is a byte.

    Escapes of characters beyond ASCII give way to their bytes, which need none.
    """
    text = line.decode("latin-1").replace(r"\\", r"\u005c")
    return _ESCAPES.sub(_escaped_bytes, text)


def _escaped_bytes(found: re.Match[str]) -> str:
    """Return the bytes of an escaped character, or of a pair of surrogates."""
    code = int(found[0][2:6], 16)
    if len(found[0]) > len(r"\u0000"):
        code = 0x10000 + ((code - 0xD800) << 10) + int(found[0][8:], 16) - 0xDC00
    return encoded(chr(code)).decode("latin-1")


def _value(cell: object, kind: Kind) -> Value:
    """Return a value of JSON, with strings as bytes, as the column holds it."""
    number = kind is Kind.NUMBER
    match cell:
        case bytes():
            return word(cell) if number else cell
        case _Fraction():
            if kind is Kind.CATEGORY:
                double: float = json.loads(cell)
                return double
            return str(cell) if number else cell.encode()
        case True | False:
            truth = ("0", "1") if number else (b"false", b"true")
            return truth[cell]
        case float():
            return cell
    return None


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


def members(lines: pl.Series, kinds: Mapping[str, Kind]) -> list[pl.Series]:
    """Return the columns of plain lines, and of nulls, which give nulls."""
    frame = lines.alias("line").to_frame()
    values = frame.select(_last(name, str(i)) for i, name in enumerate(kinds))
    cells = values.select(_cell(str(i), kind) for i, kind in enumerate(kinds.values()))
    escaped = lines.str.contains("\\", literal=True).arg_true()
    return [
        _unescaped(cell, value, escaped, kind)
        for cell, value, kind in zip(cells, values, kinds.values(), strict=True)
    ]


def placed(cells: pl.Series, places: pl.Series, others: pl.Series) -> pl.Series:
    """Return the cells with others at some places."""
    if not len(places):
        return cells
    order = pl.int_range(len(cells), eager=True)
    order = order.scatter(places, pl.int_range(len(others), eager=True) + len(cells))
    return pl.concat([cells, others.alias(cells.name)]).gather(order)


def _last(name: str, alias: str) -> pl.Expr:
    """Return the last value of that name: a string with its first quote, or a word."""
    key = f'"{name}":'
    found = pl.col("line").str.extract_all(pl.escape_regex(key) + _VALUE).list.last()
    return found.str.strip_prefix(key).str.strip_chars_start(" ").alias(alias)


def _cell(alias: str, kind: Kind) -> pl.Expr:
    value = pl.col(alias)
    text: pl.Expr = pl.when(value != "").then(value.str.strip_prefix('"'))
    if kind is Kind.NUMBER:
        truth = pl.when(value == "true").then(pl.lit("1"))
        either = truth.when(value == "false").then(pl.lit("0"))
        return either.otherwise(text).alias(alias)
    if kind is Kind.CATEGORY:
        # A key that is a fraction has the text of its double, as in other formats.
        double = float_words(value.cast(pl.Float64, strict=False), pl.Float64)
        text = pl.when(value.str.contains(_FLOAT)).then(double).otherwise(text)
    return text.cast(pl.Binary).alias(alias)


def _unescaped(
    cells: pl.Series, values: pl.Series, places: pl.Series, kind: Kind
) -> pl.Series:
    """Return the cells, with those at the places that hold escapes read by Python."""
    held = values.gather(places)
    escaped = held.str.contains("\\", literal=True)
    strings = (encoded(_read(value + '"')) for value in held.filter(escaped))
    found = column((_value(string, kind) for string in strings), kind)
    return placed(cells, places.filter(escaped), found)
