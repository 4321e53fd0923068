"""How names, keys and texts are spelled in the text form."""

from __future__ import annotations

import re

RESERVED = frozenset(
    {
        "dpql",
        "release",
        "from",
        "with",
        "at",
        "most",
        "least",
        "exactly",
        "rows",
        "row",
        "groups",
        "group",
        "step",
        "drop",
        "nulls",
        "as",
        "protect",
        "giving",
        "in",
        "under",
        "spending",
        "default",
        "where",
        "by",
        "bins",
        "using",
        "alpha",
        "gamma",
        "spend",
        "report",
        "signed",
        "or",
        "and",
        "not",
        "between",
        "is",
        "null",
    }
)
"""The words of query.lark; a column of such a name is written in backquotes."""

_NAME = re.compile(r"[^\W\d]\w*")
_NUMERAL = re.compile(r"-?[0-9](?:[eE][-+](?=[0-9])|[0-9A-Za-z_./:])*")


def is_bare(text: str) -> bool:
    """Tell whether a name needs no backquotes."""
    return _NAME.fullmatch(text) is not None and text not in RESERVED


def spelled_name(text: str) -> str:
    """Return a name as it is written."""
    return text if is_bare(text) else f"`{text}`"


def spelled_subject(text: str) -> str:
    """Return what a statistic is of, or who is protected: `row` and `rows` are bare."""
    return text if text in ("row", "rows") else spelled_name(text)


def spelled_key(text: str) -> str:
    """Return a key of a category, bare when it is one word."""
    return text if is_bare(text) or _NUMERAL.fullmatch(text) else spelled_text(text)


def spelled_literal(text: str) -> str:
    """Return a literal of a condition; in single quotes, which suit YAML best."""
    return text if is_bare(text) or _NUMERAL.fullmatch(text) else _enclosed(text, "'")


def spelled_text(text: str) -> str:
    """Return a text in double quotes."""
    return _enclosed(text, '"')


def unquoted(token: str) -> str:
    """Return the text of a token that may be in quotes of any kind."""
    text = str(token)
    if text[0] in "\"'":
        return re.sub(r"\\(.)", r"\1", text[1:-1])
    return text[1:-1] if text[0] == "`" else text


def _enclosed(text: str, mark: str) -> str:
    escaped = text.replace("\\", "\\\\").replace(mark, f"\\{mark}")
    return f"{mark}{escaped}{mark}"
