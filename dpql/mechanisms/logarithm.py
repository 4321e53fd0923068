"""Logarithms by a fixed amount of integer work, so that time does not tell them.

    -ln(m) = ln(c) + ln(b) + z + z**2/2 + ... + z**K/K,   z = 1 - m * c * b

    m    at least 1/2 and below 1
    c    a number just below 1/m, looked up by the first digits of m: 1 - m c < 2**-5
    b    1 + j/2**10, where j are the first digits of 1 - m c: 0 <= z < 2**-9
    K    terms, so many that the rest is below the last place

MPFR's own logarithm is correct, but its time depends on the digits of its argument, by
some nanoseconds that add up to a proof when a draw is timed often enough. Here every
logarithm of one precision makes the same operations on integers of the same sizes.
"""

from __future__ import annotations

from functools import cache

import gmpy2

_FINE = 12
"""Bits of the fraction of c."""

_STEP = 5
"""Digits of m, after its leading one, that choose c; so many again choose b."""

_ONE = gmpy2.mpz(1)

ERROR = 4
"""Results are less than so many units of the last place too small, never too large.

One each for ln(c), ln(b) and the last product, and less than one for all the rest: what
is lost inside the series is multiplied by z, and the terms left out are below 2**-9.
"""


class Logarithm:
    """The logarithm with so many bits of fraction, for arguments of fewer digits.

    The tables hold 1 + ln(c) and 1 + ln(b): a zero would take less time to add.
    """

    __slots__ = (
        "_factors",
        "_first",
        "_reciprocals",
        "_second",
        "_shares",
        "_surplus",
        "fraction_bits",
        "ln2",
    )

    def __init__(self, fraction_bits: int) -> None:
        self.fraction_bits = fraction_bits
        one = _ONE << fraction_bits
        heads = range(1 << _STEP, 2 << _STEP)
        self._reciprocals = [(_ONE << (_FINE + _STEP + 1)) // (k + 1) for k in heads]
        self._first = [
            one + _ln_down(c, _FINE, fraction_bits) for c in self._reciprocals
        ]
        self._factors = [(_ONE << 2 * _STEP) + j for j in range(1 << _STEP)]
        self._second = [
            one + _ln_down(b, 2 * _STEP, fraction_bits) for b in self._factors
        ]
        self._surplus = 2 * one
        self.ln2 = _ln_down(gmpy2.mpz(2), 0, fraction_bits)
        terms = -(-fraction_bits // (2 * _STEP - 1))
        self._shares = [one // k for k in range(terms, 0, -1)]

    def fall(self, mantissa: gmpy2.mpz, digits: int) -> gmpy2.mpz:
        """Return -ln(m) in units of the last place, for m = mantissa / 2**digits.

        Requires: 1/2 <= m < 1 and 6 <= digits <= fraction_bits - 22.
        Ensures: 0 <= -ln(m) - result < 4 units.
        """
        head = int(mantissa >> (digits - 1 - _STEP)) - (1 << _STEP)
        size = digits + _FINE
        near = mantissa * self._reciprocals[head]
        following = int(((_ONE << size) - near) >> (size - 2 * _STEP))
        rest = (_ONE << (size + 2 * _STEP)) - near * self._factors[following]
        fraction_bits = self.fraction_bits
        z = rest << (fraction_bits - size - 2 * _STEP)
        series = gmpy2.mpz(0)
        for share in self._shares:
            series = share + (z * series >> fraction_bits)
        found = self._first[head] + self._second[following] - self._surplus
        return found + (z * series >> fraction_bits)


def _ln_down(numerator: gmpy2.mpz, bits: int, fraction_bits: int) -> gmpy2.mpz:
    """Return ln(numerator / 2**bits) in units of the last place, rounded down."""
    with gmpy2.context(precision=fraction_bits + 64, round=gmpy2.RoundDown):
        logarithm = gmpy2.log(gmpy2.div_2exp(numerator, bits))
        return gmpy2.mpz(gmpy2.floor(gmpy2.mul_2exp(logarithm, fraction_bits)))


def logarithm_to(fraction_bits: int) -> Logarithm:
    """Return the logarithm with at least so many bits of fraction."""
    return _logarithm(within_word(fraction_bits, 36, 57))


def within_word(bits: int, low: int, high: int, word: int = 64) -> int:
    """Return the least number from ``bits`` on that is low to high beyond full words.

    Whether a number fills one more word, or a carry enters it, takes its time. Numbers
    whose leading bit lies well within a word neither lose nor gain one by their value.
    """
    spare = bits % word
    if low <= spare <= high:
        return bits
    return bits + (low - spare) % word


@cache
def _logarithm(fraction_bits: int) -> Logarithm:
    return Logarithm(fraction_bits)
