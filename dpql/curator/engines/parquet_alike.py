"""A column whose cells are all alike, as Parquet stores it: a word, and how often.

So the value that a folder names stands beside the columns of the files in it, and row
groups of many folders go into one excerpt.
"""

from __future__ import annotations

from dpql.curator.engines.parquet_footer import Chunk, Leaf
from dpql.curator.engines.parquet_pages import DATA, WORDS, page_header
from dpql.curator.engines.thrift import varint

TEXT = Leaf(kind=6, optional=True)
"""What kind of column it is."""

_PLAIN, _RUNS, _NUMBERED = 0, 3, 8
_UNPACKED = 0


def alike(word: bytes | None, rows: int) -> tuple[bytes, Chunk]:
    """Return so many cells that hold this word, or nothing, and how they are stored."""
    words = b""
    if word is not None:
        words = _page(WORDS, len(word).to_bytes(4, "little") + word, 1, _PLAIN)
    there = _run(rows, int(word is not None))
    cells = len(there).to_bytes(4, "little") + there
    if word is None:
        pages = _page(DATA, cells, rows, _PLAIN, _RUNS, _RUNS)
    else:
        # Behind the width of numbers: the first word, for all of them.
        cells += b"\1" + _run(rows, 0)
        pages = _page(DATA, cells, rows, _NUMBERED, _RUNS, _RUNS)
    stored = words + pages
    return stored, Chunk(
        start=0,
        length=len(stored),
        pages=len(words),
        words=None if word is None else 0,
        codec=_UNPACKED,
        encodings=(_PLAIN, _RUNS, _NUMBERED),
        cells=rows,
        unpacked=len(stored),
        by_words=word is not None,
    )


def _page(kind: int, body: bytes, *told: int) -> bytes:
    return page_header(kind, (len(body), len(body)), *told) + body


def _run(count: int, bit: int) -> bytes:
    """Return so many equal bits."""
    return varint(count << 1) + bytes([bit])
