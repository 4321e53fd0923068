"""Coins from the operating system's generator, read at the moment of use.

There is no buffer: nothing can be shared by a fork, a snapshot of the process, or two
threads. A short read or an error of the kernel is an exception, never a fallback.
"""

from __future__ import annotations

import os
from collections.abc import Sequence


class SystemBits:
    """Lanes of fresh bits from the OS CSPRNG (getrandom)."""

    __slots__ = ()

    source = "os.urandom"
    seeded = False

    def read(self, lanes: Sequence[int], start: int, stop: int) -> bytes:
        """Return fresh bits for each lane; which lanes they are makes no difference."""
        width = stop - start
        size = -(-width // 8)
        fresh = os.urandom(size * len(lanes))  # noqa: TID251  the one place
        spare = size * 8 - width
        if not spare:
            return fresh
        mask = 0xFF >> spare
        masked = bytearray(fresh)
        for first in range(0, len(masked), size):
            masked[first] &= mask
        return bytes(masked)
