"""Excerpts of Parquet files: some columns of some rows as a file of its own, in memory.

An excerpt holds the very bytes of the file under a new footer, which says of text that
it is bytes. So polars reads it as fast as it reads any file, and has no text to refuse.
"""

from __future__ import annotations

import io
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import cycle
from pathlib import Path
from typing import Any

from dpql.curator.engines.parquet_footer import MAGIC, Chunk, Leaf, footer

_LARGEST_ROWS = 1 << 22
_LARGEST_BYTES = 1 << 27
"""Row groups of more rows or bytes are too large to be read as a whole."""

_TEXT = {"string", "large_string", "string_view"}
_KINDS = {
    "bool": ("BOOLEAN", 0),
    "int8": ("INT32", 1),
    "int16": ("INT32", 1),
    "int32": ("INT32", 1),
    "int64": ("INT64", 2),
    "float": ("FLOAT", 4),
    "double": ("DOUBLE", 5),
    "text": ("BYTE_ARRAY", 6),
    "uint8": ("INT32", 1),
    "uint16": ("INT32", 1),
    "uint32": ("INT32", 1),
    "uint64": ("INT64", 2),
}
"""Type of Arrow -> the physical type that it should have, and its number.

Narrow integers are read as the wide ones that they are stored as.
"""

_ANNOTATIONS = {"uint32": 13, "uint64": 14}
_CODECS = {"UNCOMPRESSED": 0, "SNAPPY": 1, "GZIP": 2, "BROTLI": 4, "ZSTD": 6}
_ENCODINGS = {
    "PLAIN": 0,
    "PLAIN_DICTIONARY": 2,
    "RLE": 3,
    "BIT_PACKED": 4,
    "DELTA_BINARY_PACKED": 5,
    "DELTA_LENGTH_BYTE_ARRAY": 6,
    "DELTA_BYTE_ARRAY": 7,
    "RLE_DICTIONARY": 8,
    "BYTE_STREAM_SPLIT": 9,
}

_OLD = re.compile(r"parquet-mr version 1\.[0-2]\b")
"""Writers that did not count all bytes of a dictionary."""

