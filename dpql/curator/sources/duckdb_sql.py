"""What is said to DuckDB in more than one place: names, words and codes of keys."""

from __future__ import annotations

from collections.abc import Sequence


def named(name: str) -> str:
    """Return an identifier, whatever its characters and its case."""
    return '"' + name.replace('"', '""') + '"'


def literal(text: str) -> str:
    """Return a text."""
    return "'" + text.replace("'", "''") + "'"


def words(cell: str) -> str:
    """Return text that is compared byte by byte, whatever its collation."""
    return f'(CAST({cell} AS VARCHAR) COLLATE "binary")'


def key_code(word: str, keys: Sequence[str]) -> str:
    """Return the code of a word among keys, null where it is none.

    DuckDB runs this function once for each word of a dictionary; a cast to an enum
    takes sixty times as long where it fails.
    """
    return f"(NULLIF(list_position([{', '.join(map(literal, keys))}], {word}), 0) - 1)"
