"""Texts and numbers inside an HTML page.

Every text of an author passes through `safe`, which makes it visible, clips it, escapes
it and isolates it from the direction of the text around it.
"""

from __future__ import annotations

from fractions import Fraction
from html import escape

from dpql.diagnostics import shown
from dpql.model.notation import plain
from dpql.reports.display import grouped

_NARROW_SPACE = "\u202f"
_MINUS = "\u2212"


def text(words: str, *, limit: int = 80) -> str:
    """Return a text escaped."""
    return escape(shown(words, limit=limit), quote=True)


def safe(words: str, *, limit: int = 80) -> str:
    """Return a text escaped and isolated."""
    return f"<bdi>{text(words, limit=limit)}</bdi>"


def number(digits: str) -> str:
    """Return digits with thousands apart and a true minus sign."""
    return digits.replace(" ", _NARROW_SPACE).replace("-", _MINUS)


def end(x: Fraction) -> str:
    """Return an end of an axis in few digits."""
    digits = plain(x, 4)
    short = digits.rstrip("0").rstrip(".") if "." in digits else digits
    return number(grouped(short))


def in_words(name: str) -> str:
    """Return a name as a title: spaces for what joins its words, a capital first.

    A name that would not be words then is left as it is.
    """
    words = name.replace("_", " ").replace("-", " ").strip()
    if not words or "  " in words or not words[0].isalpha():
        return name
    return words[0].upper() + words[1:]
