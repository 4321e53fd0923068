"""Quotes in lines of separated values: a quoted cell may hold separators.

    cell  =  '"' ( any byte but '"'  |  '""' )* '"'     up to a separator or the end
          |  any bytes but separators

A quoted cell is what stands between its quotes, with doubled quotes made single. Any
other cell is its bytes as they are, quotes and all: so a quote that nothing closes on
its line opens nothing, and separators behind it separate.

polars reads lines that are UTF-8, many at once, and knows of no quotes. So in lines
whose quotes pair up, separators inside quotes become carriage returns, which such
lines do not hold; `unquoted` makes them separators again. All other lines are split
one by one. A line costs its own time and that of the kilobytes around it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np
import polars as pl

from dpql.curator.sources.canonical import text

_PART_BYTES = 1 << 15
"""Bytes that are looked at together."""

_ASCII = 128
_QUOTE, _NEWLINE, _RETURN = b'"'[0], b"\n"[0], b"\r"[0]


@dataclass(slots=True)
class Sorted:
    """Lines by the way in which they are read.

    Attributes:
        plain: UTF-8 without quotes.
        quoted: UTF-8 whose quoted cells have carriage returns for separators.
        others: to be split one by one.
    """

    plain: list[bytes | memoryview] = field(default_factory=list)
    quoted: list[bytes] = field(default_factory=list)
    others: list[bytes] = field(default_factory=list)


def sorted_out(lines: bytes, separator: bytes) -> Sorted:
    """Return lines by the way in which they are read, each ended by a newline."""
    found = Sorted()
    if lines and not lines.endswith(b"\n"):
        lines += b"\n"
    view, codes = memoryview(lines), np.frombuffer(lines, np.uint8)
    start = 0
    while start < len(lines):
        end = lines.find(b"\n", start + _PART_BYTES) + 1 or len(lines)
        if (
            lines.find(b'"', start, end) < 0
            and lines.find(b"\r", start, end) < 0
            and codes[start:end].max() < _ASCII
        ):
            found.plain.append(view[start:end])
        else:
            _sort(lines[start:end], separator, found)
        start = end
    return found


def _sort(part: bytes, separator: bytes, found: Sorted) -> None:
    """Sort lines of which some may have quotes, or are no plain ASCII."""
    if not _is_usual(part):
        held = [line + b"\n" for line in part[:-1].split(b"\n")]
        found.others += [line for line in held if not _is_usual(line)]
        part = b"".join(line for line in held if _is_usual(line))
    if b'"' not in part:
        found.plain.append(part)
        return
    quoted, others = _paired(part, separator)
    found.quoted.append(quoted)
    found.others += others


def split(line: bytes, separator: bytes) -> list[bytes | None]:
    """Return the cells of a line; None where nothing stands."""
    line = line.removesuffix(b"\n").removesuffix(b"\r")
    cells: list[bytes | None] = []
    cell, at = _cell(separator), 0
    while True:
        found = cell.match(line, at)
        assert found is not None, "the second form of a cell holds anywhere"
        inside = found[1]
        written = found[0] if inside is None else inside.replace(b'""', b'"')
        cells.append(written if found[0] else None)
        at = found.end() + 1
        if at > len(line):
            return cells


def unquoted(name: str, separator: str) -> pl.Expr:
    """Return a column of cells from `Sorted.quoted` without their quotes."""
    cell = pl.col(name)
    inside = (
        cell.str.strip_prefix('"')
        .str.strip_suffix('"')
        .str.replace_all('""', '"', literal=True)
        .str.replace_all("\r", separator, literal=True)
    )
    return pl.when(cell.str.starts_with('"')).then(inside).otherwise(cell).alias(name)


@lru_cache(maxsize=8)
def _cell(separator: bytes) -> re.Pattern[bytes]:
    # No part of it can give back what it took, so a line is walked once.
    mark = re.escape(separator)
    inside = rb'[^"]*+(?:""[^"]*+)*+'
    return re.compile(rb'"(%s)"(?=%s|\Z)|[^%s]*+' % (inside, mark, mark))


def _is_usual(lines: bytes) -> bool:
    """Tell whether lines are UTF-8, with carriage returns only where lines end."""
    return not (b"\r" in lines and _strays(lines)) and text(lines) is not None


def _strays(lines: bytes) -> int:
    """Return how many carriage returns stand before no newline.

    `bytes.count` takes five times as long.
    """
    cells = np.frombuffer(lines, dtype=np.uint8)
    returns = cells == _RETURN
    ended = returns[:-1] & (cells[1:] == _NEWLINE)
    return int(np.count_nonzero(returns) - np.count_nonzero(ended))


def _paired(lines: bytes, separator: bytes) -> tuple[bytes, list[bytes]]:
    """Return lines with their quoted separators replaced, and those that do not pair.

    By turns, a quote opens and closes. One that opens stands where a cell begins, or
    behind one that closes: then the two are a doubled quote. The same holds backwards.
    A line in which no cell begins with a quote has nothing to pair.
    """
    mark = separator[0]
    cells = np.frombuffer(b"\n" + lines, dtype=np.uint8).copy()
    quotes = np.flatnonzero(cells == _QUOTE)
    ends = np.flatnonzero(cells[1:] == _NEWLINE) + 1
    line = np.searchsorted(ends, quotes)
    opens = (np.arange(len(quotes)) - np.searchsorted(line, line)) % 2 == 0
    before, after = cells[quotes - 1], cells[quotes + 1]
    begins = (before == mark) | (before == _NEWLINE)
    finishes = (after == mark) | (after == _NEWLINE) | (after == _RETURN)
    final = np.append(line[1:] != line[:-1], True)
    fits = np.where(
        opens,
        (begins | (before == _QUOTE)) & ~final,
        finishes | (after == _QUOTE),
    )
    has_quoted = np.zeros(len(ends), dtype=bool)
    has_quoted[line[begins]] = True
    broken = np.zeros(len(ends), dtype=bool)
    broken[line[~fits]] = True
    pairs = has_quoted & ~broken
    turns = np.zeros(len(cells), dtype=np.int8)
    turns[quotes] = np.where(pairs[line], np.where(opens, 1, -1), 0)
    cells[(np.cumsum(turns, dtype=np.int8) == 1) & (cells == mark)] = _RETURN
    replaced = cells.tobytes()
    kept, others, start = [], [], 1
    starts = np.append(1, ends + 1)
    for index in np.flatnonzero(has_quoted & broken).tolist():
        first, last = int(starts[index]), int(starts[index + 1])
        kept.append(replaced[start:first])
        others.append(replaced[first:last])
        start = last
    kept.append(replaced[start:])
    return b"".join(kept), others
