"""Philox 4x32-10, a counter-based generator, for one counter or for many at once.

A counter is four words of 32 bits; ten rounds with a key of 64 bits turn it into
128 bits. There is no state, so any block of any lane can be had at once.

    round: (x0, x1, x2, x3) -> (hi(M1 x2) ^ x1 ^ k0, lo(M1 x2),
                                hi(M0 x0) ^ x3 ^ k1, lo(M0 x0))
    key:   (k0, k1) -> (k0 + W0, k1 + W1) after every round

Source: Salmon, Moraes, Dror, Shaw (2011), Parallel random numbers: as easy as 1, 2, 3.
It passes the usual test batteries and is not a cipher: it is here for tests only.
"""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

BLOCK = 128
"""Bits that one counter gives."""

_M0, _M1 = 0xD2511F53, 0xCD9E8D57
_W0, _W1 = 0x9E3779B9, 0xBB67AE85
_LOW = 0xFFFFFFFF
_ROUNDS = 10
_CHUNK = 1 << 13
"""Counters worked on together: few enough that the arrays stay in the cache."""


def key_of(seed: int | str) -> int:
    """Return the 64-bit key of a seed."""
    return int.from_bytes(sha256(f"dpql.testing:{seed!r}".encode()).digest()[:8], "big")


def one_block(key: int, call: int, lane: int, block: int) -> int:
    """Return 128 bits for the counter (lane, block, call) as an integer."""
    x0, x1, x2, x3 = lane & _LOW, lane >> 32 & _LOW, block & _LOW, call & _LOW
    k0, k1 = key & _LOW, key >> 32
    for _ in range(_ROUNDS):
        product0, product1 = _M0 * x0, _M1 * x2
        x0, x1, x2, x3 = (
            product1 >> 32 ^ x1 ^ k0,
            product1 & _LOW,
            product0 >> 32 ^ x3 ^ k1,
            product0 & _LOW,
        )
        k0, k1 = k0 + _W0 & _LOW, k1 + _W1 & _LOW
    return x0 << 96 | x1 << 64 | x2 << 32 | x3


def blocks(
    key: int, call: int, lanes: NDArray[np.integer], which: range
) -> NDArray[np.uint8]:
    """Return the blocks ``which`` of every lane: one row of bytes for each lane."""
    import numpy as np

    words = np.empty((len(lanes), len(which), 4), dtype=">u4")
    for first in range(0, len(lanes), _CHUNK):
        chunk = lanes[first : first + _CHUNK].astype(np.uint64)
        for column, block in enumerate(which):
            words[first : first + _CHUNK, column] = _rounds(key, call, chunk, block)
    return words.view(np.uint8).reshape(len(lanes), 16 * len(which))


def _rounds(
    key: int, call: int, lanes: NDArray[np.uint64], block: int
) -> NDArray[np.uint64]:
    """Do what `one_block` does, each word of the counter an array."""
    import numpy as np

    low, half = np.uint64(_LOW), np.uint64(32)
    m0, m1 = np.uint64(_M0), np.uint64(_M1)
    x0, x1 = lanes & low, lanes >> half
    x2, x3 = np.full_like(x0, block & _LOW), np.full_like(x0, call & _LOW)
    k0, k1 = key & _LOW, key >> 32
    for _ in range(_ROUNDS):
        product0, product1 = x0 * m0, x2 * m1
        x0 = product1 >> half
        x0 ^= x1
        x0 ^= np.uint64(k0)
        x2 = product0 >> half
        x2 ^= x3
        x2 ^= np.uint64(k1)
        product1 &= low
        product0 &= low
        x1, x3 = product1, product0
        k0, k1 = k0 + _W0 & _LOW, k1 + _W1 & _LOW
    return np.stack([x0, x1, x2, x3], axis=1)
