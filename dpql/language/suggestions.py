"""What an author probably meant to write."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

from dpql.diagnostics import shown
from dpql.language.vocabulary import SYNONYMS
from dpql.statistics.statistic import PRIVATE


def nearest(word: str, words: Iterable[str]) -> str | None:
    """Return the one of the words that was probably meant."""
    known = list(words)
    mistake = SYNONYMS.get(word.lower())
    if mistake in known:
        return mistake
    if word.lower() in known:
        return word.lower()
    close = difflib.get_close_matches(word[:64], known, n=1, cutoff=0.6)
    return close[0] if close else None


def did_you_mean(word: str, words: Iterable[str]) -> str | None:
    """Return a hint with the word that was probably meant, if any."""
    close = nearest(word, words)
    return f"did you mean `{shown(close)}`?" if close else None


def quoted(words: Iterable[str]) -> str:
    """Return the words in backquotes, as a list for people."""
    *most, last = [f"`{shown(word)}`" for word in words]
    return f"{', '.join(most)} or {last}" if most else last


def derivations(name: str, kind: str, allowed: Iterable[str]) -> list[str]:
    """Return how a column of the wrong type becomes one of an allowed type."""
    wanted = set(allowed)
    if kind in ("date", "time") and "category" in wanted:
        return [f"derive a part of it: `month({name})`"]
    if kind in ("date", "time") and "integer" in wanted:
        since = "2013-01-01" if kind == "date" else "2013-01-01 00:00"
        return [f"derive a number from it: `{name} - {since}`"]
    if kind == PRIVATE and "category" in wanted:
        return [f"declare the keys of `{name}`"]
    if kind in ("integer", "decimal", "float") and "category" in wanted:
        return [f"derive bands: `bands({name}, [0, 10, 100])`"]
    return []
