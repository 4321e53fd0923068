"""Exact arithmetic: directions, integers, spellings."""

from __future__ import annotations

from fractions import Fraction

import mpmath
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpql import exact

POSITIVE = st.fractions(Fraction(1, 10**12), Fraction(10**12))
ANY = st.fractions(Fraction(-500), Fraction(500), max_denominator=10**6)


def _real(x: Fraction) -> mpmath.mpf:
    return mpmath.mpf(x.numerator) / x.denominator


@given(POSITIVE, st.sampled_from([24, 64, 256]))
def test_logarithm_is_enclosed(x: Fraction, bits: int) -> None:
    """Down is below, up is above, and they are as close as the bits promise."""
    low, high = exact.ln_down(x, bits=bits), exact.ln_up(x, bits=bits)
    with mpmath.workdps(100):
        assert _real(low) <= mpmath.log(_real(x)) <= _real(high)
    width = Fraction(4, 2**bits) * max(abs(low), abs(high)) + Fraction(4, 2**bits)
    assert high - low <= width


@given(ANY, st.sampled_from([24, 64, 256]))
def test_exponential_is_enclosed(x: Fraction, bits: int) -> None:
    """Down is below, up is above, and they are as close as the bits promise."""
    low, high = exact.exp_down(x, bits=bits), exact.exp_up(x, bits=bits)
    with mpmath.workdps(400):
        assert _real(low) <= mpmath.exp(_real(x)) <= _real(high)
    assert high - low <= high * Fraction(2**12, 2**bits)


def test_exponential_of_the_very_negative() -> None:
    """Far down, the bounds stay finite in memory and on their side."""
    assert exact.exp_down(Fraction(-(10**9))) == 0
    tiny = Fraction(1, 2**23637)
    for x in (-16384, -16385, -(10**9)):
        up = exact.exp_up(Fraction(x))
        assert up > 0
        assert up <= tiny


@given(st.fractions(Fraction(1), Fraction(10**6)))
def test_arcosh_is_below(x: Fraction) -> None:
    """The bound is at most arcosh and at least 0."""
    low = exact.arcosh_down(x)
    with mpmath.workdps(100):
        assert 0 <= _real(low) <= mpmath.acosh(_real(x))


@given(POSITIVE)
def test_power_of_two_up(x: Fraction) -> None:
    """It is the smallest power of two that is not below x."""
    j = exact.power_of_two_up(x)
    assert exact.two_to(j - 1) < x <= exact.two_to(j)


@pytest.mark.parametrize("j", [-200, -1, 0, 1, 200])
def test_power_of_two_of_a_power(j: int) -> None:
    """A power of two is its own answer; a hair above is the next."""
    assert j == exact.power_of_two_up(exact.two_to(j))
    above = exact.two_to(j) * (1 + Fraction(1, 10**40))
    assert j + 1 == exact.power_of_two_up(above)


@given(st.fractions(), st.integers(2, 60))
def test_round_up_to_bits(x: Fraction, bits: int) -> None:
    """The result is the least number of so many bits that is not below x."""
    up = exact.round_up_to_bits(x, bits)
    assert x <= up
    odd = up.numerator
    while odd and odd % 2 == 0:
        odd //= 2
    assert abs(odd).bit_length() <= bits
    assert up - x <= abs(x) * Fraction(2, 2**bits)
    assert up == exact.round_up_to_bits(up, bits)


@given(POSITIVE, st.integers(1, 20))
def test_round_up_to_digits(x: Fraction, digits: int) -> None:
    """The result has so many digits, is not below x and close to it."""
    up = exact.round_up_to_digits(x, digits)
    assert x <= up <= x * (1 + Fraction(10, 10**digits))
    assert up == exact.round_up_to_digits(up, digits)


@given(st.fractions(Fraction(1, 10**6), Fraction(999, 1000)), st.integers(1, 50))
def test_sidak_level(alpha: Fraction, parts: int) -> None:
    """Claims at the level hold together with 1 - alpha, and it is not wasteful."""
    level = exact.sidak_down(alpha, parts)
    assert 0 < level <= alpha
    together = (1 - level) ** parts
    assert 1 - alpha <= together <= (1 - alpha) * (1 + Fraction(1, 10**60))


@given(st.fractions())
def test_spelling_round_trip(x: Fraction) -> None:
    """What str writes is read back."""
    assert x == exact.read_fraction(str(x))


@pytest.mark.parametrize(
    "text",
    [
        *["", " 1", "1 ", "+1", "-0", "01", "1.5", "1e9", "2/4", "1/1", "1/0", "nan"],
        *["1_0", "٣", "9" * 3000, "1/-2"],
    ],
)
def test_other_spellings_are_refused(text: str) -> None:
    """One number has one spelling, and a long one is refused at once."""
    with pytest.raises(ValueError, match="not an exact number"):
        exact.read_fraction(text)
