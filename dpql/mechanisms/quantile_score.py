"""How far a candidate is from the wanted rank; right where many rows are equal.

    score(i) = max(0, b below(i) - a n, a n - b upto(i)),   at = a/b in lowest terms

    below, upto   rows less than candidate i, and at most candidate i
    n             all rows

This is b times the distance, in rows, of the rank a n / b from the ranks that candidate
i has. The least score is 0 for every data set: some candidate has that rank. The usual
score |(b - a) below - a above| costs as much, but under ties prefers values that no row
has.
Source: MATH-statistics 1.1.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


def scores(counts: Sequence[int] | NDArray[Any], at: Fraction) -> NDArray[np.int64]:
    """Return the score of every candidate, from the rows at each of them.

    The work depends on the number of candidates alone. With b <= 2**20 no number
    reaches 2**62 before a cell has 2**42 rows, whatever ceiling was declared.
    """
    import numpy as np

    upto = np.cumsum(np.asarray(counts, dtype=np.int64))
    wanted = at.numerator * upto[-1]
    upto *= at.denominator
    short = wanted - upto
    found: NDArray[np.int64] = np.maximum(short, 0)
    # Below a candidate are the rows up to the one before it.
    np.maximum(found[1:], np.negative(short[:-1]), out=found[1:])
    return found
