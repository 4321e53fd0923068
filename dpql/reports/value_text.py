"""The values of a report as text and back: each kind once, and cells by the thousand.

The text is that of the codec, which reads and writes all else and could read and write
this: it takes ten times as long for a large report.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import cache, lru_cache
from itertools import islice, repeat
from json.encoder import encode_basestring
from sys import intern

from dpql.model.codec import Malformed, no_cycles, parse
from dpql.model.limits import LARGEST_RELEASE
from dpql.model.many_values import Cell, ManyValues
from dpql.reports.predicate import CellValue

Span = tuple[int, int]

_NEWLINE = "\n" + 8 * " "
"""What is before the member of a statistic in a statement."""

_OPEN = f'{_NEWLINE}"values": ['.encode()
_CLOSE = f"{_NEWLINE}]".encode()
_ITEM = f"{_NEWLINE}  {{{_NEWLINE}    "
_BETWEEN = f"{_NEWLINE}  }},{_ITEM}".encode()
_CELL = b'"cell": '
_AFTER_CELL = f',{_NEWLINE}    "lower": '.encode()

_LONGEST = 1_000
"""Characters of a number that is read here."""

_BATCH = 1 << 22
"""Bytes that are read together."""

_VALUES = 1 << 14
"""Values that are written together."""


def written(values: Sequence[CellValue], newline: str) -> Iterator[bytes]:
    """Yield the array of values; ``newline`` ends in the spaces before it."""
    many = ManyValues.of(values)
    if not many:
        yield b"[]"
        return
    item, member, text = (newline + count * " " for count in (2, 4, 6))

    @cache
    def key(name: str) -> str:
        return text + encode_basestring(name)

    def cell(names: Cell) -> str:
        return f"[{','.join(map(key, names))}{member}]" if names else "[]"

    def rest(kind: CellValue) -> str:
        noisy = ",".join([f'{text}"{x}"' for x in kind.noisy])
        return (
            f',{member}"lower": "{kind.lower}"'
            f',{member}"noisy": {f"[{noisy}{member}]" if noisy else "[]"}'
            f',{member}"upper": "{kind.upper}"'
            f',{member}"value": "{kind.value}"{item}}}'
        )

    opening = f'{item}{{{member}"cell": '
    texts = map("".join, zip(repeat(opening), map(cell, many.cells), many.each(rest)))
    before = "["
    while batch := list(islice(texts, _VALUES)):
        yield f"{before}{','.join(batch)}".encode()
        before = ","
    yield f"{newline}]".encode()


def cut_out(payload: bytes) -> tuple[bytes, list[Span]]:
    """Return a statement without its values, and where in its text they are."""
    rest, spans, last = [], [], 0
    while (start := payload.find(_OPEN, last) + len(_OPEN)) >= len(_OPEN):
        empty = payload.startswith(b"]", start)
        stop = start if empty else payload.find(_CLOSE, start)
        if stop < 0:
            break
        rest.append(payload[last:start])
        spans.append((start, stop))
        last = start if empty else stop + len(_CLOSE) - 1
    return b"".join((*rest, payload[last:])), spans


@no_cycles()
def read_values(payload: bytes, span: Span) -> ManyValues[CellValue]:
    """Return the values in a part of a statement that `written` may have written.

    Whoever believes them writes them again, and compares.

    Raises:
        Malformed: it has not.
    """
    index: dict[bytes, int] = {}
    which: list[int] = []
    cells: list[Cell] = []
    kinds: list[CellValue] = []
    for texts in _batches(payload, span):
        found = []
        for text in texts:
            cell, _, rest = text.partition(_AFTER_CELL)
            found.append(cell.removeprefix(_CELL))
            which.append(index.setdefault(rest, len(index)))
        cells += _cells(found)
        fresh = list(islice(reversed(index), len(index) - len(kinds)))
        try:
            kinds += map(_kind, reversed(fresh))
        except (ArithmeticError, IndexError, ValueError):
            raise Malformed("it is not as dpql writes it") from None
    return ManyValues(cells, which, kinds)


def _batches(payload: bytes, span: Span) -> Iterator[list[bytes]]:
    """Yield the texts of some values, without the brackets around each."""
    start, end = span
    start += len(_ITEM)
    end -= len(f"{_NEWLINE}  }}")
    while start < end:
        stop = payload.find(_BETWEEN, start + _BATCH, end)
        stop = end if stop < 0 else stop
        yield payload[start:stop].split(_BETWEEN)
        start = stop + len(_BETWEEN)


def _kind(text: bytes) -> CellValue:
    """Return what a text says behind its cell, whatever it is."""
    parts = text.split(b'"')
    return CellValue(
        cell=(),
        lower=_number(parts[1]),
        noisy=tuple(map(_number, parts[5:-8:2])),
        upper=_number(parts[-6]),
        value=_number(parts[-2]),
    )


@lru_cache(1 << 16)
def _number(text: bytes) -> Fraction:
    if len(text) > _LONGEST:
        raise Malformed("long numbers are for the codec")
    top, _, bottom = text.partition(b"/")
    return Fraction(int(top), int(bottom or 1))


def _cells(texts: list[bytes]) -> list[Cell]:
    document = parse(b"[%b]" % b",".join(texts), limit=LARGEST_RELEASE)
    if len(document) != len(texts) or {*map(type, document)} - {list}:
        raise Malformed("a cell is not an array")
    if {type(name) for cell in document for name in cell} - {str}:
        raise Malformed("a text is missing")
    return [tuple(map(intern, cell)) for cell in document]
