"""The footer of a Parquet file, written in thrift's compact protocol.

Only what a reader needs to find and decode the cells: no statistics, no annotations of
text, no schema of another format. Numbers of fields and types are those of the format's
`parquet.thrift`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

MAGIC = b"PAR1"

_INT32, _INT64, _BYTES, _LIST, _STRUCT = 5, 6, 8, 9, 12
_LONG = 15

Field = tuple[int, int, bytes]
"""A field of a struct: its number, its type and what it holds."""


@dataclass(frozen=True, slots=True)
class Leaf:
    """A column: its physical type, its annotation if any, and whether it has nulls."""

    kind: int
    annotation: int | None
    optional: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Chunk:
    """The cells of a column in a row group: where they lie, and how they are stored.

    ``pages`` and ``words`` say where its data begin and, if it has one, its dictionary.
    """

    start: int
    length: int
    pages: int
    words: int | None
    codec: int
    encodings: tuple[int, ...]
    cells: int
    unpacked: int

    def moved(self, start: int) -> Chunk:
        """Return the same cells as they lie in another file."""
        by = start - self.start
        return Chunk(
            start=start,
            length=self.length,
            pages=self.pages + by,
            words=None if self.words is None else self.words + by,
            codec=self.codec,
            encodings=self.encodings,
            cells=self.cells,
            unpacked=self.unpacked,
        )


def footer(
    leaves: Sequence[Leaf], groups: Sequence[tuple[int, Sequence[Chunk]]]
) -> bytes:
    """Return the end of a file; its columns are called 0, 1, 2 and so on.

    Args:
        leaves: the columns.
        groups: for each row group the number of its rows, and a chunk for each column.
    """
    root = _struct((4, _BYTES, _bytes(b"rows")), (5, _INT32, _integer(len(leaves))))
    columns = [_column(place, leaf) for place, leaf in enumerate(leaves)]
    count = sum(rows for rows, _ in groups)
    rows = [_group(leaves, chunks, rows) for rows, chunks in groups]
    told = _struct(
        (1, _INT32, _integer(1)),
        (2, _LIST, _list(_STRUCT, [root, *columns])),
        (3, _INT64, _integer(count)),
        (4, _LIST, _list(_STRUCT, rows)),
    )
    return told + len(told).to_bytes(4, "little") + MAGIC


def _column(place: int, leaf: Leaf) -> bytes:
    fields: list[Field] = [
        (1, _INT32, _integer(leaf.kind)),
        (3, _INT32, _integer(int(leaf.optional))),
        (4, _BYTES, _bytes(str(place).encode())),
    ]
    if leaf.annotation is not None:
        fields.append((6, _INT32, _integer(leaf.annotation)))
    return _struct(*fields)


def _group(leaves: Sequence[Leaf], chunks: Sequence[Chunk], rows: int) -> bytes:
    columns = [
        _struct(
            (2, _INT64, _integer(chunk.start)),
            (3, _STRUCT, _chunk(place, leaf, chunk)),
        )
        for place, (leaf, chunk) in enumerate(zip(leaves, chunks, strict=True))
    ]
    return _struct(
        (1, _LIST, _list(_STRUCT, columns)),
        (2, _INT64, _integer(sum(chunk.unpacked for chunk in chunks))),
        (3, _INT64, _integer(rows)),
    )


def _chunk(place: int, leaf: Leaf, chunk: Chunk) -> bytes:
    fields: list[Field] = [
        (1, _INT32, _integer(leaf.kind)),
        (2, _LIST, _list(_INT32, map(_integer, chunk.encodings))),
        (3, _LIST, _list(_BYTES, [_bytes(str(place).encode())])),
        (4, _INT32, _integer(chunk.codec)),
        (5, _INT64, _integer(chunk.cells)),
        (6, _INT64, _integer(chunk.unpacked)),
        (7, _INT64, _integer(chunk.length)),
        (9, _INT64, _integer(chunk.pages)),
    ]
    if chunk.words is not None:
        fields.append((11, _INT64, _integer(chunk.words)))
    return _struct(*fields)


def _struct(*fields: Field) -> bytes:
    """Return the fields, each after its distance from the one before it, and an end."""
    parts: list[bytes] = []
    before = 0
    for number, kind, value in fields:
        parts += (bytes([(number - before) << 4 | kind]), value)
        before = number
    return b"".join((*parts, b"\0"))


def _list(kind: int, items: Iterable[bytes]) -> bytes:
    held = list(items)
    if len(held) < _LONG:
        return b"".join((bytes([len(held) << 4 | kind]), *held))
    return b"".join((bytes([_LONG << 4 | kind]), _varint(len(held)), *held))


def _bytes(text: bytes) -> bytes:
    return _varint(len(text)) + text


def _integer(number: int) -> bytes:
    """Return a number that is not negative; those that are have the odd codes."""
    return _varint(2 * number)


def _varint(number: int) -> bytes:
    digits = bytearray()
    while number >= 1 << 7:
        digits.append(number & 127 | 128)
        number >>= 7
    digits.append(number)
    return bytes(digits)
