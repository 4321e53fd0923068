"""How faults are shown: in full with the line and a caret, or one line each.

Whatever is echoed was written by somebody else, so it is clipped, and characters that
could move the cursor, colour the screen or reorder the text are spelled out.
"""

from __future__ import annotations

import unicodedata
from bisect import bisect_right
from collections.abc import Iterable

from dpql.errors import Diagnostic, Span

_HIDDEN = frozenset({"Cc", "Cf", "Co", "Cs", "Zl", "Zp"})

# The code points of the property Default_Ignorable_Code_Point, which nothing draws
# (Unicode 15, DerivedCoreProperties.txt), and the Braille pattern without dots.
_IGNORABLE = (
    (0x00AD, 0x00AD),
    (0x034F, 0x034F),
    (0x061C, 0x061C),
    (0x115F, 0x1160),
    (0x17B4, 0x17B5),
    (0x180B, 0x180F),
    (0x200B, 0x200F),
    (0x202A, 0x202E),
    (0x2060, 0x206F),
    (0x2800, 0x2800),
    (0x3164, 0x3164),
    (0xFE00, 0xFE0F),
    (0xFEFF, 0xFEFF),
    (0xFFA0, 0xFFA0),
    (0xFFF0, 0xFFF8),
    (0x1BCA0, 0x1BCA3),
    (0x1D173, 0x1D17A),
    (0xE0000, 0xE0FFF),
)
_STARTS = tuple(first for first, _ in _IGNORABLE)

WHOLE = 1 << 20
"""A limit that cuts no name, key or condition of a spec, escapes included."""

_CLIP = 60
_WIDTH = 100


def shown(text: str, *, limit: int = _CLIP) -> str:
    """Return the text as it may be echoed: one line, printable, at most ``limit``."""
    clipped = text if len(text) <= limit else text[: limit - 1] + "…"
    return "".join(_visible(character) for character in clipped)


def is_hidden(character: str) -> bool:
    """Tell whether a character does not show, moves the cursor or reorders others."""
    if " " <= character <= "~":
        return False
    if unicodedata.category(character) in _HIDDEN:
        return True
    index = bisect_right(_STARTS, ord(character)) - 1
    return index >= 0 and ord(character) <= _IGNORABLE[index][1]


def render_text(diagnostics: Iterable[Diagnostic]) -> str:
    """Return the faults in full, a blank line between them."""
    return "\n\n".join(_full(diagnostic) for diagnostic in diagnostics)


def render_concise(diagnostics: Iterable[Diagnostic]) -> str:
    """Return one line for each fault: source span, code, message, hint."""
    return "\n".join(
        _headline(diagnostic)
        + (f" ({_line(diagnostic.hint)})" if diagnostic.hint else "")
        for diagnostic in diagnostics
    )


def _full(diagnostic: Diagnostic) -> str:
    lines = [_headline(diagnostic)]
    span = diagnostic.span
    margin = " " * len(str(span.line)) if span else ""
    if span and span.first_line:
        shown, caret = _caret(span)
        lines += [f"{margin} |", f"{span.line} | {shown}", f"{margin} | {caret}"]
    if diagnostic.hint:
        lines.append(f"{margin} = hint: {_line(diagnostic.hint)}")
    return "\n".join(lines)


def _headline(diagnostic: Diagnostic) -> str:
    span = diagnostic.span
    where = f"{_line(span.source)}:{span.line}:{span.column}: " if span else ""
    return f"{where}{diagnostic.code} {_line(diagnostic.message)}"


def _line(text: str) -> str:
    return shown(text, limit=600)


def _caret(span: Span) -> tuple[str, str]:
    start = span.column - 1
    end = span.end_column - 1 if span.end_line == span.line else len(span.first_line)
    end = max(start + 1, end)
    first = max(0, start - _WIDTH // 2) if len(span.first_line) > _WIDTH else 0
    window = span.first_line[first : first + _WIDTH]
    before, marked = window[: start - first], window[start - first : end - first]
    left = "…" if first else ""
    right = "…" if first + _WIDTH < len(span.first_line) else ""
    shown = left + "".join(map(_visible, window)).rstrip() + right
    indent = " " * (len(left) + _columns(before))
    return shown, indent + "^" * max(1, _columns(marked))


def _columns(text: str) -> int:
    return sum(
        2 if unicodedata.east_asian_width(character) in "WF" else 1
        for character in "".join(map(_visible, text))
    )


def _visible(character: str) -> str:
    if character.isprintable() and not is_hidden(character):
        return character
    if character == "\t":
        return " "
    return f"\\u{{{ord(character):x}}}"
