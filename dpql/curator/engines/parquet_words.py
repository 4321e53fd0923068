"""Columns of words as columns of numbers: a dictionary is replaced, its cells stay.

A chunk with a dictionary says of each cell which word of that it is. Where the words
give way to their places among declared keys, the very same cells are these places.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Sequence
from importlib import import_module
from typing import Any

from dpql.curator.engines.parquet_footer import Chunk
from dpql.curator.engines.parquet_pages import WORDS, page_header, words_of
from dpql.curator.engines.thrift import Damaged

NUMBER = 1
"""The physical type of numbers of 32 bits."""

MOST_WORDS = 1 << 12
"""Of more words in a dictionary, the cells themselves are looked up in less time."""

_PLAIN = 0
_NONE, _GZIP = 0, 2
_CODECS = {1: "snappy", 2: "gzip", 4: "brotli", 6: "zstd", 7: "lz4_raw"}


class Places:
    """The places of some words among each other, from 1 on; all others have 0.

    So do cells that a damaged page lacks: polars takes a zero for them.
    A word that is longer than all of them is not even looked at.
    """

    def __init__(self, words: Sequence[bytes]) -> None:
        self._places = {word: place for place, word in enumerate(words, 1)}
        self._longest = max(map(len, words), default=0)

    def numbers(self, content: bytes, count: int) -> list[int]:
        """Return the places of so many words, each of which stands behind its length.

        Raises:
            Damaged: there are fewer words, or more.
        """
        numbers: list[int] = []
        place = 0
        for _ in range(count):
            start = place + 4
            size = int.from_bytes(content[place:start], "little")
            place = start + size
            known = size <= self._longest
            numbers.append(self._places.get(content[start:place], 0) if known else 0)
        if place != len(content):
            raise Damaged
        return numbers


def numbered(
    held: memoryview, chunk: Chunk, places: Places
) -> tuple[bytes, Chunk] | None:
    """Return a dictionary of places instead of words, and the chunk behind it.

    Args:
        held: the dictionary of a chunk.
        chunk: what the footer says of that.
        places: those of words.

    Returns:
        nothing if it is no dictionary, or too large.
    """
    try:
        size, count, start = words_of(held)
        if size > chunk.unpacked or count > min(MOST_WORDS, chunk.cells):
            return None
        numbers = places.numbers(_unpacked(held[start:], chunk.codec, size), count)
    except Damaged:
        return None
    content = struct.pack(f"<{count}i", *numbers)
    packed = _packed(content, chunk.codec)
    head = page_header(WORDS, (len(content), len(packed)), count, _PLAIN) + packed
    return head, chunk.headed(len(head) - len(held), len(content) - size)


def _unpacked(packed: memoryview, codec: int, size: int) -> bytes:
    """Return what was packed, if it has this size.

    Raises:
        Damaged: it has not. Arrow tells only of too much, so it is asked twice: what
            fits into less leaves a rest of memory that nobody has written.
    """
    if codec == _NONE:
        return bytes(packed)
    if not size:
        return b""
    if _fitting(packed, codec, size - 1) is not None:
        raise Damaged
    content = _fitting(packed, codec, size)
    if content is None:
        raise Damaged
    return content


def _fitting(packed: memoryview, codec: int, size: int) -> bytes | None:
    try:
        content: bytes = _codec(codec).decompress(packed, size, asbytes=True)
    except (import_module("pyarrow").ArrowException, OSError, ValueError):
        return None
    return content


def _packed(content: bytes, codec: int) -> bytes:
    if codec == _NONE:
        return content
    if codec == _GZIP:  # Arrow packs in earnest at every level, which takes long
        packer = zlib.compressobj(level=0, wbits=31)
        return packer.compress(content) + packer.flush()
    packed: bytes = _codec(codec).compress(content, asbytes=True)
    return packed


def _codec(number: int) -> Any:
    return import_module("pyarrow").Codec(_CODECS[number])
