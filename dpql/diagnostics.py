"""How faults are shown: in full with the line and a caret, or one line each.

Whatever is echoed was written by somebody else, so it is clipped, and characters that
could move the cursor, colour the screen or reorder the text are spelled out.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable

from dpql.errors import Diagnostic, Span

_CLIP = 60
_WIDTH = 100


def shown(text: str, *, limit: int = _CLIP) -> str:
    """Return the text as it may be echoed: one line, printable, at most ``limit``."""
    clipped = text if len(text) <= limit else text[: limit - 1] + "…"
    return "".join(_visible(character) for character in clipped)


def render_text(diagnostics: Iterable[Diagnostic]) -> str:
    """Return the faults in full, a blank line between them."""
    return "\n\n".join(_full(diagnostic) for diagnostic in diagnostics)


def render_concise(diagnostics: Iterable[Diagnostic]) -> str:
    """Return one line for each fault: place, code, message, hint."""
    return "\n".join(
        _headline(diagnostic)
        + (f" ({_line(diagnostic.hint)})" if diagnostic.hint else "")
        for diagnostic in diagnostics
    )


def _full(diagnostic: Diagnostic) -> str:
    lines = [_headline(diagnostic)]
    span = diagnostic.span
    margin = " " * len(str(span.line)) if span else ""
    if span and span.excerpt:
        excerpt, caret = _caret(span)
        lines += [f"{margin} |", f"{span.line} | {excerpt}", f"{margin} | {caret}"]
    if diagnostic.hint:
        lines.append(f"{margin} = hint: {_line(diagnostic.hint)}")
    return "\n".join(lines)


def _headline(diagnostic: Diagnostic) -> str:
    span = diagnostic.span
    place = f"{_line(span.source)}:{span.line}:{span.column}: " if span else ""
    return f"{place}{diagnostic.code} {_line(diagnostic.message)}"


def _line(text: str) -> str:
    return shown(text, limit=600)


def _caret(span: Span) -> tuple[str, str]:
    start = span.column - 1
    end = span.end_column - 1 if span.end_line == span.line else len(span.excerpt)
    end = max(start + 1, end)
    first = max(0, start - _WIDTH // 2) if len(span.excerpt) > _WIDTH else 0
    window = span.excerpt[first : first + _WIDTH]
    before, marked = window[: start - first], window[start - first : end - first]
    left = "…" if first else ""
    right = "…" if first + _WIDTH < len(span.excerpt) else ""
    excerpt = left + "".join(map(_visible, window)).rstrip() + right
    indent = " " * (len(left) + _columns(before))
    return excerpt, indent + "^" * max(1, _columns(marked))


def _columns(text: str) -> int:
    return sum(
        2 if unicodedata.east_asian_width(character) in "WF" else 1
        for character in "".join(map(_visible, text))
    )


def _visible(character: str) -> str:
    if character.isprintable():
        return character
    if character == "\t":
        return " "
    return f"\\u{{{ord(character):x}}}"
