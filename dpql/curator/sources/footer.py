"""How the cells of a Parquet file are stored, as its footer says.

pyarrow tells it as well, but ends the process where a column is encrypted or one of its
statistics is damaged. A footer is a struct of Thrift's compact protocol:

    a struct     its fields, each behind its distance from the one before, and a zero
    an integer   seven bits a byte, the lowest first; 2n, or -1-2n for a negative n
    a list       its length and the type of its items, then the items
    bytes        their length, then themselves

Numbers of fields are those of the format's `parquet.thrift`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

_ROW_GROUPS = 4
_COLUMNS = 1
_METADATA = 3
_ENCODINGS, _SIZE = 2, 6

_TRUE, _FALSE, _BYTE, _DOUBLE, _BYTES = 1, 2, 3, 7, 8
_INTEGERS = (4, 5, 6)
_LISTS = (9, 10)
_STRUCT = 12
_LONG_LIST = 15
_DEEPEST = 16
_WORD = 64
_TAIL = 8
"""Bytes behind a footer: its length and a magic word."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Chunk:
    """The cells of a column in a row group; an encrypted one has neither.

    Attributes:
        encodings: the numbers of the encodings of its pages.
        size: its bytes when it is decompressed.
    """

    encodings: frozenset[int]
    size: int


def read_chunks(source: Any) -> list[list[Chunk]]:
    """Return the chunks of each row group, in the order of the leaves of the schema.

    Raises:
        ValueError: the footer is damaged.
    """
    size = source.size()
    source.seek(size - _TAIL)
    length = int.from_bytes(source.read(4), "little")
    source.seek(max(size - _TAIL - length, 0))
    try:
        fields, _ = _struct(source.read(length), 0, _DEEPEST)
        groups = [group[_COLUMNS] for group in fields[_ROW_GROUPS]]
        return [[_chunk(column.get(_METADATA)) for column in x] for x in groups]
    except (AttributeError, IndexError, KeyError, TypeError):
        raise ValueError from None


def _chunk(metadata: Any) -> Chunk:
    if metadata is None:
        return Chunk(encodings=frozenset(), size=0)
    return Chunk(encodings=frozenset(metadata[_ENCODINGS]), size=metadata[_SIZE])


def _struct(data: bytes, start: int, depth: int) -> tuple[dict[int, Any], int]:
    """Return the fields of a struct by their numbers, and the index behind it."""
    fields: dict[int, Any] = {}
    number = 0
    while byte := data[start]:
        start += 1
        if byte >> 4:
            number += byte >> 4
        else:
            number, start = _integer(data, start)
        kind = byte & 15
        if kind in (_TRUE, _FALSE):
            fields[number] = kind == _TRUE
        else:
            fields[number], start = _value(data, start, kind, depth)
    return fields, start + 1


def _value(data: bytes, start: int, kind: int, depth: int) -> tuple[Any, int]:
    if kind in _INTEGERS:
        return _integer(data, start)
    if kind == _BYTES:
        length, start = _unsigned(data, start)
        return data[start : start + length], start + length
    if kind in _LISTS and depth:
        return _list(data, start, depth - 1)
    if kind == _STRUCT and depth:
        return _struct(data, start, depth - 1)
    if kind in (_TRUE, _FALSE, _BYTE):
        return data[start], start + 1
    if kind == _DOUBLE:
        return data[start : start + 8], start + 8
    raise ValueError


def _list(data: bytes, start: int, depth: int) -> tuple[list[Any], int]:
    length, kind = data[start] >> 4, data[start] & 15
    start += 1
    if length == _LONG_LIST:
        length, start = _unsigned(data, start)
    items = []
    # Each item takes a byte at least, so a wrong length ends with the data.
    for _ in range(length):
        item, start = _value(data, start, kind, depth)
        items.append(item)
    return items, start


def _integer(data: bytes, start: int) -> tuple[int, int]:
    number, start = _unsigned(data, start)
    return (number >> 1) ^ -(number & 1), start


def _unsigned(data: bytes, start: int) -> tuple[int, int]:
    number = shift = 0
    while True:
        byte = data[start]
        start += 1
        number |= (byte & 127) << shift
        shift += 7
        if byte < 1 << 7:
            return number, start
        if shift >= _WORD:
            raise ValueError
