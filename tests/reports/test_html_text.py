"""Texts of a page: names become titles, digits get a true minus sign."""

from __future__ import annotations

from fractions import Fraction

import pytest

from dpql.reports.html_text import end, in_words, number, safe


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("district_wages_2025", "District wages 2025"),
        ("flights", "Flights"),
        ("on-time", "On time"),
        ("a__b", "a__b"),
        ("_", "_"),
        ("2013_flights", "2013_flights"),
    ],
)
def test_names_become_titles(name: str, words: str) -> None:
    """What would not be words stays a name."""
    assert words == in_words(name)


def test_texts_are_escaped_and_isolated() -> None:
    """No text of an author is markup, or turns what stands beside it."""
    assert "<bdi>&lt;b&gt; &quot;x&quot;</bdi>" == safe('<b> "x"')
    assert "<bdi>a\\u{202e}b</bdi>" == safe("a\u202eb")


def test_digits_are_set_as_printed() -> None:
    """Thousands stand apart by a narrow space, an axis has few digits."""
    assert "\u22121\u202f234" == number("-1 234")
    assert "0.3333" == end(Fraction(1, 3))
    assert "9\u202f764" == end(Fraction(9764))
