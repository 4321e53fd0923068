"""Lanes are read in stretches, each bit once, whatever their width."""

from __future__ import annotations

import pytest

from dpql.mechanisms.bits import (
    CHUNK,
    each_lane,
    flips,
    read_one,
    stretches,
    unshortened,
)
from dpql.testing import SeededBits, Tape


@pytest.mark.parametrize("count", [0, 1, CHUNK, CHUNK + 1, 3 * CHUNK - 1])
def test_stretches_are_all_lanes_in_order(count: int) -> None:
    """None is longer than a chunk."""
    found = stretches(count)
    assert list(range(count)) == [lane for one in found for lane in one]
    assert all(len(one) <= CHUNK for one in found)


def test_one_lane_of_many_reads_on_as_it_began() -> None:
    """Its head is known; later bits come from the source."""
    lanes = list(each_lane(SeededBits(1), CHUNK + 2, 12))
    assert CHUNK + 2 == len(lanes)
    bits = SeededBits(1)
    for index in (0, 1, CHUNK + 1):
        lane = lanes[index]
        assert bits.read((index,), 0, 12) == lane.read(range(1), 0, 12)


def test_a_lane_is_an_integer() -> None:
    """Big-endian, from any bit to any other."""
    tape = Tape([0b1_0110_1101], width=9)
    assert [0b10, 0b110, 0b1101] == [
        read_one(tape, start, stop) for start, stop in ((0, 2), (2, 5), (5, 9))
    ]


def test_flips_leave_a_lane_or_turn_every_digit() -> None:
    """Both are numbers of one more bit, so that either takes the same time."""
    leave, turn = flips(5)
    assert (0b10110, 0b01001) == (
        (0b10110 ^ leave) & 0b11111,
        (0b10110 ^ turn) & 0b11111,
    )
    assert leave.bit_length() == turn.bit_length() == 6


def test_widths_that_no_value_shortens() -> None:
    """Whole bytes, with at least 20 bits in the last digit; never narrower."""
    assert list(range(1, 32)) == [unshortened(width) for width in range(1, 32)]
    for width in range(32, 400):
        found = unshortened(width)
        assert width <= found < width + 240
        assert 0 == found % 8
        assert 20 <= (found - 1) % 30
