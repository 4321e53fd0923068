"""Coins from the operating system's generator, read at the moment of use.

There is no buffer: nothing can be shared by a fork, a snapshot of the process, or two
threads. A short read or an error of the kernel is an exception, never a fallback.

Every request ends with a pause of random length, a microsecond or two. Samplers do the
same work whatever they draw, but where numbers happen to lie in memory still moves
their time by nanoseconds, in some processes by the sign of the noise. Beside a pause
of which nobody knows the length, that tells next to nothing of any one draw.
"""

from __future__ import annotations

import os
from collections.abc import Sequence

_PAUSE = 127
"""The longest pause by one lot, in turns of a loop."""


class SystemBits:
    """Lanes of fresh bits from the OS CSPRNG (getrandom)."""

    __slots__ = ()

    source = "os.urandom"
    seeded = False

    def read(self, lanes: Sequence[int], start: int, stop: int) -> bytes:
        """Return fresh bits for each lane; which lanes they are makes no difference."""
        width = stop - start
        size = -(-width // 8)
        wanted = size * len(lanes)
        drawn = os.urandom(wanted + 2)  # noqa: TID251  the one place
        fresh = drawn[:wanted]
        # Two lots make neither the shortest pause nor the longest a likely one.
        for _ in range((drawn[-1] & _PAUSE) + (drawn[-2] & _PAUSE)):
            pass
        spare = size * 8 - width
        if not spare:
            return fresh
        mask = 0xFF >> spare
        masked = bytearray(fresh)
        for first in range(0, len(masked), size):
            masked[first] &= mask
        return bytes(masked)
