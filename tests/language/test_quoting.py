"""Names, keys and texts are in quotes where they must be, and read back."""

from __future__ import annotations

import pytest

from dpql.language.quoting import (
    key_text,
    literal_text,
    quoted_text,
    subject_text,
    unquoted,
)


@pytest.mark.parametrize(
    ("text", "key", "literal"),
    [
        ("north", "north", "'north'"),
        ("-1.5e+3", "-1.5e+3", "'-1.5e+3'"),
        ("2026-11-16", '"2026-11-16"', "'2026-11-16'"),
        ("1/3", "1/3", "'1/3'"),
        ("and", '"and"', "'and'"),
        ("two words", '"two words"', "'two words'"),
        ("it's", '"it\'s"', "'it\\'s'"),
        ('say "hi"', '"say \\"hi\\""', "'say \"hi\"'"),
        ("a\\b", '"a\\\\b"', "'a\\\\b'"),
    ],
)
def test_keys_and_literals(text: str, key: str, literal: str) -> None:
    """A key that is one word or numeral is bare; whatever is in quotes is read back."""
    assert (key, literal) == (key_text(text), literal_text(text))
    assert (text, text) == (unquoted(key), unquoted(literal))


def test_texts_are_always_in_quotes() -> None:
    """A purpose has quotes even when it is one word."""
    assert '"wages"' == quoted_text("wages")


def test_subjects_are_bare_rows_or_names() -> None:
    """`row` and `rows` are words of the language; a column is a name."""
    given = ["row", "rows", "age", "group", "home address"]
    expected = ["row", "rows", "age", "`group`", "`home address`"]
    assert expected == [subject_text(text) for text in given]
    assert given == [unquoted(text) for text in expected]
