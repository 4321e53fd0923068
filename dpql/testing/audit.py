"""How much privacy is surely lost? A lower bound on epsilon from draws alone.

For any event E, neighbours x and y, and an (epsilon, delta)-private mechanism M,

    epsilon >= ln((P(M(x) in E) - delta) / P(M(y) in E)).

The events are chosen on one half of the draws and measured on the other half, with
exact confidence bounds for both probabilities, shared by Bonferroni among all events
measured. The bound exceeds the true epsilon with a chance of at most 1 - confidence,
whatever the mechanism; so a bound above the claimed epsilon convicts it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import gmpy2

from dpql.testing.binomial import probability_down, probability_up

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray

_ROUND_DOWN = 1 - 2.0**-45
"""Takes back more than the rounding of the last quotient and logarithm."""


@dataclass(frozen=True, slots=True)
class EpsilonBound:
    """What the draws prove.

    Attributes:
        epsilon: the bound, never below 0; the truth is at least this much.
        confidence: the chance, at least, that the bound holds.
        likely: lower bound on the probability of the telling event where it is likely.
        unlikely: upper bound on its probability at the neighbour.
        swapped: the event is the likely one of the second draws, not of the first.
        cells: the cells of the event, one tuple of bin numbers each.
    """

    epsilon: float
    confidence: float
    likely: float
    unlikely: float
    swapped: bool
    cells: tuple[tuple[int, ...], ...]


def epsilon_lower_bound(
    first: ArrayLike,
    second: ArrayLike,
    *,
    confidence: float,
    delta: float = 0.0,
    events: int = 4,
    bins: int = 64,
) -> EpsilonBound:
    """Return a lower bound on epsilon from draws at two neighbouring inputs.

    Draws are numbers, or rows of numbers such as (release, time). Each column is cut
    into at most ``bins`` bins, one for each value if there are few; a cell is one bin
    of every column. Candidate events are the cells with the largest likelihood ratio,
    the most telling first (Neyman and Pearson); in each direction the ``events`` most
    promising are measured. Even-numbered draws choose, odd-numbered draws measure.

    Requires: draws independent and from one law each; 1/2 < confidence < 1.
    """
    import numpy as np

    if not 1 / 2 < confidence < 1:
        raise ValueError("confidence must lie strictly between 1/2 and 1")
    one, other = _columns(first), _columns(second)
    if one.shape[1] != other.shape[1] or not (len(one[1:]) and len(other[1:])):
        raise ValueError("both must have the same columns and at least two draws")
    edges = [
        _edges(np.concatenate([one[::2, column], other[::2, column]]), bins)
        for column in range(one.shape[1])
    ]
    shape = tuple(len(cuts) + 1 for cuts in edges)
    chosen = [_histogram(draws[::2], edges, shape) for draws in (one, other)]
    measured = [_histogram(draws[1::2], edges, shape) for draws in (one, other)]
    level = (1 - confidence) / (4 * events)
    best = EpsilonBound(0.0, confidence, 0.0, 1.0, False, ())
    for swapped in (False, True):
        likely, unlikely = chosen[::-1] if swapped else chosen
        hits, misses = measured[::-1] if swapped else measured
        for cells in _promising(likely, unlikely, delta, level, events):
            low = probability_down(int(hits[cells].sum()), int(hits.sum()), level)
            high = probability_up(int(misses[cells].sum()), int(misses.sum()), level)
            epsilon = _epsilon_down(low - delta, high)
            if epsilon > best.epsilon:
                named = zip(*np.unravel_index(cells, shape), strict=True)
                event = tuple(tuple(map(int, cell)) for cell in named)
                best = EpsilonBound(epsilon, confidence, low, high, swapped, event)
    return best


def _columns(draws: ArrayLike) -> NDArray[Any]:
    import numpy as np

    array = np.asarray(draws)
    return array.reshape(len(array), -1)


def _edges(values: NDArray[Any], bins: int) -> NDArray[Any]:
    """Return cuts between bins: every value its own bin, or bins of equal weight."""
    import numpy as np

    distinct = np.unique(values)
    if len(distinct) > bins:
        ranks = (np.arange(1, bins) * len(values)) // bins
        return np.unique(np.sort(values)[ranks])
    return distinct[1:]


def _histogram(
    draws: NDArray[Any], edges: Sequence[NDArray[Any]], shape: tuple[int, ...]
) -> NDArray[np.int64]:
    """Return the count of draws in every cell, cells in one row."""
    import numpy as np

    codes = np.zeros(len(draws), dtype=np.int64)
    for column, cuts in enumerate(edges):
        bins = np.searchsorted(cuts, draws[:, column], side="right")
        codes = codes * shape[column] + bins
    size = int(np.prod(shape))
    return np.bincount(codes, minlength=size)


def _promising(
    likely: NDArray[np.int64],
    unlikely: NDArray[np.int64],
    delta: float,
    level: float,
    events: int,
) -> list[NDArray[np.int64]]:
    """Return the prefixes of the ranked cells that look best, as arrays of cells.

    A rough bound in doubles ranks them: it only guides the choice.
    """
    import numpy as np

    order = np.argsort(-(likely + 0.5) / (unlikely + 0.5), kind="stable")
    order = order[(likely[order] + unlikely[order]) > 0]
    hits, misses = np.cumsum(likely[order]), np.cumsum(unlikely[order])
    spread = -2 * float(gmpy2.log(level))
    low = (hits + spread / 2 - np.sqrt(spread * hits + spread**2 / 4)) / likely.sum()
    high = (misses + spread / 2 + np.sqrt(spread * misses + spread**2 / 4)) / (
        unlikely.sum()
    )
    score = np.maximum(low - delta, 0) / high
    best = np.argsort(-score, kind="stable")[:events]
    return [order[: end + 1] for end in np.sort(best)]


def _epsilon_down(likely: float, unlikely: float) -> float:
    """Return ln(likely / unlikely), rounded down, at least 0."""
    if likely <= unlikely:
        return 0.0
    return max(0.0, float(gmpy2.log(likely / unlikely * _ROUND_DOWN)))
