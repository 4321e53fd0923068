"""The footer of a Parquet file: where cells lie, read from one file, told of another.

Only what a reader needs to find and decode the cells is written: no statistics, no
annotations of text, no schema of another format. What is read is not trusted. Numbers
of fields and types are those of the format's `parquet.thrift`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from dpql.curator.engines.thrift import (
    BYTES,
    INT32,
    INT64,
    LIST,
    STRUCT,
    Damaged,
    Field,
    Struct,
    integer,
    items,
    read_struct,
    struct,
    text,
)

MAGIC = b"PAR1"

_CODECS = {0, 1, 2, 4, 6, 7}
"""Those that polars unpacks: none, snappy, gzip, brotli, zstd, and lz4 as it is now."""

_DATA_PAGES = {0, 3}
"""Kinds of pages that hold cells."""

BY_WORDS = {2, 8}
"""Encodings of cells that are words of a dictionary."""

_ENCODINGS = {0, 2, 3, 4, 8}
_FURTHER = {1: {5, 9}, 2: {5, 9}, 4: {9}, 5: {9}, 6: {6, 7}}
"""Physical type -> encodings that polars knows of it, besides those of all types."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Leaf:
    """A column: its physical type, its annotation if any, and whether it has nulls.

    ``length`` is that of all its cells, if one is fixed; a decimal has ``digits``: how
    many behind the point, and how many in all.
    """

    kind: int
    annotation: int | None = None
    optional: bool
    length: int | None = None
    digits: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Chunk:
    """The cells of a column in a row group: where they lie, and how they are stored.

    ``pages`` and ``words`` say where its data begin and, if it has one, its dictionary.
    ``by_words`` says that all cells are words of that, as far as the footer knows.
    """

    start: int
    length: int
    pages: int
    words: int | None
    codec: int
    encodings: tuple[int, ...]
    cells: int
    unpacked: int
    by_words: bool = False

    def moved(self, start: int) -> Chunk:
        """Return the same cells as they lie in another file."""
        by = start - self.start
        return replace(
            self,
            start=start,
            pages=self.pages + by,
            words=None if self.words is None else self.words + by,
        )

    def headed(self, more: int, more_unpacked: int) -> Chunk:
        """Return the same cells behind a dictionary of more bytes, or fewer."""
        return replace(
            self,
            length=self.length + more,
            pages=self.pages + more,
            unpacked=self.unpacked + more_unpacked,
        )


def row_groups(told: bytes) -> list[Struct]:
    """Return what a footer says of each row group.

    Raises:
        Damaged: it says nothing, or has secrets.
    """
    file, _ = read_struct(told, 0)
    found = file.get(4)
    if 8 in file or not isinstance(found, list):  # noqa: PLR2004  8 says how it is locked
        raise Damaged
    return found


def rows_of(group: Struct) -> int | None:
    """Return how many rows a row group says it has."""
    return _count(group, 3)


def chunk_of(group: Struct, place: int, kind: int, size: int) -> Chunk | None:
    """Return where a column of a row group lies, if that can be.

    Args:
        group: what the footer says of it.
        place: that of the column among all of them.
        kind: the physical type that it should have.
        size: how long the file is.
    """
    try:
        column = group[1][place]
        told = column[3]
        codec, kinds = told[4], tuple(told[2])
        known = _ENCODINGS | _FURTHER.get(kind, set())
        usual = codec in _CODECS and known.issuperset(kinds)
        plain = not column.get(1) and not {8, 9} & column.keys()
    except (KeyError, IndexError, TypeError, AttributeError):
        return None
    length, cells, unpacked = (_count(told, field) for field in (7, 5, 6))
    pages, words = _count(told, 9), _count(told, 11)
    if pages is None or not length or cells is None or unpacked is None:
        return None
    if words is not None and not 0 < words < pages:
        words = None
    start = pages if words is None else words
    sound = start >= len(MAGIC) and start + length <= size and told.get(1) == kind
    if not (usual and plain and sound):
        return None
    return Chunk(
        start=start,
        length=length,
        pages=pages,
        words=words,
        codec=codec,
        encodings=kinds,
        cells=cells,
        unpacked=unpacked,
        by_words=words is not None
        and pages < start + length
        and not _others(told.get(13)),
    )


def _others(pages: object) -> bool:
    """Tell whether some pages hold cells that are no words of the dictionary."""
    if not isinstance(pages, list):
        return False
    told = [(_count(page, 1), _count(page, 2)) for page in pages]
    return any(kind in _DATA_PAGES and how not in BY_WORDS for kind, how in told)


def _count(told: Struct, field: int) -> int | None:
    """Return a number that cannot be negative."""
    found = told.get(field) if isinstance(told, dict) else None
    return found if isinstance(found, int) and found >= 0 else None


def footer(
    leaves: Sequence[Leaf], groups: Sequence[tuple[int, Sequence[Chunk]]]
) -> bytes:
    """Return the end of a file; its columns are called 0, 1, 2 and so on.

    Args:
        leaves: the columns.
        groups: for each row group the number of its rows, and a chunk for each column.
    """
    root = struct((4, BYTES, text(b"rows")), (5, INT32, integer(len(leaves))))
    columns = [_column(place, leaf) for place, leaf in enumerate(leaves)]
    count = sum(rows for rows, _ in groups)
    rows = [_group(leaves, chunks, rows) for rows, chunks in groups]
    told = struct(
        (1, INT32, integer(1)),
        (2, LIST, items(STRUCT, [root, *columns])),
        (3, INT64, integer(count)),
        (4, LIST, items(STRUCT, rows)),
    )
    return told + len(told).to_bytes(4, "little") + MAGIC


def _column(place: int, leaf: Leaf) -> bytes:
    scale, precision = leaf.digits or (None, None)
    fields: list[tuple[int, int, int | None]] = [
        (1, INT32, leaf.kind),
        (2, INT32, leaf.length),
        (3, INT32, int(leaf.optional)),
        (6, INT32, leaf.annotation),
        (7, INT32, scale),
        (8, INT32, precision),
    ]
    held: list[Field] = [
        (number, kind, integer(value))
        for number, kind, value in fields
        if value is not None
    ]
    return struct(*sorted([*held, (4, BYTES, text(str(place).encode()))]))


def _group(leaves: Sequence[Leaf], chunks: Sequence[Chunk], rows: int) -> bytes:
    columns = [
        struct(
            (2, INT64, integer(chunk.start)),
            (3, STRUCT, _chunk(place, leaf, chunk)),
        )
        for place, (leaf, chunk) in enumerate(zip(leaves, chunks, strict=True))
    ]
    return struct(
        (1, LIST, items(STRUCT, columns)),
        (2, INT64, integer(sum(chunk.unpacked for chunk in chunks))),
        (3, INT64, integer(rows)),
    )


def _chunk(place: int, leaf: Leaf, chunk: Chunk) -> bytes:
    fields: list[Field] = [
        (1, INT32, integer(leaf.kind)),
        (2, LIST, items(INT32, map(integer, chunk.encodings))),
        (3, LIST, items(BYTES, [text(str(place).encode())])),
        (4, INT32, integer(chunk.codec)),
        (5, INT64, integer(chunk.cells)),
        (6, INT64, integer(chunk.unpacked)),
        (7, INT64, integer(chunk.length)),
        (9, INT64, integer(chunk.pages)),
    ]
    if chunk.words is not None:
        fields.append((11, INT64, integer(chunk.words)))
    return struct(*fields)
