"""The pages of a Parquet file: do they hold what its footer says?

polars believes the header of a page, and asks for as much memory as it tells, at the
cost of the whole process. So headers are looked at before: sizes and numbers of cells,
nothing of the cells themselves.
"""

from __future__ import annotations

from dpql.curator.engines.parquet_footer import Chunk
from dpql.curator.engines.thrift import Damaged, Struct, read_struct

DATA, _INDEX, WORDS, _DATA_2 = range(4)
HEADERS = {DATA: 5, WORDS: 7, _DATA_2: 8}
"""Kind of page -> the field that tells of it."""

_LARGEST_PAGE = 1 << 30


def check_pages(held: memoryview, chunk: Chunk) -> None:
    """See that the pages of a chunk lie within it and hold all its cells.

    Args:
        held: the bytes of the chunk.
        chunk: what the footer says of it.

    Raises:
        Damaged: they do not.
    """
    place = cells = 0
    words = chunk.words is not None
    while cells < chunk.cells or words:
        told, place = read_struct(held, place)
        kind, packed = _number(told, 1), _number(told, 3)
        if max(packed, _number(told, 2)) > _LARGEST_PAGE or packed > len(held) - place:
            raise Damaged
        if kind in (DATA, _DATA_2):
            cells += _cells(told.get(HEADERS[kind]), kind, packed)
        elif kind == WORDS:
            _number(told.get(HEADERS[kind]), 1)
        elif kind != _INDEX:
            raise Damaged
        words = words and kind != WORDS
        place += packed
    if cells > chunk.cells:
        raise Damaged


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
