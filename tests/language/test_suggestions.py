"""What an author probably meant: a synonym, another case, or a close word."""

from __future__ import annotations

import pytest

from dpql.language.suggestions import did_you_mean, nearest, quoted


@pytest.mark.parametrize(
    ("word", "words", "expected"),
    [
        ("eps", ["epsilon", "delta"], "epsilon"),
        ("AGE", ["age", "wage"], "age"),
        ("agee", ["age", "district"], "age"),
        ("zzz", ["age", "district"], None),
        ("eps", ["age"], None),
    ],
)
def test_nearest_word(word: str, words: list[str], expected: str | None) -> None:
    """Only a word of the list is proposed, and only one that is close."""
    assert expected == nearest(word, words)


def test_a_long_word_costs_nothing() -> None:
    """Only the beginning of a word is compared."""
    assert nearest("a" * 1_000_000, ["b"]) is None


def test_a_hint_names_the_word() -> None:
    """Without a word that is close there is none."""
    assert "did you mean `age`?" == did_you_mean("agee", ["age"])
    assert did_you_mean("zzz", ["age"]) is None


@pytest.mark.parametrize(
    ("words", "expected"),
    [(["a"], "`a`"), (["a", "b"], "`a` or `b`"), ("abc", "`a`, `b` or `c`")],
)
def test_lists_for_people(words: list[str], expected: str) -> None:
    """The last word stands behind `or`."""
    assert expected == quoted(words)
