r"""Lines of JSON: a line is a row, whatever its neighbours are.

A line that is no JSON object is a row of nulls; a missing member is a null. polars' own
reader would join lines before it reads them, so that one line could make several rows.
So plain lines are searched for their members, many at once, and Python parses every
other line by itself. Both give the same cells. A plain line is an object as programs
write it:

    {"name": value, ...}    or    {"name":value,...}

Its values are strings, numbers, ``true``, ``false``, ``null`` and lists of these. Its
names hold no escapes, and no string holds an escaped quote. So in a plain line

- each quote opens or closes a string, by turns;
- between two strings stands a comma or a colon;
- a colon follows a string if and only if that string is a name.

A name without commas and colons is therefore found wherever ``"name":`` stands in the
line, and nowhere else.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial

import numpy as np
import polars as pl

from dpql.curator.columns import CanonicalColumn, Content
from dpql.curator.sources.canonical import (
    FrameCanonicaliser,
    decoded,
    float_texts,
    text,
)
from dpql.curator.sources.lines import BATCH_BYTES, count_lines, line_batches, opened
from dpql.curator.sources.locate import File, no_file
from dpql.curator.sources.objects import encoded, texts_and_floats
from dpql.curator.sources.prefetch import Task
from dpql.curator.sources.source import Fragment, Request
from dpql.model.spec import Data

_LONG_LINE = 1 << 24
"""Bytes; polars cannot hold a text of 2^32, so a longer line is parsed by itself."""

_MOST_COLUMNS = 256
"""For many more, parsing a line is faster than searching it for each."""

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
_NEWLINE = ord("\n")
_ESCAPES = re.compile(
    r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}"
    r"|\\u(?!00[0-7])[0-9a-fA-F]{4}"
)
"""Escapes of characters beyond ASCII, where every backslash begins an escape."""

_TRUTH: Mapping[Content, tuple[str | bytes, str | bytes]] = {
    Content.CODE: ("false", "true"),
    Content.ID: (b"false", b"true"),
}
"""Of other contents they are numbers."""

Columns = Mapping[str, Content]


class _Fraction(str):
    """A number that is no integer, as it is written."""

    __slots__ = ()


_read = json.JSONDecoder(parse_int=str, parse_float=_Fraction).decode
"""Numbers stay text: Python refuses to read very long ones."""


def ndjson_fragment(files: Sequence[File], data: Data) -> Fragment:
    """Return files of JSON lines.

    Raises:
        RunFault: DPQL501, a file cannot be read.
    """
    try:
        for file in files:
            opened(file).close()
    except OSError:
        raise no_file(data) from None

    def tasks(request: Request) -> Iterator[Task[pl.DataFrame]]:
        canonical = FrameCanonicaliser(request)
        for file in files:
            columns = _own(request.columns, file)
            for batch in line_batches(file, header=False, longest=_LONG_LINE):
                yield partial(_frames, batch, columns, file.values, canonical)

    return Fragment(
        types={column.name: pl.String() for column in data.columns},
        tasks=tasks,
        row_count=lambda: sum(count_lines(file, header=False) for file in files),
    )


def _own(columns: Iterable[CanonicalColumn], file: File) -> dict[str, Content]:
    """Return the columns that lines hold; the value of a folder comes first."""
    return {each.name: each.content for each in columns if each.name not in file.values}


def _frames(
    batch: bytes,
    columns: Columns,
    values: Mapping[str, bytes | None],
    canonical: FrameCanonicaliser,
) -> Iterator[pl.DataFrame]:
    others = [batch]
    if len(batch) <= BATCH_BYTES + _LONG_LINE:
        raw = _split(batch)
        lines = _without_escaped_quotes(decoded(raw))
        plain = _is_plain(lines, columns)
        found = lines.filter(plain)
        yield canonical(_members(found, columns), len(found), values)
        others = raw.filter(~plain).to_list()
    if others:
        yield canonical(_parsed(others, columns), len(others), values)


def _split(batch: bytes) -> pl.Series:
    """Return lines without their newlines."""
    ends = np.flatnonzero(np.frombuffer(batch, np.uint8) == _NEWLINE)
    if batch[-1] != _NEWLINE:
        ends = np.append(ends, len(batch))
    starts = np.append(0, ends[:-1] + 1)
    whole = pl.Series("batch", [batch], pl.Binary).new_from_index(0, len(ends))
    frame = pl.DataFrame([whole, pl.Series("start", starts), pl.Series("end", ends)])
    line = pl.col("batch").bin.slice("start", pl.col("end") - pl.col("start"))
    return frame.select(line).to_series()


def _without_escaped_quotes(lines: pl.Series) -> pl.Series:
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


def _is_plain(lines: pl.Series, columns: Columns) -> pl.Series:
    """Tell which lines are plain; none if a name cannot be searched for."""
    searchable = not any(mark in name for name in columns for mark in ":,")
    if len(columns) > _MOST_COLUMNS or not searchable:
        return pl.repeat(False, len(lines), eager=True)
    return lines.str.contains(_PLAIN).fill_null(False)


def _members(lines: pl.Series, columns: Columns) -> dict[str, pl.Series]:
    """Return the columns of plain lines."""
    frame = lines.to_frame("line")
    values = frame.select(_last(name).alias(str(i)) for i, name in enumerate(columns))
    cells = values.select(
        _cell(pl.col(str(i)), content).alias(str(i))
        for i, content in enumerate(columns.values())
    )
    escaped = lines.str.contains("\\", literal=True).arg_true()
    return {
        name: _unescaped(cell, value.gather(escaped), escaped, content)
        for (name, content), cell, value in zip(
            columns.items(), cells, values, strict=True
        )
    }


def _last(name: str) -> pl.Expr:
    """Return the last value of that name: a string with its first quote, or a word."""
    key = f'"{name}":'
    found = pl.col("line").str.extract_all(pl.escape_regex(key) + _VALUE).list.last()
    return found.str.strip_prefix(key).str.strip_chars_start(" ")


def _cell(value: pl.Expr, content: Content) -> pl.Expr:
    cell = pl.when(value != "").then(value.str.strip_prefix('"'))
    match content:
        case Content.CODE:
            # A key that is a fraction has the text of its double, as in other formats.
            double = value.cast(pl.Float64, strict=False)
            printed = double.map_batches(float_texts, return_dtype=pl.String())
            return pl.when(value.str.contains(_FLOAT)).then(printed).otherwise(cell)
        case Content.ID:
            return cell.cast(pl.Binary)
    truth = pl.when(value == "true").then(pl.lit("1"))
    return truth.when(value == "false").then(pl.lit("0")).otherwise(cell)


def _unescaped(
    cells: pl.Series, values: pl.Series, rows: pl.Series, content: Content
) -> pl.Series:
    """Return the cells; Python reads those of the rows whose values hold escapes."""
    escaped = values.str.contains("\\", literal=True).fill_null(False)
    strings = [encoded(_read(value + '"')) for value in values.filter(escaped)]
    if not strings:
        return cells
    found = texts_and_floats([_value(string, content) for string in strings], content)
    order = pl.int_range(len(cells), eager=True)
    moved = pl.int_range(len(cells), len(cells) + len(found), eager=True)
    order = order.scatter(rows.filter(escaped), moved)
    return pl.concat([cells, found.alias(cells.name)]).gather(order)


def _parsed(lines: Iterable[bytes], columns: Columns) -> dict[str, pl.Series]:
    """Return the columns of any lines, each parsed by itself."""
    rows = [_row(line.removeprefix(_BYTE_ORDER_MARK)) for line in lines]
    return {
        name: texts_and_floats(
            [_value(row.get(encoded(name)), content) for row in rows], content
        )
        for name, content in columns.items()
    }


def _row(line: bytes) -> dict[bytes, object]:
    """Return the members of a line, with names, strings and integers as bytes."""
    decoded_line = text(line)
    encoding = "utf-8" if decoded_line is not None else "latin-1"
    try:
        row = _read(_by_bytes(line) if decoded_line is None else decoded_line)
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
    r"""Return a line that is not UTF-8 as JSON text in which a character is a byte.

    Escapes of characters beyond ASCII give way to their bytes, which need none.
    """
    found = line.decode("latin-1").replace(r"\\", r"\u005c")
    return _ESCAPES.sub(_escaped_bytes, found)


def _escaped_bytes(found: re.Match[str]) -> str:
    """Return the bytes of an escaped character, or of a pair of surrogates."""
    code = int(found[0][2:6], 16)
    if len(found[0]) > len(r"\u0000"):
        code = 0x10000 + ((code - 0xD800) << 10) + int(found[0][8:], 16) - 0xDC00
    return encoded(chr(code)).decode("latin-1")


def _value(cell: object, content: Content) -> str | bytes | float | None:
    """Return a value of JSON, with strings as bytes, as text or as bytes of an id."""
    match cell:
        case bytes():
            return cell if content is Content.ID else text(cell)
        case _Fraction():
            if content is Content.CODE:
                double: float = json.loads(cell)
                return double
            return cell.encode() if content is Content.ID else str(cell)
        case True | False:
            return _TRUTH.get(content, ("0", "1"))[cell]
        case float():
            return cell
    return None
