"""The exact draw of a quantile: one lane of coins and row counts in, one index out.

U = 0.b1 b2 ... is the lane, W_i = e^(-theta score(i)), Z the sum of all W. Chosen is

    the least i with U Z < W_0 + ... + W_i

E_t is 2**precision e^(-theta t) rounded down, too small by less than `SHORT`; from
`most` on it is 0. With prefix sums S_i of E and the first d digits of U as the
integer V,

    the true prefix sum lies in [S_i, S_i + SHORT (i + 1)),   U 2**d in [V, V + 1)

    i = least with (S_i + SHORT (i + 1)) 2**d > V S_{m-1}
    it is the choice if (V + 1)(S_{m-1} + SHORT m) <= S_i 2**d

Else more digits are read and more bits computed, so the law is exact. That happens
with probability below 6 m**2 2**-90. All work depends on the number m of candidates and
on theta alone: one table of weights looked up m times, two or three sums of machine
integers, a search of fixed length. Weights in doubles would fall back with a
probability that depends on the data.
Source: MATH-statistics 1.3, with a bracket of two units in place of one, so that no
weight has to be checked for how near it is to a whole number.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import accumulate
from typing import TYPE_CHECKING, Any

import gmpy2

from dpql.exact import ln_up
from dpql.mechanisms.bits import Bits, each_lane, read_one
from dpql.mechanisms.quantile_score import scores

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from dpql.mechanisms.quantile import QuantileNoise

SHORT = 2
"""Units by which a weight may fall short of the truth, at most."""

_DIGIT = 11
"""Binary digits of a score that one factor stands for."""

_SPARE = 32
"""Bits beyond those asked for, which hold all roundings of the factors."""

_LARGEST_TABLE = 1 << 22
"""More weights than these are not tabulated; each candidate's is computed.

