"""Thrift's compact protocol, as far as Parquet files need it.

    a struct    its fields, each behind its distance from the one before it, and a zero
    a number    seven bits a byte, the lowest first; twice the number, or -1 minus that
    a list      its length and the type of all its items, then the items
    bytes       their length, then themselves

What is read is not trusted: it ends in `Damaged` where it ends too early, nests too
deep, or makes no sense.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

INT32, INT64, BYTES, LIST, STRUCT = 5, 6, 8, 9, 12

Field = tuple[int, int, bytes]
"""A field of a struct: its number, its type and what it holds."""

Struct = dict[int, Any]
"""Fields by their numbers: integers, booleans, bytes, lists and structs."""

_STOP, _TRUE, _FALSE, _BYTE, _DOUBLE, _SET = 0, 1, 2, 3, 7, 10
_INTEGERS = (INT32, INT64, 4)
_LONG = 15
_DEEPEST = 16
_WORD = 64


class Damaged(Exception):
    """What should be thrift is none."""


def read_struct(data: bytes | memoryview, place: int) -> tuple[Struct, int]:
    """Return the struct that begins at a place, and the place behind it.

    Raises:
        Damaged: there is none.
    """
    try:
        return _struct(data, place, _DEEPEST)
    except IndexError:
        raise Damaged from None


def _struct(data: bytes | memoryview, place: int, depth: int) -> tuple[Struct, int]:
    fields: Struct = {}
    number = 0
    while True:
        byte = data[place]
        place += 1
        if byte == _STOP:
            return fields, place
        kind = byte & 15
        if byte >= 1 << 4:
            number += byte >> 4
        else:
            number, place = _integer(data, place)
        if kind in _INTEGERS:
            # Most fields are numbers of one byte or two: no call for them.
            byte = data[place]
            if byte < 1 << 7:
                fields[number] = (byte >> 1) ^ -(byte & 1)
                place += 1
            else:
                fields[number], place = _integer(data, place)
        elif kind in (_TRUE, _FALSE):
            fields[number] = kind == _TRUE
        else:
            fields[number], place = _value(data, place, kind, depth)


def _value(
    data: bytes | memoryview, place: int, kind: int, depth: int
) -> tuple[Any, int]:
    if kind in _INTEGERS:
        return _integer(data, place)
    if kind == BYTES:
        size, place = _varint(data, place)
        # What lies beyond the data is followed by no end of a struct.
        return bytes(data[place : place + size]), place + size
    if kind in (LIST, _SET) and depth:
        return _list(data, place, depth - 1)
    if kind == STRUCT and depth:
        return _struct(data, place, depth - 1)
    if kind in (_TRUE, _FALSE, _BYTE):
        return data[place], place + 1
    if kind == _DOUBLE:
        return bytes(data[place : place + 8]), place + 8
    raise Damaged


def _list(data: bytes | memoryview, place: int, depth: int) -> tuple[list[Any], int]:
    count, kind = data[place] >> 4, data[place] & 15
    place += 1
    if count == _LONG:
        count, place = _varint(data, place)
    items: list[Any] = []
    # Each item takes a byte at least, so a count that lies ends with the data.
    for _ in range(count):
        item, place = _value(data, place, kind, depth)
        items.append(item)
    return items, place


def _integer(data: bytes | memoryview, place: int) -> tuple[int, int]:
    byte = data[place]
    if byte < 1 << 7:
        return (byte >> 1) ^ -(byte & 1), place + 1
    number, place = _varint(data, place)
    return (number >> 1) ^ -(number & 1), place


def _varint(data: bytes | memoryview, place: int) -> tuple[int, int]:
    number = shift = 0
    while True:
        byte = data[place]
        place += 1
        number |= (byte & 127) << shift
        if byte < 1 << 7:
            return number, place
        shift += 7
        if shift >= _WORD:
            raise Damaged


def struct(*fields: Field) -> bytes:
    """Return a struct; its fields come in the order of their numbers."""
    parts: list[bytes] = []
    before = 0
    for number, kind, value in fields:
        parts += (bytes([(number - before) << 4 | kind]), value)
        before = number
    return b"".join((*parts, b"\0"))


def items(kind: int, some: Iterable[bytes]) -> bytes:
    """Return a list of things of one type."""
    held = list(some)
    if len(held) < _LONG:
        return b"".join((bytes([len(held) << 4 | kind]), *held))
    return b"".join((bytes([_LONG << 4 | kind]), varint(len(held)), *held))


def text(content: bytes) -> bytes:
    """Return bytes behind their length."""
    return varint(len(content)) + content


def integer(number: int) -> bytes:
    """Return a number that is not negative; those that are have the odd codes."""
    return varint(2 * number)


def varint(number: int) -> bytes:
    """Return a number in as few bytes as it takes."""
    digits = bytearray()
    while number >= 1 << 7:
        digits.append(number & 127 | 128)
        number >>= 7
    digits.append(number)
    return bytes(digits)
