"""Known mistakes: what people bring from SQL, Python and YAML, and what to write."""

from __future__ import annotations

import re

_MISTAKES = tuple(
    (re.compile(pattern), hint)
    for pattern, hint in (
        (r"^\s*(?i:select)\b.*", "write `name = mean wage by district spend share 1`"),
        (r"<>", "write `!=`"),
        (r"=>|=<", "write `>=` or `<=`"),
        (r"={3,}", "write `==` to compare"),
        (r"(?<![=<>!])=(?!=)", "write `==` to compare"),
        (r"&&?", "write `and`"),
        (r"\|\|?", "write `or`"),
        (r"!(?!=)", "write `not`"),
        (r";", "delete it; a statement ends with its line"),
        (r"#.*|//", "write `--` before a comment"),
        (
            r"(?<=[\w)\]`])\s*/(?!/)",
            "write `x // 15`, `div(x, y, lower, upper, step)`, or ask for a `ratio`",
        ),
        (r"%", "write `x - (x // 7) * 7` for what is left over"),
        (r"\*\*|\^", "write `x * x`"),
        (r"(?i:group)\s+(?i:by)\b", "write `by district`"),
        (r"(?i:order)\s+(?i:by)\b", "delete it; the order is that of the spec"),
        (r"\b(?i:having|limit|join)\b", "delete it; the language has no such clause"),
        (r"\b(?i:i?like)\b", "list the keys: `district in [north, east]`"),
        (r"\b(?i:not)\s+(?i:in|between)\b", "write `not` before the column"),
        (r"\b(?i:case)\s+(?i:when)\b", "write `case(x > 0, x, y)`"),
        (r"\b(?i:in)\s*\(", "write the list in brackets: `in [north, east]`"),
        (r"\b(?i:count)\s*\(\s*\*?", "write `count rows`"),
        (r"[^\W\d]\w*\s*\(", "write `mean wage`, without parentheses"),
        (
            r"\b(?:AND|OR|NOT|IN|BETWEEN|IS|NULL|WHERE|BY|SPEND|USING)\b",
            "write it in small letters",
        ),
        (
            r"^\s*(?:\w+|`[^`]*`)\s*=\s*(?:\w+|`[^`]*`)\s*(?:[<>+*/]|==|!=|-[^-])",
            "a derived column is defined by `:=`, as in `late := delay > 15`",
        ),
        (
            r":",
            "write the words without colons, and `late := delay > 15` to derive late",
        ),
        (r"[\"'][^\"']*$", "close the quotation mark on the same line"),
        (r"`[^`]*$", "close the backquote on the same line"),
    )
)


def hint_at(text: str, position: int) -> str | None:
    """Return the hint for a known mistake that covers the position in the text."""
    start = text.rfind("\n", 0, position) + 1
    end = text.find("\n", position)
    line = text[start : end if end >= 0 else len(text)][:4_096]
    for pattern, hint in _MISTAKES:
        for match in pattern.finditer(line):
            if match.start() <= position - start < max(match.end(), 1):
                return hint
    return None
