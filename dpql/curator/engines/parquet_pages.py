"""The pages of a Parquet file: do they hold what its footer says?

polars believes the header of a page, and asks for as much memory as it tells, at the
cost of the whole process. So headers are looked at before: sizes and numbers of cells,
nothing of the cells themselves.
"""

from __future__ import annotations

from dpql.curator.engines.parquet_footer import Chunk
from dpql.curator.engines.thrift import (
    INT32,
    STRUCT,
    Damaged,
    Struct,
    integer,
    read_struct,
    struct,
)

DATA, _INDEX, WORDS, _DATA_2 = range(4)
_HEADERS = {DATA: 5, WORDS: 7, _DATA_2: 8}
"""Kind of page -> the field that tells of it."""

_ENCODING = {DATA: 2, _DATA_2: 4}
"""Kind of page -> where that says how its cells are stored."""

_PLAIN_WORDS = {0, 2}
"""Encodings of a dictionary whose words stand behind their lengths."""

_LARGEST_PAGE = 1 << 30


def check_pages(held: memoryview, chunk: Chunk) -> set[int]:
    """See that the pages of a chunk lie within it and hold all its cells.

    Returns the encodings of its cells.

    Args:
        held: the bytes of the chunk.
        chunk: what the footer says of it.

    Raises:
        Damaged: they do not.
    """
    place = cells = 0
    encodings: set[int] = set()
    words = chunk.words is not None
    while cells < chunk.cells or words:
        told, place = read_struct(held, place)
        kind, packed = _number(told, 1), _number(told, 3)
        if max(packed, _number(told, 2)) > _LARGEST_PAGE or packed > len(held) - place:
            raise Damaged
        if kind in (DATA, _DATA_2):
            cells += _cells(told.get(_HEADERS[kind]), kind, packed)
            encodings.add(_number(told[_HEADERS[kind]], _ENCODING[kind]))
        elif kind == WORDS:
            _number(told.get(_HEADERS[kind]), 1)
        elif kind != _INDEX:
            raise Damaged
        words = words and kind != WORDS
        place += packed
    if cells > chunk.cells:
        raise Damaged
    return encodings


def words_of(held: memoryview) -> tuple[int, int, int]:
    """Return what a dictionary says of itself, if there is nothing but a dictionary.

    That is its size without packing, how many words it has, and where they begin.

    Raises:
        Damaged: there is something else.
    """
    told, place = read_struct(held, 0)
    words = told.get(_HEADERS[WORDS])
    whole = _number(told, 1) == WORDS and _number(told, 3) == len(held) - place
    if not whole or _number(words, 2) not in _PLAIN_WORDS:
        raise Damaged
    return _number(told, 2), _number(words, 1), place


def page_header(kind: int, sizes: tuple[int, int], *told: int) -> bytes:
    """Return the header of a page: sizes without and with packing, and what it tells.

    Args:
        kind: of data, or of words.
        sizes: those of what follows.
        told: how many cells or words there are, and how they are stored.
    """
    fields = [(n, INT32, integer(value)) for n, value in enumerate(told, 1)]
    return struct(
        (1, INT32, integer(kind)),
        (2, INT32, integer(sizes[0])),
        (3, INT32, integer(sizes[1])),
        (_HEADERS[kind], STRUCT, struct(*fields)),
    )


def _cells(told: Struct | None, kind: int, packed: int) -> int:
    """Return how many cells a page holds; in its second form it tells more."""
    cells = _number(told, 1)
    if kind == _DATA_2:
        levels = _number(told, 5) + _number(told, 6)
        if levels > packed or _number(told, 2) > cells or _number(told, 3) != cells:
            raise Damaged
    return cells


def _number(told: Struct | None, field: int) -> int:
    found = told.get(field) if isinstance(told, dict) else None
    if not isinstance(found, int) or found < 0:
        raise Damaged
    return found
