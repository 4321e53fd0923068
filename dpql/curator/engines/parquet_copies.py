"""Excerpts of Parquet files, made: columns of row groups copied under a new footer."""

from __future__ import annotations

import io
from collections.abc import Sequence
from itertools import cycle

from dpql.curator.engines.parquet_excerpts import Excerpts, Group
from dpql.curator.engines.parquet_footer import MAGIC, Chunk, footer
from dpql.curator.engines.parquet_pages import check_pages


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
        Damaged: its pages are not what its footer says.
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
            _copy(file, group, names, [_view(held, chunk) for chunk in chunks])
    return made.getvalue()


def _view(held: memoryview, chunk: Chunk) -> memoryview:
    return held[chunk.start : chunk.start + chunk.length]


def _copy(
    file: Excerpts, group: Group, names: Sequence[str], views: Sequence[memoryview]
) -> None:
    """Copy the columns of a row group to their places, and see that they are sound."""
    chunks = [group.chunks[name] for name in names]
    placed = list(zip(views, chunks, names, strict=True))
    file.fill([(v, chunk.start) for v, chunk, name in placed if name not in group.made])
    for view, chunk, name in placed:
        if name in group.made:
            view[:] = group.made[name]
        check_pages(view, chunk)
