"""A separator may stand before a location."""

from __future__ import annotations

import pytest

from dpql.model.location import split_separator


@pytest.mark.parametrize(
    ("location", "expected"),
    [
        ("wages.csv", (None, "wages.csv")),
        ("semicolon:wages.csv", (";", "wages.csv")),
        ("tab:/data/wages.txt", ("\t", "/data/wages.txt")),
        ("pipe:https://example.org/a.csv", ("|", "https://example.org/a.csv")),
        ("comma:tab:x", (",", "tab:x")),
        ("duckdb:a.duckdb#t", (None, "duckdb:a.duckdb#t")),
        ("https://example.org/a.csv", (None, "https://example.org/a.csv")),
        ("C:/semicolon:a", (None, "C:/semicolon:a")),
        ("tab", (None, "tab")),
    ],
)
def test_only_a_known_word_before_a_colon_is_one(
    location: str, expected: tuple[str | None, str]
) -> None:
    """Everything else is the location itself."""
    assert expected == split_separator(location)
