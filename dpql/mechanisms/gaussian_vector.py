"""Discrete Gaussian noise of many lanes at once: what the first words settle.

The first word of a lane, read as a signed integer w, holds the sign and 63 digits of
U: M = w ^ (w >> 63), U in [M, M + 1) / 2**63. The magnitude is the number of x >= 1
with U < H(x). What is not settled here is *open*, and drawn exactly from the same lane.

Below sigma2 = 4096 a table does it. cut[x] = floor(2**63 H(x)); every M lies in one of
16,129 intervals, by its exponent and eight more digits as a double. From one threshold
to the next U falls by a factor of 1 - 0.8 / sigma at least, more than an interval is
wide, so that an interval holds one threshold at most, and one comparison settles M:

    |X| = base[interval] + (edge[interval] > M)       open where edge[interval] == M

From 4096 on, with z = Psi**-1(U / 2) at the middle of the digits, in doubles,

    |X| = floor(v),   v = 1/2 + sigma z / (1 + 1 / (24 sigma2))

unless v is within ``radius`` of a whole number, which leaves the lane open:

    radius = (sigma + 1) (2**-44 + 1.26 / (M + 1/2)) + (z**3 + 6) / (280 sigma**3)

z is Wichura's AS 241: of its three branches both that matter are taken for every lane,
and one is kept. The third begins at U = 2 exp(-25), beyond 6.6 sigma: such a lane is
open. The work is the same for every lane that is not. The error of z was measured below
2**-47, an eighth of the 2**-44 that is allowed for it; a test measures it again.

Like `vector`, this module works with floats.
Source: MATH-delta 1.6.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TypeVar

import gmpy2
import numpy as np
from numpy.typing import NDArray

from dpql.mechanisms.gaussian_tail import BRANCH, DIGITS, LARGEST, Tail

Words = NDArray[np.int64]
F = TypeVar("F", float, NDArray[np.float64])

_MARGIN = Fraction(47, 5)
"""Sigmas that a table reaches; 2**63 H is below 1 there."""

_CUT_BITS = DIGITS + 64
_SHIFT = 44
"""Digits of a double's significand that an interval does not look at: 52 - 8."""

_ONE = 1023 << 8
"""The interval of 1.0 among all doubles."""

_RADIUS = 2.0**-44
_UNREAD = 1.26
_HALF = 0.5
"""Between two whole numbers."""

_OUTER = 0.425
_FARTHEST = 5.0
_TOP = 44.3614195558364998
"""64 ln 2."""

_START = 1.6

_MIDDLE = (
    (
        2.5090809287301226727e3,
        3.3430575583588128105e4,
        6.7265770927008700853e4,
        4.5921953931549871457e4,
        1.3731693765509461125e4,
        1.9715909503065514427e3,
        1.3314166789178437745e2,
        3.3871328727963666080e0,
    ),
    (
        5.2264952788528545610e3,
        2.8729085735721942674e4,
        3.9307895800092710610e4,
        2.1213794301586595867e4,
        5.3941960214247511077e3,
        6.8718700749205790830e2,
        4.2313330701600911252e1,
        1.0,
    ),
)
"""Coefficients of AS 241 for the middle, above and below the line, highest first."""

_SIDE = (
    (
        7.74545014278341407640e-4,
        2.27238449892691845833e-2,
        2.41780725177450611770e-1,
        1.27045825245236838258e0,
        3.64784832476320460504e0,
        5.76949722146069140550e0,
        4.63033784615654529590e0,
        1.42343711074968357734e0,
    ),
    (
        1.05075007164441684324e-9,
        5.47593808499534494600e-4,
        1.51986665636164571966e-2,
        1.48103976427480074590e-1,
        6.89767334985100004550e-1,
        1.67638483018380384940e0,
        2.05319162663775882187e0,
        1.0,
    ),
)
"""Coefficients of AS 241 for the sides, where sqrt(-ln(U / 2)) is at most 5."""


class Settler:
    """What settles first words, made once per noise that is drawn.

    ``many`` settles many words at once; it is None where every lane is drawn alone.
    """

    __slots__ = ("_alone", "_cuts", "_lift", "many")

    def __init__(self, tail: Tail, digits: int, lift: int) -> None:
        self._lift = lift
        self._cuts: NDArray[np.int64] | None = None
        self._alone: Arithmetic | None = None
        self.many: Table | Arithmetic | None = None
        if tail.sigma2 < BRANCH:
            thresholds = cuts(tail, digits)
            self._cuts = np.array(thresholds, np.int64)
            if digits == DIGITS:
                self.many = Table(thresholds)
        elif tail.sigma2 <= LARGEST and digits == DIGITS:
            self._alone = self.many = Arithmetic(tail.sigma2)

    def settle(self, digits: int) -> int | None:
        """Return the lifted magnitude of the first digits, None if they leave it open.

        The work is the same for all digits: a table is compared throughout.
        """
        if self._cuts is not None:
            magnitude = int((self._cuts > digits).sum(initial=self._lift))
            is_open = int((self._cuts == digits).sum(initial=self._lift))
            return None if is_open > self._lift else magnitude
        if self._alone is None:
            return None
        return self._alone.settled_one(digits, self._lift)


def cuts(tail: Tail, digits: int) -> tuple[int, ...]:
    """Return floor(2**digits H(x)) for x = 1, 2, ... as far as it is above 0, and a 0.

    Each is certified: the bounds of H agree on it.
    """
    found: list[int] = []
    while not found or found[-1]:
        found.append(_cut(tail, len(found) + 1, digits))
    return tuple(found)


