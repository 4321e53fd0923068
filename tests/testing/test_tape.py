"""Tapes give the bits written, once; seeded lanes are the same however read."""

from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from dpql.mechanisms import bits as protocol
from dpql.testing import SeededBits, Tape, TapeError
from dpql.testing import tape as tapes


def lane_of(rows: bytes, index: int, width: int) -> int:
    """Cut the integer of one lane out of an answer."""
    size = -(-width // 8)
    return int.from_bytes(rows[index * size : (index + 1) * size], "big")


def test_tape_reads_most_significant_bit_first() -> None:
    """Bits come in the order written, whether rows are bytes or integers."""
    tape = Tape([b"\xa5\x0f", b"\xff\x00"])
    assert tape.read(range(2), 0, 4) == b"\x0a\x0f"
    assert tape.read([1, 0], 4, 15) == bytes.fromhex("0780 0287")
    assert tape.consumed == (15, 15)
    assert protocol.read_one(Tape([0b10110], width=5), 1, 4) == 0b011


def test_tape_refuses_a_bit_twice() -> None:
    """A second request that overlaps the first is a fault that names the lane."""
    tape = Tape([0, 0], width=64)
    tape.read(range(2), 0, 32)
    tape.read([0], 40, 48)
    tape.read([0], 32, 40)
    with pytest.raises(TapeError, match=r"lane 1: bits 31 to 33 .* already read"):
        tape.read([1], 31, 33)
    with pytest.raises(TapeError, match=r"lane 0: .* already read"):
        tape.read([0], 47, 49)


def test_tape_refuses_to_go_past_its_end() -> None:
    """A lane has no bits beyond those written, and there are no further lanes."""
    tape = Tape([b"\x01"])
    with pytest.raises(TapeError, match="bits 0 to 9 of a lane of 8 bits"):
        tape.read([0], 0, 9)
    with pytest.raises(TapeError, match="lane 1 of a tape of 1 lanes"):
        tape.read([1], 0, 8)
    with pytest.raises(TapeError, match="no bits lie between"):
        tape.read([0], 3, 3)
    assert tape.consumed == (0,)


def test_tape_refuses_rows_it_cannot_address() -> None:
    """Integers need a width and must fit it."""
    with pytest.raises(TypeError, match="need a width"):
        Tape([1])
    with pytest.raises(ValueError, match="does not fit 3 bits"):
        Tape([8], width=3)
    with pytest.raises(ValueError, match="does not fit 3 bits"):
        Tape([-1], width=3)


def test_tape_lane_is_a_fresh_tape() -> None:
    """A lane taken alone can be read although the tape was read."""
    tape = Tape([b"\x12", b"\x34"])
    tape.read(range(2), 0, 8)
    assert tape.lane(1).read(protocol.ONE, 0, 8) == b"\x34"
    assert len(tape) == 2


@pytest.mark.parametrize("width", [1, 7, 8, 13, 32, 61, 64, 65, 127, 128, 129, 300])
@pytest.mark.parametrize("start", [0, 1, 8, 67, 128, 250])
def test_seeded_array_path_equals_integer_path(width: int, start: int) -> None:
    """Many lanes at once and one lane alone hold the same bits."""
    many = SeededBits(7)
    many.read(range(100), 0, 1)
    if start:
        rows = many.read(np.arange(100), start, start + width)
    else:
        rows = SeededBits(7).read(range(100), 0, width)
    for lane in (0, 1, 57, 99):
        alone = SeededBits(7).lane(lane).read(protocol.ONE, start, start + width)
        assert lane_of(rows, lane, width) == int.from_bytes(alone, "big")


def test_seeded_pieces_equal_the_whole() -> None:
    """Reading a lane in pieces, in any order, gives the bits of reading it at once."""
    whole = int.from_bytes(SeededBits("a").lane(3).read(protocol.ONE, 0, 300), "big")
    cuts = [0, 1, 9, 64, 130, 131, 256, 300]
    pieces = 0
    bits = SeededBits("a")
    for start, stop in pairwise(cuts):
        pieces = pieces << (stop - start) | int.from_bytes(
            bits.read([3], start, stop), "big"
        )
    assert whole == pieces


def test_seeded_calls_differ_and_repeat() -> None:
    """Every call has lanes of its own; the same seed gives the same calls."""
    first, second = SeededBits(1), SeededBits(1)
    calls = [first.read(protocol.ONE, 0, 64) for _ in range(5)]
    assert len(set(calls)) == 5
    assert calls == [second.read(protocol.ONE, 0, 64) for _ in range(5)]
    assert SeededBits(2).read(protocol.ONE, 0, 64) != calls[0]
    assert SeededBits(1).lane(0, call=4).read(protocol.ONE, 0, 64) == calls[4]


def test_seeded_blocks_of_rising_lanes_are_one_call() -> None:
    """A draw of many that goes through its lanes in blocks stays in its call."""
    at_once = SeededBits(5).read(range(100), 0, 32)
    bits = SeededBits(5)
    in_blocks = b"".join(bits.read(range(i, i + 25), 0, 32) for i in range(0, 100, 25))
    assert at_once == in_blocks
    later = bits.read((2,), 32, 64)
    assert later == SeededBits(5).lane(2).read(protocol.ONE, 32, 64)
    assert bits.read(range(100), 0, 32) != at_once


def test_seeded_lane_serves_one() -> None:
    """A single lane refuses a draw of many, and an empty draw needs no lane."""
    with pytest.raises(TapeError, match="draw of one"):
        SeededBits(1).lane(0).read(range(2), 0, 8)
    assert SeededBits(1).read([], 0, 8) == b""


def test_coins_say_what_they_are() -> None:
    """No test coin can be taken for a source of noise."""
    for coins in (Tape([]), SeededBits(0), SeededBits(0).lane(0)):
        assert coins.seeded
        assert coins.source in {"tape", "seeded"}


def test_seeded_bits_are_fair_and_independent() -> None:
    """Every bit position of 2**16 lanes, and every pair of neighbours, is balanced.

    False alarm below 1e-9: 2 * 255 sums, each beyond 7 standard deviations.
    """
    lanes = 1 << 16
    rows = np.frombuffer(SeededBits(9).read(range(lanes), 0, 256), np.uint8)
    table = np.unpackbits(rows.reshape(lanes, 32), axis=1)
    limit = 7 * (lanes**0.5) / 2
    assert np.abs(table.sum(axis=0) - lanes / 2).max() < limit
    unequal = table[:, 1:] ^ table[:, :-1]
    assert np.abs(unequal.sum(axis=0) - lanes / 2).max() < limit
    across = table[1:] ^ table[:-1]
    assert np.abs(across.sum(axis=0) - (lanes - 1) / 2).max() < limit


def test_seeded_serves_a_million_lanes_at_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A million lanes of 64 bits are made together, none of them by itself."""
    single: list[Any] = []
    monkeypatch.setattr(tapes, "_bits", lambda *lane: single.append(lane))
    rows = SeededBits(0).read(range(10**6), 0, 64)
    assert (8 * 10**6, []) == (len(rows), single)
