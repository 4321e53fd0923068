"""Excerpts of Parquet files: some columns of some rows as a file of its own, in memory.

An excerpt holds the very bytes of the file under a new footer, which says of text that
it is bytes. So polars reads it as fast as it reads any file, and has no text to refuse.
"""

from __future__ import annotations

import io
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from dpql.curator.engines.files import Content
from dpql.curator.engines.parquet_alike import TEXT, alike
from dpql.curator.engines.parquet_footer import (
    Chunk,
    Leaf,
    chunk_of,
    row_groups,
    rows_of,
)
from dpql.curator.engines.thrift import Damaged, Struct

_LARGEST_ROWS = 1 << 22
_LARGEST_BYTES = 1 << 27
"""Row groups of more rows or bytes are too large to be read as a whole."""

_TAIL = 8
_LARGEST_FOOTER = 1 << 24
"""Footers of more bytes take too long to be read here."""

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

_DECIMAL = 5
_DECIMALS = {
    "INT32": (1, 9),
    "INT64": (2, 18),
    "FIXED_LEN_BYTE_ARRAY": (7, 38),
}
"""Physical type of a decimal -> its number, and how many digits it holds at most."""

_LONGEST_DECIMAL = 16

_OLD = re.compile(r"parquet-mr version 1\.[0-2]\b")
"""Writers that did not count all bytes of a dictionary."""

Wanted = Sequence[tuple[memoryview, int]]
"""Views to be filled, each with what a file holds from a place on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """A row group: how many rows it has, and where its columns lie.

    The bytes of ``made`` columns are in no file.
    """

    rows: int
    chunks: Mapping[str, Chunk]
    made: Mapping[str, bytes] = field(default_factory=dict, repr=False)

    def size(self, names: Iterable[str]) -> int:
        """Return how many bytes the columns take."""
        return sum(self.chunks[name].length for name in names)

    def is_small(self) -> bool:
        """Tell whether the row group can be held as a whole."""
        unpacked = sum(chunk.unpacked for chunk in self.chunks.values())
        return self.rows <= _LARGEST_ROWS and unpacked <= _LARGEST_BYTES


@dataclass(frozen=True, slots=True, kw_only=True)
class Excerpts:
    """A file of which excerpts can be made: its columns, and its row groups by place.

    Those row groups are missing that only Arrow can read.
    """

    content: Content = field(repr=False)
    size: int
    leaves: Mapping[str, Leaf]
    groups: Mapping[int, Group]

    def small(self) -> Excerpts:
        """Return the file without the row groups that are too large to be held."""
        few = {number: one for number, one in self.groups.items() if one.is_small()}
        return replace(self, groups=few)

    def beside(self, words: Mapping[str, bytes | None]) -> Excerpts:
        """Return the file with more columns, the cells of each of which are alike."""
        groups: dict[int, Group] = {}
        for number, group in self.groups.items():
            more = {name: alike(word, group.rows) for name, word in words.items()}
            groups[number] = replace(
                group,
                chunks={**group.chunks, **{n: chunk for n, (_, chunk) in more.items()}},
                made={name: stored for name, (stored, _) in more.items()},
            )
        leaves = {**self.leaves, **dict.fromkeys(words, TEXT)}
        return replace(self, leaves=leaves, groups=groups)

    def fill(self, wanted: Wanted) -> None:
        """Read parts of the file.

        Raises:
            OSError: it cannot be read, or is not what it was.
        """
        with _opened(self.content) as file:
            if _size(file) != self.size:
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
    content: Content, header: Any, kinds: Mapping[str, Any]
) -> Excerpts | None:
    """Return the file as far as excerpts with some columns can be made of it.

    Args:
        content: its path, what it holds, or where it can be had.
        header: the file as Arrow has opened it.
        kinds: the columns, each with its type of Arrow.
    """
    found: dict[str, tuple[int, Leaf]] = {}
    for place in range(header.metadata.num_columns):
        column = header.schema.column(place)
        if column.path == column.name and column.name in kinds:
            leaf = _leaf(column, kinds[column.name])
            if leaf is not None:
                found[column.name] = place, leaf
    if len(found) < len(kinds) or not kinds:
        return None
    if _OLD.match(header.metadata.created_by or ""):
        return None
    size, told = _ending(content)
    try:
        every = row_groups(told)
    except Damaged:
        return None
    groups = {
        number: group
        for number, one in enumerate(every)
        if (group := _group(one, found, size)) is not None
    }
    leaves = {name: leaf for name, (_, leaf) in found.items()}
    return Excerpts(content=content, size=size, leaves=leaves, groups=groups)


def _opened(content: Content) -> Any:
    if isinstance(content, str):
        return Path(content).open("rb", buffering=0)
    return io.BytesIO(content) if isinstance(content, bytes) else content.opened()


def _ending(content: Content) -> tuple[int, bytes]:
    """Return the size of a file, and its footer unless that is too large."""
    with _opened(content) as file:
        size = _size(file)
        file.seek(max(0, size - _TAIL))
        length = int.from_bytes(file.read(_TAIL)[:4], "little")
        if length > min(_LARGEST_FOOTER, size - _TAIL):
            return size, b""
        file.seek(size - _TAIL - length)
        return size, file.read(length)


def _size(file: Any) -> int:
    place: int = file.seek(0, os.SEEK_END)
    return place


def _leaf(column: Any, kind: Any) -> Leaf | None:
    """Return a column as excerpts have it, if polars and Arrow read it alike."""
    name = str(kind.value_type if str(kind).startswith("dictionary<") else kind)
    # Without lists and structs around it, a cell is there or it is not.
    optional = column.max_definition_level == 1
    if name.startswith("decimal"):
        return _decimal(column, optional=optional)
    name = "text" if name in _TEXT else name
    stored, number = _KINDS.get(name, (None, 0))
    if column.physical_type != stored:
        return None
    return Leaf(kind=number, annotation=_ANNOTATIONS.get(name), optional=optional)


def _decimal(column: Any, *, optional: bool) -> Leaf | None:
    number, most = _DECIMALS.get(column.physical_type, (0, 0))
    if not 0 <= column.scale <= column.precision <= most:
        return None
    fixed = number == _DECIMALS["FIXED_LEN_BYTE_ARRAY"][0]
    if fixed and not 0 < column.length <= _LONGEST_DECIMAL:
        return None
    return Leaf(
        kind=number,
        annotation=_DECIMAL,
        optional=optional,
        length=column.length if fixed else None,
        digits=(column.scale, column.precision),
    )


def _group(
    told: Struct, columns: Mapping[str, tuple[int, Leaf]], size: int
) -> Group | None:
    rows = rows_of(told)
    chunks: dict[str, Chunk] = {}
    for name, (place, leaf) in columns.items():
        chunk = chunk_of(told, place, leaf.kind, size)
        if chunk is None or chunk.cells != rows:
            return None
        chunks[name] = chunk
    return None if rows is None else Group(rows=rows, chunks=chunks)