def _cut(tail: Tail, x: int, digits: int) -> int:
    bits = digits + 64
    while True:
        low, high = tail.bounds(x, bits)
        if low >> (bits - digits) == high >> (bits - digits):
            return low >> (bits - digits)
        bits *= 2


class Table:
    """Settles the lanes of small noise by one look and one comparison."""

    __slots__ = ("_base", "_edge")

    def __init__(self, thresholds: tuple[int, ...]) -> None:
        last = _intervals(np.array([(1 << DIGITS) - 1], np.int64))[0]
        limits = np.array(thresholds, np.int64)
        own = _intervals(limits[:-1])
        # The last ones may be equal, and are alone in their interval: M is small there.
        apart = (np.diff(own) < 0) | (np.diff(limits[:-1]) == 0)
        assert np.all(apart), "an interval holds one threshold at most"
        index = np.arange(last + 1)
        # Thresholds fall. Those of higher intervals exceed every M of this one.
        self._base = np.searchsorted(-own, -index, side="left")
        self._edge = limits[self._base]

    def settled(self, words: Words) -> tuple[Words, Words]:
        """Return the magnitudes of the words, and the indices of open ones."""
        digits = words >> DIGITS
        digits ^= words
        interval = _intervals(digits)
        # Every interval is one of the table; `clip` saves the check of each.
        edge = self._edge.take(interval, mode="clip")
        magnitudes = self._base.take(interval, mode="clip")
        magnitudes += edge > digits
        return magnitudes, np.flatnonzero(edge == digits)


def _intervals(digits: Words) -> Words:
    """Return the interval of each M; it never falls as M rises."""
    points = digits.astype(np.float64)
    points += 1.0
    found: Words = points.view(np.int64)
    found >>= _SHIFT
    found -= _ONE
    return found


class Arithmetic:
    """Settles the lanes of large noise by the inverse of the normal law."""

    __slots__ = ("_cubed", "_factor", "_sigma")

    def __init__(self, sigma2: Fraction) -> None:
        square = gmpy2.mpq(*sigma2.as_integer_ratio())
        with gmpy2.context(precision=128):
            sigma = gmpy2.sqrt(square)
            self._sigma = float(sigma)
            self._factor = float(sigma / (1 + 1 / (24 * square)))
            self._cubed = float(1 / (280 * sigma * square))

    def settled(self, words: Words) -> tuple[Words, Words]:
        """Return the magnitudes of the words, and the indices of open ones."""
        digits = words >> DIGITS
        digits ^= words
        points = digits.astype(np.float64)
        points += 0.5
        z, far = quantiles(points)
        radius = z * z
        radius *= z
        radius += 6.0
        radius *= self._cubed
        np.divide((self._sigma + 1.0) * _UNREAD, points, out=points)
        radius += points
        radius += (self._sigma + 1.0) * _RADIUS
        z *= self._factor
        # v - 1/2 is rounded to the nearest: floor(v), and how far v is from a whole.
        magnitudes = np.rint(z)
        z -= magnitudes
        np.abs(z, out=z)
        radius += z
        doubtful = radius >= _HALF
        doubtful |= far
        return magnitudes.astype(np.int64), np.flatnonzero(doubtful)

    def settled_one(self, digits: int, lift: int) -> int | None:
        """Return lift + |X| for the digits of one lane, or None if they leave it open.

        The same formulas in Python's floats, which take the same time for all of them.
        """
        point = digits + 0.5
        y = 0.5 - point * 2.0**-64
        square = _OUTER * _OUTER - y * y
        middle = y * _polynomial(_MIDDLE[0], square) / _polynomial(_MIDDLE[1], square)
        root = (_TOP - float(np.log(point))) ** 0.5
        r = root - _START
        z = (middle, _polynomial(_SIDE[0], r) / _polynomial(_SIDE[1], r))[y > _OUTER]
        radius = (self._sigma + 1.0) * (_RADIUS + _UNREAD / point)
        radius += (z * z * z + 6.0) * self._cubed
        v = z * self._factor + 0.5
        magnitude = v // 1.0
        near = abs(v - magnitude - 0.5)
        if near + radius >= _HALF or root > _FARTHEST:
            return None
        return int(magnitude) + lift


def quantiles(
    points: NDArray[np.float64],
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Return z with Psi(z) = point / 2**64, and where it is not known: beyond 6.6.

    The argument y = 1/2 - U/2 of the middle is taken to .425, and above it the side's,
    r = sqrt(64 ln 2 - ln(point)) - 1.6.
    """
    y = points * -(2.0**-64)
    y += 0.5
    square = y * y
    np.subtract(_OUTER * _OUTER, square, out=square)
    middle = _ratio(_MIDDLE, square)
    middle *= y
    r = np.log(points)
    np.subtract(_TOP, r, out=r)
    np.sqrt(r, out=r)
    far = r > _FARTHEST
    r -= _START
    side = _ratio(_SIDE, r)
    return np.where(y <= _OUTER, middle, side), far


def _ratio(
    coefficients: tuple[tuple[float, ...], tuple[float, ...]], x: NDArray[np.float64]
) -> NDArray[np.float64]:
    above, below = (_polynomial(each, x) for each in coefficients)
    above /= below
    return above


def _polynomial(coefficients: tuple[float, ...], x: F) -> F:
    """Return the polynomial at x, a float or an array, by Horner."""
    found = x * coefficients[0]
    found += coefficients[1]
    for coefficient in coefficients[2:]:
        found *= x
        found += coefficient
    return found
