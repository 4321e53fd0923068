"""The logarithm of fixed work, against mpmath and against its own promises."""

from __future__ import annotations

import gmpy2
import mpmath
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpql.mechanisms.logarithm import (
    ERROR,
    Logarithm,
    logarithm_to,
    within_word,
)


def _check(fixed: Logarithm, mantissa: int, digits: int) -> None:
    """Assert what `fall` ensures, by the definition and 60 more digits."""
    found = fixed.fall(gmpy2.mpz(mantissa), digits)
    with mpmath.workprec(fixed.fraction_bits + 200):
        m = mpmath.mpf(mantissa) / mpmath.mpf(2) ** digits
        missing = -mpmath.log(m) * mpmath.mpf(2) ** fixed.fraction_bits - int(found)
        assert 0 <= missing < ERROR


@pytest.mark.parametrize("fraction_bits", [34, 104, 168])
def test_every_argument_of_twelve_digits(fraction_bits: int) -> None:
    """All 2048 arguments: every c and every b is met, and both ends of each."""
    fixed = Logarithm(fraction_bits)
    for mantissa in range(1 << 11, 1 << 12):
        _check(fixed, mantissa, 12)


@pytest.mark.property
@given(digits=st.integers(6, 330), data=st.data())
def test_arguments_of_any_length(digits: int, data: st.DataObject) -> None:
    """Long arguments too, those next to 1/2 and 1 among them."""
    fixed = logarithm_to(digits + 22)
    half = 1 << (digits - 1)
    drawn = data.draw(st.integers(half, 2 * half - 1))
    for mantissa in (drawn, half, half + 1, 2 * half - 1):
        _check(fixed, mantissa, digits)


def test_the_logarithm_of_two() -> None:
    """Rounded down, to the last place."""
    fixed = logarithm_to(200)
    with mpmath.workprec(400):
        exact = mpmath.log(2) * mpmath.mpf(2) ** fixed.fraction_bits
        assert int(mpmath.floor(exact)) == int(fixed.ln2)


@pytest.mark.parametrize("word", [30, 64])
def test_within_word(word: int) -> None:
    """The next number that ends where it should within a word."""
    for bits in range(300):
        wanted = next(n for n in range(bits, 400) if 20 <= n % word <= 25)
        assert wanted == within_word(bits, 20, 25, word)


def test_numbers_of_one_size() -> None:
    """No entry of the tables is shorter than another: its size would take its time."""
    fixed = logarithm_to(106)
    sizes = {entry.bit_length() for entry in (*fixed._first, *fixed._second)}
    assert {fixed.fraction_bits + 1} == sizes
