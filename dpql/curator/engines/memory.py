"""Memory of arrays that is kept for the next ones.

glibc asks the system for each array of more than 128 KiB and gives it back afterwards,
so the next one pays for each of its pages again: more than for any arithmetic on it.
The size from which on it does so is that of the largest such block that was freed, up
to 32 MiB, and it then keeps twice as much. Other allocators take no notice.
"""

from __future__ import annotations

import numpy as np

_LARGEST = (32 << 20) - (8 << 10)
"""Bytes that are freed as one block which counts; its header is none of them."""


def keep_memory() -> None:
    """Let arrays take the memory of earlier ones, from now on in this process."""
    # Never written, so it has no pages.
    np.empty(_LARGEST, np.uint8)
