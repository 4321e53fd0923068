"""Quoting of names, keys and texts in the text form."""

from __future__ import annotations

import re

from dpql.model.notation import is_bare, name_text, unescaped, unescaped_name

_NUMERAL = re.compile(r"-?[0-9](?:[eE][-+](?=[0-9])|\.\.-(?=[0-9])|[0-9A-Za-z_./:])*")


def subject_text(text: str) -> str:
    """Return what a statistic is of, or who is protected: `row` and `rows` are bare."""
    return text if text in ("row", "rows") else name_text(text)


def key_text(text: str, *, quoted: bool = False) -> str:
    """Return a key of a category, bare when it is one word and need not be quoted."""
    if quoted:
        return quoted_text(text)
    return text if is_bare(text) or _NUMERAL.fullmatch(text) else quoted_text(text)


def literal_text(text: str) -> str:
    """Return a key in a condition: in single quotes, which suit YAML best."""
    return _enclosed(text, "'")


def quoted_text(text: str) -> str:
    """Return a text in double quotes."""
    return _enclosed(text, '"')


def unquoted(token: str) -> str:
    """Return the text of a token that may be in quotes of any kind."""
    text = str(token)
    if text[0] in "\"'":
        return unescaped(text[1:-1])
    return unescaped_name(text[1:-1]) if text[0] == "`" else text


def _enclosed(text: str, mark: str) -> str:
    escaped = text.replace("\\", "\\\\").replace(mark, f"\\{mark}")
    return f"{mark}{escaped}{mark}"
