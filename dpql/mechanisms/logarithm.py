"""Logarithms by a fixed amount of integer work, so that time does not tell them.

    -ln(m) = ln(c) + z + z**2/2 + ... + z**K/K,    z = 1 - m * c,    1/2 <= m < 1

    c    a number just below 1/m, looked up by the first digits of m; 0 < z < 2**-5
    K    terms, so many that the rest is below the last place

MPFR's own logarithm is correct, but its time depends on the digits of its argument, by
some nanoseconds that add up to a proof when a draw is timed often enough. Here every
logarithm of one precision makes the same operations on integers of the same sizes.
"""

from __future__ import annotations

from functools import cache

import gmpy2

_STEP = 5
"""Digits of m, after its leading one, that choose c."""

FINE = 12
"""Binary places of c."""

_ONE = gmpy2.mpz(1)
_LIMB = 64
_CLEAR = 40
"""How far the places reach into their last machine word: leading zeros of a number,
rarer than 2**-30, are needed to shorten it by a word."""

LIFT = 24
"""The least number of places beyond the digits of an argument."""

ERROR = 4
"""Results are at most so many units of the last place too small, and never too large.

One for ln(c), one for the terms left out, and less than two for the roundings inside:
each step rounds down twice, and what it lost before is multiplied by z < 1/32.
"""


class Logarithm:
    """The logarithm to so many binary places, for arguments of any fewer digits."""

    __slots__ = ("_logarithms", "_reciprocals", "_shares", "ln2", "places")

    def __init__(self, places: int) -> None:
        self.places = places
        heads = range(1 << _STEP, 2 << _STEP)
        self._reciprocals = [
            gmpy2.mpz((2 << (_STEP + FINE)) // (head + 1)) for head in heads
        ]
        with gmpy2.context(precision=places + _LIMB, round=gmpy2.RoundDown):
            self._logarithms = [
                gmpy2.mpz(
                    gmpy2.floor(
                        gmpy2.mul_2exp(gmpy2.log(gmpy2.div_2exp(c, FINE)), places)
                    )
                )
                for c in self._reciprocals
            ]
            self.ln2 = gmpy2.mpz(gmpy2.floor(gmpy2.mul_2exp(gmpy2.log(2), places)))
        terms = -(-places // _STEP)
        self._shares = [(_ONE << places) // k for k in range(terms, 0, -1)]

    def fall(self, mantissa: gmpy2.mpz, digits: int) -> tuple[gmpy2.mpz, gmpy2.mpz]:
        """Return -ln(m) in units of the last place, and c, for m = mantissa/2**digits.

        Requires: 1/2 <= m < 1, 6 <= digits <= places - 12.
        Ensures: 0 <= -ln(m) - result < 4 units; c / 2**12 <= 1/m < c / 2**12 * 32/31.
        """
        head = int(mantissa >> (digits - 1 - _STEP)) - (1 << _STEP)
        reciprocal = self._reciprocals[head]
        places = self.places
        rest = (_ONE << (digits + FINE)) - mantissa * reciprocal
        z = rest << (places - digits - FINE)
        series = gmpy2.mpz(0)
        for share in self._shares:
            series = share + (z * series >> places)
        return self._logarithms[head] + (z * series >> places), reciprocal


def logarithm_for(digits: int) -> Logarithm:
    """Return the logarithm for arguments of so many digits, to places enough."""
    least = digits + LIFT
    return _logarithm_to(least + (_CLEAR - least) % _LIMB)


@cache
def _logarithm_to(places: int) -> Logarithm:
    return Logarithm(places)
