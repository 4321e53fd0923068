"""Numbers are exact, finite, and short."""

from __future__ import annotations

from fractions import Fraction

import pytest

from dpql.language import numbers


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("0.1", Fraction(1, 10)),
        ("1e-6", Fraction(1, 10**6)),
        ("2_000_000", Fraction(2_000_000)),
        ("1/3", Fraction(1, 3)),
        ("-12.50", Fraction(-25, 2)),
        ("1E+5", Fraction(100_000)),
        ("0", Fraction(0)),
        ("1_0/2_0", Fraction(1, 2)),
    ],
)
def test_numbers_are_read_exactly(text: str, expected: Fraction) -> None:
    """A decimal is the decimal it says."""
    assert numbers.is_number(text)
    assert expected == numbers.exact(text)


@pytest.mark.parametrize(
    "text",
    [
        *("no", "010", "12:30", "0x1F", ".5", "5.", "+1", "1__0", "_1", "1_", "1/0"),
        *(".nan", ".inf", "nan", "inf", "1e", "1e400", "1e-309", "1" * 65, "1/-2", ""),
        *("1 000", "1,5", "٣", "½", "1.5/2", "-", "--1", "1e5/3", "0b1", "1\n"),
    ],
)
def test_words_are_not_numbers(text: str) -> None:
    """What other readers take for numbers, and what is too large, is refused."""
    assert not numbers.is_number(text)


@pytest.mark.parametrize("text", ["1e400", "1e-309", "1" * 65, "1e999999999", "1/0"])
def test_oversized_numbers_are_unmistakable(text: str) -> None:
    """A number beyond any use is not called a word."""
    assert numbers.is_oversized(text)


def test_oversized_numbers_are_answered_at_once() -> None:
    """A million digits are refused by their length alone."""
    assert numbers.is_oversized("9" * 10**6)
