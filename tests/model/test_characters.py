"""Words that look alike are found, in whatever alphabet."""

from __future__ import annotations

import pytest

from dpql.model.characters import look, mixes_alphabets


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("age", "\u0430g\u0435", True),  # Cyrillic
        ("PHONE", "\u03a1\u0397\u039f\u039d\u0395", True),  # Greek
        ("no", "\u0578o", True),  # Armenian
        ("no", "\u043fo", False),
        ("\ufb01le", "file", True),  # a ligature
        ("\uff41ge", "age", True),  # full width
        ("age", "Age", False),
        ("n\u00e9", "ne\u0301", True),
    ],
)
def test_looks(one: str, other: str, *, same: bool) -> None:
    """Two words with one look are the same to a reader."""
    assert same is (look(one) == look(other))


@pytest.mark.parametrize(
    ("word", "mixed"),
    [
        ("age", False),
        ("\u0432\u043e\u0437\u0440\u0430\u0441\u0442", False),
        ("\u0430ge", True),
        ("age_\u0440", False),
        ("age\u5e74", False),
    ],
)
def test_mixtures(word: str, *, mixed: bool) -> None:
    """Only letters of alphabets that share shapes, side by side, are a mixture."""
    assert mixed is mixes_alphabets(word)