So are those of the first cells, until a table would have been no more work. That
follows from the number of cells and candidates alone.
"""

_LARGEST_SCORE = 1 << 62
"""No score reaches this."""

_FEW = 1 << 17
"""Up to this many candidates two limbs do; beyond, three."""


class Weights:
    """2**precision e^(-theta t), rounded down: a product, one factor per digit of t.

    t = d_0 + 2**11 d_1 + ..., and each factor is looked up by its digit. Every weight
    takes the same multiplications, whatever t is.

    A factor is short of the truth by less than 2 units of its last place and none
    exceeds 1, so a product of at most 6 is short by less than 17; that is far below
    2**32, and cutting off the last 32 bits makes it less than `SHORT`.
    """

    __slots__ = ("_levels", "most", "precision")

    def __init__(self, theta: Fraction, precision: int) -> None:
        self.precision = precision + _SPARE
        beyond = -(-(precision * ln_up(Fraction(2))) // theta)
        self.most = min(beyond, _LARGEST_SCORE)
        count = max(1, -(-self.most.bit_length() // _DIGIT))
        self._levels = [
            [
                self._factor(theta * (d << (_DIGIT * level)))
                for d in range(min(1 << _DIGIT, (self.most >> (_DIGIT * level)) + 1))
            ]
            for level in range(count)
        ]

    def _factor(self, exponent: Fraction) -> gmpy2.mpz:
        """Return 2**precision e**-exponent, rounded down, short by less than 2."""
        with gmpy2.context(precision=self.precision + 96, round=gmpy2.RoundDown):
            least = gmpy2.exp(gmpy2.mpfr(gmpy2.mpq(-exponent)))
            return gmpy2.mpz(gmpy2.floor(gmpy2.mul_2exp(least, self.precision)))

    def of(self, score: int) -> int:
        """Return the weight of a score from 0 to ``most``."""
        weight = self._levels[0][score & ((1 << _DIGIT) - 1)]
        for factors in self._levels[1:]:
            score >>= _DIGIT
            weight = weight * factors[score & ((1 << _DIGIT) - 1)] >> self.precision
        return int(weight >> _SPARE)

    def all(self) -> list[int]:
        """Return the weights of all scores from 0 to ``most``."""
        return [self.of(score) for score in range(self.most + 1)]


class Kit:
    """The weights of one noise, computed when first needed, and how to add them up.

    A weight below 2**(precision + 1) is cut into limbs, so that the sums over all
    candidates stay within machine integers.
    """

    __slots__ = (
        "_asked",
        "_candidates",
        "_finer",
        "_limb",
        "_limbs",
        "_table",
        "_theta",
        "_weights",
        "precision",
    )

    def __init__(self, theta: Fraction, precision: int, candidates: int) -> None:
        self.precision = precision
        self._theta = theta
        self._finer: dict[int, Weights] = {}
        few = candidates <= _FEW
        self._limb = 45 if few else 30
        self._limbs = 2 if few else 3
        self._candidates = candidates
        self._asked = 0
        self._weights: Weights | None = None
        self._table: list[NDArray[np.int64]] | None = None

    def sums(self, found: NDArray[np.int64]) -> Sums:
        """Return the prefix sums of the weights of these scores."""
        import numpy as np

        weights, table = self._tabulated()
        capped = np.minimum(found, weights.most)
        if table is None:
            limbs = self._cut([weights.of(score) for score in capped.tolist()])
        else:
            limbs = [limb[capped] for limb in table]
        return Sums([np.cumsum(limb) for limb in limbs], self._limb)

    def exact_sums(self, found: NDArray[np.int64], precision: int) -> list[int]:
        """Return the prefix sums to more bits, in integers of any size."""
        import numpy as np

        weights = self._finer.get(precision) or Weights(self._theta, precision)
        self._finer[precision] = weights
        capped = np.minimum(found, weights.most).tolist()
        return list(accumulate(weights.of(score) for score in capped))

    def _tabulated(self) -> tuple[Weights, list[NDArray[np.int64]] | None]:
        """Return the weights of scores, and their table once it is worth its while."""
        if self._weights is None:
            self._weights = Weights(self._theta, self.precision)
        most = self._weights.most
        self._asked = min(self._asked + self._candidates, most)
        if self._table is None and self._asked == most < _LARGEST_TABLE:
            self._table = self._cut(self._weights.all())
        return self._weights, self._table

    def _cut(self, weights: Sequence[int]) -> list[NDArray[np.int64]]:
        """Return the limbs of the weights, the lowest first."""
        import numpy as np

        size, last = self._limb, self._limbs - 1
        mask = (1 << size) - 1
        return [
            np.array(
                [w >> size * j & mask if j < last else w >> size * j for w in weights],
                np.int64,
            )
            for j in range(self._limbs)
        ]


class Sums:
    """Prefix sums in limbs; read like a sequence of integers."""

    __slots__ = ("_limbs", "_size")

    def __init__(self, limbs: list[NDArray[np.int64]], size: int) -> None:
        self._limbs = limbs
        self._size = size

    def __len__(self) -> int:
        return len(self._limbs[0])

    def __getitem__(self, index: int) -> int:
        return sum(
            int(limb[index]) << self._size * j for j, limb in enumerate(self._limbs)
        )


def width(noise: QuantileNoise) -> int:
    """Return the bits of one request."""
    return noise.digits


def choose(
    noise: QuantileNoise, counts: Sequence[int] | NDArray[Any], bits: Bits
) -> int:
    """Return the index of one candidate, from the rows at each of them."""
    assert len(counts) == noise.candidates
    found = scores(counts, noise.at)
    read = noise.digits
    lane = read_one(bits, 0, read)
    index = _settled(noise.kit.sums(found), lane, read)
    while index is None:
        lane = lane << noise.more | read_one(bits, read, read + noise.more)
        read += noise.more
        precision = noise.precision + read - noise.digits
        index = _settled(noise.kit.exact_sums(found, precision), lane, read)
    return index


def choose_many(
    noise: QuantileNoise,
    counts: Sequence[Sequence[int] | NDArray[Any]] | NDArray[Any],
    bits: Bits,
) -> list[int]:
    """Return the indices that `choose` gives on the same lanes, one for each cell."""
    lanes = each_lane(bits, len(counts), noise.digits)
    return [choose(noise, row, lane) for row, lane in zip(counts, lanes, strict=True)]


def _settled(sums: Sums | list[int], lane: int, digits: int) -> int | None:
    """Return the choice, or None if these digits and bits leave it open."""
    count = len(sums)
    total = sums[count - 1]
    goal = lane * total
    low, high = 0, count - 1
    # As many steps for every goal: a search that ends early tells where it ended.
    for _ in range(count.bit_length()):
        middle = (low + high) >> 1
        beyond = (sums[middle] + SHORT * (middle + 1)) << digits > goal
        low, high = (low, middle) if beyond else (min(middle + 1, high), high)
    index = high
    settled = (lane + 1) * (total + SHORT * count) <= sums[index] << digits
    return index if settled else None
