"""The generator of the seeded lanes against published answers."""

import numpy as np

from dpql.testing.philox import BLOCK, blocks, key_of, one_block


def test_philox_known_answers() -> None:
    """The generator gives the published answers for three counters."""
    assert one_block(0, 0, 0, 0) == 0x6627E8D5E169C58DBC57AC4C9B00DBD8
    ones = (1 << 64) - 1
    assert one_block(ones, ones, ones, ones) == 0x408F276D41C83B0EA20BC7C66D5451FD
    digits_of_pi = one_block(
        0x299F31D0A4093822, 0x03707344, 0x85A308D3243F6A88, 0x13198A2E
    )
    assert digits_of_pi == 0xD16CFE0994FDCCEB5001E42024126EA1


def test_seeds_have_different_keys() -> None:
    """Text and number seeds are told apart."""
    assert len({key_of(1), key_of("1"), key_of(2)}) == 3


def test_arrays_equal_integers() -> None:
    """Many counters at once give the blocks of each counter alone."""
    lanes = np.array([0, 1, 5, 1 << 33, (1 << 63) - 1])
    table = blocks(key_of(3), 2, lanes, range(4, 7))
    assert table.shape == (5, 3 * BLOCK // 8)
    for row, lane in zip(table, lanes.tolist(), strict=True):
        alone = [one_block(key_of(3), 2, lane, block) for block in range(4, 7)]
        assert b"".join(word.to_bytes(16, "big") for word in alone) == row.tobytes()
