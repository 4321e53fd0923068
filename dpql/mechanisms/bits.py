"""The coins a mechanism is handed.

A draw owns a *lane*: an endless string of fair, independent bits. A mechanism is a
function of its lane; reading more of the lane only decides more, it never changes what
was decided. So one draw and a million draws at once give the same numbers on the same
lanes, and a test can hand in a tape.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

ONE = range(1)
"""The lanes of a single draw."""


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


class Lane:
    """One lane of many, of which the first ``width`` bits are known already."""

    __slots__ = ("_bits", "_head", "_index", "_width")

    def __init__(self, bits: Bits, index: int, head: int, width: int) -> None:
        self._bits = bits
        self._index = index
        self._head = head
        self._width = width

    def read(self, lanes: Sequence[int], start: int, stop: int) -> bytes:
        """Return bits of this lane, whichever single lane is asked for."""
        assert len(lanes) == 1
        if start:
            return self._bits.read((self._index,), start, stop)
        assert stop == self._width
        return self._head.to_bytes(-(-stop // 8), "big")


def resume(
    bits: Bits, lanes: Sequence[int], heads: Sequence[int], start: int, stop: int
) -> list[Lane]:
    """Return lanes whose first ``start`` bits were ``heads``, read on to ``stop``."""
    size = -(-(stop - start) // 8)
    rest = memoryview(bits.read(lanes, start, stop))
    return [
        Lane(
            bits,
            lane,
            head << (stop - start)
            | int.from_bytes(rest[size * i : size * (i + 1)], "big"),
            stop,
        )
        for i, (lane, head) in enumerate(zip(lanes, heads, strict=True))
    ]
