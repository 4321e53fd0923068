"""The coins a mechanism is handed.

A draw owns a *lane*: an endless string of fair, independent bits. A mechanism is a
function of its lane; reading more of the lane only decides more, it never changes what
was decided. So one draw and a million draws at once give the same numbers on the same
lanes, and a test can hand in a tape.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Protocol

ONE = range(1)
"""The lanes of a single draw."""

CHUNK = 1 << 13
"""Lanes worked on at a time, so that the intermediate arrays stay in the cache."""

_BYTE = 8
_PYTHON = 30
"""Bits of a digit of Python's integers."""

_FILLED = 20
"""Bits, at least, of the last one that the digits of U fill."""


class Bits(Protocol):
    """A source of lanes. Every call of a mechanism starts on fresh lanes."""

    def read(self, lanes: Sequence[int], start: int, stop: int) -> bytes:
        """Return bits ``start`` to ``stop`` of each lane named, one after another.

        The bits of one lane come as a big-endian integer in the fewest whole bytes.
        No bit of a lane is asked for twice.
        """
        ...


def read_one(bits: Bits, start: int, stop: int) -> int:
    """Return bits ``start`` to ``stop`` of the only lane as an integer."""
    return int.from_bytes(bits.read(ONE, start, stop), "big")


def flips(width: int) -> tuple[int, int]:
    """Return what to xor a lane of ``width`` bits with: nothing, or every digit.

    Both have one more bit than the lane, so that either takes the same time; the caller
    masks that bit and the sign.
    """
    return 1 << width, (2 << width) - 1


def unshortened(width: int) -> int:
    """Return a number of bits, at least so many, that no value makes shorter.

    A lane is a sign and digits of U. It is whole bytes, so that the sign is not a byte
    of its own; and as an integer of Python the digits have one size unless U < 2**-20.
    The few bits of a miniature are left alone.
    """
    if width - 1 <= _PYTHON:
        return width
    return next(
        bits
        for bits in range(width, width + _BYTE * _PYTHON)
        if bits % _BYTE == 0 and (bits - 1) % _PYTHON >= _FILLED
    )


class Lane:
    """One lane of many, whose first bits are known already, as they were read."""

    __slots__ = ("_bits", "_head", "_index")

    def __init__(self, bits: Bits, index: int, head: bytes) -> None:
        self._bits = bits
        self._index = index
        self._head = head

    def read(self, lanes: Sequence[int], start: int, stop: int) -> bytes:
        """Return bits of this lane, whichever single lane is asked for."""
        assert len(lanes) == 1
        if start:
            return self._bits.read((self._index,), start, stop)
        assert -(-stop // _BYTE) == len(self._head)
        return self._head


def stretches(count: int) -> list[range]:
    """Return the lanes to work on at a time, in order."""
    return [range(i, min(i + CHUNK, count)) for i in range(0, count, CHUNK)]


def each_lane(bits: Bits, count: int, width: int) -> Iterator[Lane]:
    """Yield so many lanes, the first ``width`` bits of each read with its stretch."""
    size = -(-width // _BYTE)
    for lanes in stretches(count):
        heads = bits.read(lanes, 0, width)
        for index, lane in enumerate(lanes):
            yield Lane(bits, lane, heads[size * index : size * (index + 1)])
