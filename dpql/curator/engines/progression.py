"""Bins of equal width, found by arithmetic where that finds every one exactly."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

_FEWEST_BINS = 4
"""With fewer, comparisons are as fast as arithmetic."""


def progression(
    starts: Sequence[int] | Sequence[float],
) -> tuple[float, float, float] | None:
    """Return first, width and scale where arithmetic finds every start exactly.

    floor((x - first) * scale) never falls as x grows, for each operation is monotone.
    So it is right, or one too high, on all of a bin if it is at the first double of the
    bin and at the last before the next; one comparison with the start, which is exact
    by this check, mends it. What is found beyond the last bin lies past its start, so
    it is cut to the last bin first.
    """
    if len(starts) < _FEWEST_BINS or any(isinstance(one, int) for one in starts):
        return None
    first, width = starts[0], starts[1] - starts[0]
    with np.errstate(all="ignore"):
        scale = float(1 / np.float64(width))
        if not 0 < scale < float("inf"):
            return None
        found = np.array(starts)
        index = np.arange(len(found))
        exact = index * width + first == found
        low = np.floor((found - first) * scale) == index
        over = np.floor((np.nextafter(found[1:], -np.inf) - first) * scale) - index[:-1]
    if not (exact.all() and low.all() and np.isin(over, (0, 1)).all()):
        return None
    return first, width, scale
