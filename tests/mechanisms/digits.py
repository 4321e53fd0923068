"""A second way to the geometric law: its binary digits are independent coins.

P(digit i of G is 1) = 1 / (1 + exp(2**i theta)) for G geometric with q = exp(-theta).
Kept as an oracle for the sampler, which inverts the tail instead. Source: MATH 6.2.
"""

from __future__ import annotations

from fractions import Fraction

from dpql.exact import exp_down, exp_up, ln_up, power_of_two_up


def digit_words(theta: Fraction, count: int, bits: int) -> list[int]:
    """Return floor(2**bits / (1 + exp(2**i theta))) for i below ``count``."""
    words = []
    for i in range(count):
        exponent = theta * 2**i
        low = (2**bits / (1 + exp_up(exponent, bits=512))).__floor__()
        high = (2**bits / (1 + exp_down(exponent, bits=512))).__floor__()
        assert low == high
        words.append(low)
    return words


def tail_word(theta: Fraction, count: int, bits: int) -> int:
    """Return floor(2**bits * P(G >= 2**count))."""
    exponent = -theta * 2**count
    low = (2**bits * exp_down(exponent, bits=512)).__floor__()
    assert low == (2**bits * exp_up(exponent, bits=512)).__floor__()
    return low


def digit_count(theta: Fraction) -> int:
    """Return I = ceil(log2(44.4 / theta)): beyond it a digit is 1 below 2**-64."""
    assert ln_up(Fraction(2)) * 64 < Fraction("44.4")
    return max(0, power_of_two_up(Fraction("44.4") / theta))