Wanted = Sequence[tuple[memoryview, int]]
"""Views to be filled, each with what a file holds from a place on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """A row group: how many rows it has, and where its columns lie."""

    rows: int
    chunks: Mapping[str, Chunk]

    def size(self, names: Iterable[str]) -> int:
        """Return how many bytes the columns take."""
        return sum(self.chunks[name].length for name in names)


@dataclass(frozen=True, slots=True, kw_only=True)
class Excerpts:
    """A file of which excerpts can be made: its columns, and its row groups by place.

    Those row groups are missing that only Arrow can read.
    """

    content: str | bytes = field(repr=False)
    size: int
    leaves: Mapping[str, Leaf]
    groups: Mapping[int, Group]

    def fill(self, wanted: Wanted) -> None:
        """Read parts of the file.

        Raises:
            OSError: it cannot be read, or is not what it was.
        """
        if isinstance(self.content, bytes):
            for view, start in wanted:
                view[:] = self.content[start : start + len(view)]
            return
        with Path(self.content).open("rb", buffering=0) as file:
            if os.fstat(file.fileno()).st_size != self.size:
                raise OSError("a file changes while it is read")
            for view, start in wanted:
                file.seek(start)
                done = 0
                while done < len(view):
                    count = file.readinto(view[done:])
                    if not count:
                        raise OSError("a file ends while it is read")
                    done += count


def excerpts(
    content: str | bytes, header: Any, kinds: Mapping[str, Any]
) -> Excerpts | None:
    """Return the file as far as excerpts with some columns can be made of it.

    Args:
        content: its path, or what it holds.
        header: the file as Arrow has opened it.
        kinds: the columns, each with its type of Arrow.
    """
    known = header.metadata
    size, told = _ending(content)
    # Something follows the footer of a file with encrypted columns, of which pyarrow
    # must not be asked: it would abort the process.
    if told != known.serialized_size or not kinds or _OLD.match(known.created_by or ""):
        return None
    found: dict[str, tuple[int, Leaf]] = {}
    for place in range(known.num_columns):
        column = header.schema.column(place)
        if column.path == column.name and column.name in kinds:
            leaf = _leaf(column, kinds[column.name])
            if leaf is not None:
                found[column.name] = place, leaf
    if len(found) < len(kinds):
        return None
    places = {name: place for name, (place, _) in found.items()}
    groups = {
        number: group
        for number in range(known.num_row_groups)
        if (group := _group(known.row_group(number), places, size)) is not None
    }
    leaves = {name: leaf for name, (_, leaf) in found.items()}
    return Excerpts(content=content, size=size, leaves=leaves, groups=groups)


class Rooms:
    """Memory for excerpts, taken once and used in turn.

    An excerpt that is still held when its room is used again is kept as it is: then the
    room is copied, which costs time and changes nothing.
    """

    def __init__(self, size: int, count: int) -> None:
        self._size = size
        self._rooms = cycle([io.BytesIO(bytes(size)) for _ in range(count)])

    def room(self, size: int) -> io.BytesIO:
        """Return a room of at least this size."""
        return next(self._rooms) if size <= self._size else io.BytesIO(bytes(size))


def excerpt(
    parts: Sequence[tuple[Excerpts, Group]], names: Sequence[str], rooms: Rooms
) -> bytes:
    """Return a file with these columns of these row groups, which agree in leaves.

    Raises:
        OSError: a file cannot be read, or is not what it was.
    """
    groups: list[tuple[int, list[Chunk]]] = []
    place = len(MAGIC)
    for _, group in parts:
        chunks = []
        for name in names:
            chunks.append(group.chunks[name].moved(place))
            place += chunks[-1].length
        groups.append((group.rows, chunks))
    end = footer([parts[0][0].leaves[name] for name in names], groups)
    made = rooms.room(place + len(end))
    with made.getbuffer() as held:
        held[: len(MAGIC)] = MAGIC
        held[-len(end) :] = end
        for (file, group), (_, chunks) in zip(parts, groups, strict=True):
            file.fill(
                [
                    (held[new.start : new.start + new.length], group.chunks[name].start)
                    for name, new in zip(names, chunks, strict=True)
                ]
            )
    return made.getvalue()


def _ending(content: str | bytes) -> tuple[int, int]:
    """Return the size of a file, and that of its footer as the file tells it."""
    if isinstance(content, bytes):
        return len(content), int.from_bytes(content[-8:-4], "little")
    with Path(content).open("rb", buffering=0) as file:
        size = file.seek(-8, os.SEEK_END) + 8
        return size, int.from_bytes(file.read(4), "little")


def _leaf(column: Any, kind: Any) -> Leaf | None:
    """Return a column as excerpts have it, if polars and Arrow read it alike."""
    name = str(kind.value_type if str(kind).startswith("dictionary<") else kind)
    name = "text" if name in _TEXT else name
    stored, number = _KINDS.get(name, (None, 0))
    if column.physical_type != stored:
        return None
    # Without lists and structs around it, a cell is there or it is not.
    optional = column.max_definition_level == 1
    return Leaf(number, _ANNOTATIONS.get(name), optional)


def _group(known: Any, places: Mapping[str, int], size: int) -> Group | None:
    chunks: dict[str, Chunk] = {}
    for name, place in places.items():
        chunk = _chunk(known.column(place))
        if chunk is None or chunk.start + chunk.length > size:
            return None
        chunks[name] = chunk
    unpacked = sum(chunk.unpacked for chunk in chunks.values())
    if known.num_rows > _LARGEST_ROWS or unpacked > _LARGEST_BYTES:
        return None
    return Group(rows=known.num_rows, chunks=chunks)


def _chunk(known: Any) -> Chunk | None:
    codec = _CODECS.get(known.compression)
    encodings = [_ENCODINGS.get(name) for name in known.encodings]
    pages, words = known.data_page_offset, known.dictionary_page_offset
    if words is not None and not 0 < words < pages:
        words = None
    start = pages if words is None else words
    sound = (
        not known.file_path
        and start >= len(MAGIC)
        and known.total_compressed_size > 0
        and known.total_uncompressed_size >= 0
        and known.num_values >= 0
    )
    if codec is None or None in encodings or not sound:
        return None
    return Chunk(
        start=start,
        length=known.total_compressed_size,
        pages=pages,
        words=words,
        codec=codec,
        encodings=tuple(number for number in encodings if number is not None),
        cells=known.num_values,
        unpacked=known.total_uncompressed_size,
    )
