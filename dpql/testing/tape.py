"""Coins whose every bit the test knows: a written tape, and a seeded generator.

Neither is a source of noise. Whoever knows the tape or the seed can take the noise
off a release again. Real coins are drawn in dpql/curator/entropy.py only.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Self

from dpql.mechanisms.bits import ONE
from dpql.testing.philox import BLOCK, blocks, key_of, one_block

_FEW = 24
"""Up to this many lanes plain integers are faster than arrays."""


class TapeError(AssertionError):
    """The mechanism under test broke the protocol of `Bits`, or the tape is short."""


class Tape:
    """Lanes written out by the test; each bit can be read once.

    A row is a lane: bytes, or an integer of ``width`` bits. The first bit of a lane
    is the most significant bit of its row. A tape serves one call of a mechanism.

    >>> tape = Tape([0b1011, 0b0001], width=4)
    >>> tape.read([0, 1], 0, 3).hex(" ")
    '05 00'
    >>> tape.read([1], 2, 4)
    Traceback (most recent call last):
    ...
    dpql.testing.tape.TapeError: lane 1: bits 2 to 4 include some already read
    """

    __slots__ = ("_read", "_rows", "_widths")

    source = "tape"
    seeded = True

    def __init__(
        self, rows: Iterable[bytes | int], *, width: int | None = None
    ) -> None:
        self._rows: list[int] = []
        self._widths: list[int] = []
        for row in rows:
            if isinstance(row, bytes):
                self._rows.append(int.from_bytes(row, "big"))
                self._widths.append(8 * len(row))
            elif width is None:
                raise TypeError("rows given as integers need a width in bits")
            elif row >> width:
                raise ValueError(f"row {len(self._rows)} does not fit {width} bits")
            else:
                self._rows.append(row)
                self._widths.append(width)
        self._read = [0] * len(self._rows)

    def __len__(self) -> int:
        return len(self._rows)

    @property
    def consumed(self) -> tuple[int, ...]:
        """How many bits of each lane have been read."""
        return tuple(read.bit_count() for read in self._read)

    def lane(self, index: int) -> Self:
        """Return an unread tape whose only lane is lane ``index`` of this one."""
        return type(self)([self._rows[index]], width=self._widths[index])

    def read(self, lanes: Sequence[int], start: int, stop: int) -> bytes:
        """Return bits ``start`` to ``stop`` of each lane named, each bit only once."""
        size = _size(start, stop)
        mask = (1 << (stop - start)) - 1
        wanted = mask << start
        return b"".join(
            (self._take(lane, start, stop, wanted) & mask).to_bytes(size, "big")
            for lane in map(int, lanes)
        )

    def _take(self, lane: int, start: int, stop: int, wanted: int) -> int:
        if not 0 <= lane < len(self._rows):
            raise TapeError(f"lane {lane} of a tape of {len(self._rows)} lanes")
        width = self._widths[lane]
        if stop > width:
            raise TapeError(
                f"lane {lane}: bits {start} to {stop} of a lane of {width} bits"
            )
        if self._read[lane] & wanted:
            raise TapeError(
                f"lane {lane}: bits {start} to {stop} include some already read"
            )
        self._read[lane] |= wanted
        return self._rows[lane] >> (width - stop)


class SeededBits:
    """Endless lanes that are a fixed function of a seed; for tests, never for noise.

    Bit b of lane i in the n-th call depends on (seed, n, i, b) alone, so a lane read
    in pieces gives the same bits as a lane read at once. A new call starts when bit 0
    is read of a lane that is not beyond every lane of the call so far: a single draw
    always asks for lane 0, and a draw of many may go through its lanes in blocks of
    rising lanes. Bits read twice are not noticed; `Tape` notices.

        block j of lane i = philox4x32-10(counter = (i, j, n), key = sha-256(seed))
    """

    __slots__ = ("_call", "_highest", "_key")

    source = "seeded"
    seeded = True

    def __init__(self, seed: int | str) -> None:
        self._key = key_of(seed)
        self._call = -1
        self._highest = -1

    def lane(self, index: int, *, call: int = 0) -> SeededLane:
        """Return the one lane ``index`` of call ``call``, for a draw of one."""
        return SeededLane(self._key, call, index)

    def read(self, lanes: Sequence[int], start: int, stop: int) -> bytes:
        """Return bits ``start`` to ``stop`` of each lane named."""
        if not len(lanes):
            return b""
        if start == 0:
            self._begin(lanes)
        call = max(self._call, 0)
        if len(lanes) > _FEW:
            return _many(self._key, call, lanes, start, stop)
        size = _size(start, stop)
        return b"".join(
            _bits(self._key, call, int(lane), start, stop).to_bytes(size, "big")
            for lane in lanes
        )

    def _begin(self, lanes: Sequence[int]) -> None:
        if isinstance(lanes, range):
            lowest, highest = sorted((lanes[0], lanes[-1]))
        else:
            import numpy as np

            array = np.asarray(lanes)
            lowest, highest = int(array.min()), int(array.max())
        if lowest <= self._highest or self._call < 0:
            self._call += 1
        self._highest = highest


class SeededLane:
    """One lane of `SeededBits`, as the only lane of a draw; for tests."""

    __slots__ = ("_call", "_index", "_key")

    source = "seeded"
    seeded = True

    def __init__(self, key: int, call: int, index: int) -> None:
        self._key, self._call, self._index = key, call, index

    def read(self, lanes: Sequence[int], start: int, stop: int) -> bytes:
        """Return bits ``start`` to ``stop`` of the lane."""
        if list(lanes) != list(ONE):
            raise TapeError("a single lane can serve only a draw of one")
        bits = _bits(self._key, self._call, self._index, start, stop)
        return bits.to_bytes(_size(start, stop), "big")


def _size(start: int, stop: int) -> int:
    if not 0 <= start < stop:
        raise TapeError(f"no bits lie between {start} and {stop}")
    return -(-(stop - start) // 8)


def _bits(key: int, call: int, lane: int, start: int, stop: int) -> int:
    word = 0
    last = -(-stop // BLOCK)
    for block in range(start // BLOCK, last):
        word = word << BLOCK | one_block(key, call, lane, block)
    return word >> (last * BLOCK - stop) & ((1 << (stop - start)) - 1)


def _many(key: int, call: int, lanes: Sequence[int], start: int, stop: int) -> bytes:
    """Do what `_bits` does for many lanes: cut rows of bytes, shift, mask."""
    import numpy as np

    size, first = _size(start, stop), start // BLOCK
    rows = blocks(key, call, np.asarray(lanes), range(first, -(-stop // BLOCK)))
    low, high = start - first * BLOCK, stop - first * BLOCK
    # One more byte on the left keeps the slice of `size` bytes whole when the bits
    # do not end on a byte; the bits it brings are shifted out or masked.
    end = -(-high // 8)
    spare = 8 * end - high
    cut = np.zeros((len(rows), size + 1), dtype=np.uint8)
    begin = max(0, end - size - 1)
    cut[:, size + 1 - (end - begin) :] = rows[:, begin:end]
    shifted = cut[:, 1:] >> np.uint8(spare)
    if spare:
        shifted |= cut[:, :-1] << np.uint8(8 - spare)
    shifted[:, 0] &= 0xFF >> (8 * size - (high - low))
    return shifted.tobytes()
