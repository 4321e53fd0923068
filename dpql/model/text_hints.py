"""Hints of a .dpql file: snippets of YAML become what the text form says."""

from __future__ import annotations

import re
from collections.abc import Callable

_ONE = "1"


def _rows(match: re.Match[str]) -> str:
    kind, number = match.groups()
    return f"`{'at most' if kind == 'at_most' else kind} {number} rows`"


def _contributes(match: re.Match[str]) -> str:
    rows, groups = match.groups()
    nouns = "row" if rows == _ONE else "rows", "group" if groups == _ONE else "groups"
    return f"`giving at most {rows} {nouns[0]} in at most {groups} {nouns[1]}`"


_Replacement = str | Callable[[re.Match[str]], str]

_FORMS: tuple[tuple[re.Pattern[str], _Replacement], ...] = tuple(
    (re.compile(f"`{pattern}`"), replacement)
    for pattern, replacement in (
        (r"rows: \{(at_most|exactly): ([^`}]+)\}", _rows),
        (r"contributes: \{rows: ([^`,]+), groups: ([^`}]+)\}", _contributes),
        (r"nulls: \{as: ([^`}]+)\}", r"`nulls as \1`"),
        (r"nulls: drop", "`drop nulls`"),
        (r"spend: \{(\w+): ([^`}]+)\}", r"`spend \1 \2`"),
        (r"data: ([^`]+)", r"`from \1`"),
        (r"source: ([^`]+)", r"`from \1`"),
        (r"unit: row", "`protect row`"),
        (r"epsilon: ([^`]+)", r"`spending epsilon \1`"),
        (r"neighbours: ([^`]+)", r"`under \1`"),
        (r"mechanism: ([^`]+)", r"`using \1`"),
        (r"at_least: ([^`]+)", r"`at least \1 rows`"),
        (r"bounds: (\[[^`]+\])", r"`\1`"),
        (r"keys: \[([^`]+)\]", r"`{\1}`"),
        (r"keys: private", "`category private`"),
        (r"others: true", "`with others`"),
        (r"shown_from", "`shown from`"),
        (r"by: \[([^`]+)\]", r"`by \1`"),
        (r"type: ([^`]+)", r"`\1`"),
        (r"rows: ([^`{]+)", r"`at most \1 rows`"),
        (r"groups: ([^`]+)", r"`in at most \1 groups`"),
        (r"total: ([^`]+)", r"`at most \1 in all`"),
        (r"(\w+): ([^`{}]+)", r"`\1 \2`"),
        (r"where:", "`where`"),
        (r"by:", "`by`"),
    )
)
"""What a snippet of YAML is in the text form; the first that fits is taken."""

_SNIPPET = re.compile(r"`[^`\n]*`")


def in_text_form(hint: str) -> str:
    """Return a hint with its snippets of YAML written in the text form."""
    return _SNIPPET.sub(_snippet, hint)


def _snippet(match: re.Match[str]) -> str:
    for pattern, replacement in _FORMS:
        found = pattern.fullmatch(match[0])
        if found is None:
            continue
        if isinstance(replacement, str):
            return found.expand(replacement)
        return replacement(found)
    return match[0]
