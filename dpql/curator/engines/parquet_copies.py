"""Excerpts of Parquet files, made: columns of row groups copied under a new footer."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import cycle

from dpql.curator.engines.parquet_excerpts import Excerpts, Group
from dpql.curator.engines.parquet_footer import BY_WORDS, MAGIC, Chunk, footer
from dpql.curator.engines.parquet_pages import check_pages
from dpql.curator.engines.parquet_words import NUMBER, Places, numbered

Part = tuple[Excerpts, Group]

Head = tuple[bytes, Chunk]
"""A dictionary, and the chunk that begins with it."""


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


@dataclass(frozen=True, slots=True)
class _Column:
    """Cells to be copied: what stands before them, and where they begin in a file."""

    name: str
    head: bytes
    source: int
    chunk: Chunk


class _Mixed(Exception):
    """Not all cells of a column are words of its dictionary."""


def excerpt(
    parts: Sequence[Part],
    names: Sequence[str],
    rooms: Rooms,
    places: Mapping[str, Places] | None = None,
) -> tuple[bytes, frozenset[str]]:
    """Return a file with these columns of these row groups, which agree in leaves.

    In columns with ``places``, places stand instead of words, if all cells are words of
    dictionaries. The names of those columns are returned, too.

    Raises:
        OSError: a file cannot be read, or is not what it was.
        Damaged: its pages are not what its footer says.
    """
    heads = {name: _heads(parts, name, known) for name, known in (places or {}).items()}
    found = {name: some for name, some in heads.items() if some}
    try:
        return _made(parts, names, rooms, found), frozenset(found)
    except _Mixed:
        return _made(parts, names, rooms, {}), frozenset()


def _heads(parts: Sequence[Part], name: str, places: Places) -> list[Head]:
    """Return new dictionaries for a column, and the chunks behind them; or nothing."""
    heads: list[Head] = []
    for file, group in parts:
        chunk = group.chunks[name]
        size = chunk.pages - chunk.start
        if name in group.made:
            words = memoryview(group.made[name])[:size]
        else:
            words = memoryview(bytearray(size))
            file.fill([(words, chunk.start)])
        head = numbered(words, chunk, places)
        if head is None:
            return []
        heads.append(head)
    return heads


def _made(
    parts: Sequence[Part],
    names: Sequence[str],
    rooms: Rooms,
    heads: Mapping[str, Sequence[Head]],
) -> bytes:
    """Return the file, with new dictionaries where there are some."""
    groups: list[list[_Column]] = []
    place = len(MAGIC)
    for number, (_, group) in enumerate(parts):
        columns = []
        for name in names:
            chunk = group.chunks[name]
            head, source = b"", chunk.start
            if name in heads:
                source = chunk.pages
                head, chunk = heads[name][number]
            columns.append(_Column(name, head, source, chunk.moved(place)))
            place += chunk.length
        groups.append(columns)
    leaves = [parts[0][0].leaves[name] for name in names]
    end = footer(
        [
            replace(leaf, kind=NUMBER) if name in heads else leaf
            for name, leaf in zip(names, leaves, strict=True)
        ],
        [
            (group.rows, [column.chunk for column in columns])
            for (_, group), columns in zip(parts, groups, strict=True)
        ],
    )
    made = rooms.room(place + len(end))
    with made.getbuffer() as held:
        held[: len(MAGIC)] = MAGIC
        held[-len(end) :] = end
        for (file, group), columns in zip(parts, groups, strict=True):
            _copy(file, group, columns, held)
    return made.getvalue()


def _copy(
    file: Excerpts, group: Group, columns: Sequence[_Column], held: memoryview
) -> None:
    """Copy the columns of a row group to their places, and see that they are sound."""
    stored: list[tuple[memoryview, int]] = []
    for column in columns:
        chunk = column.chunk
        body = chunk.start + len(column.head)
        held[chunk.start : body] = column.head
        view = held[body : chunk.start + chunk.length]
        if column.name in group.made:
            view[:] = group.made[column.name][column.source :]
        else:
            stored.append((view, column.source))
    file.fill(stored)
    for column in columns:
        chunk = column.chunk
        view = held[chunk.start : chunk.start + chunk.length]
        encodings = check_pages(view, chunk)
        if column.head and not encodings <= BY_WORDS:
            raise _Mixed
