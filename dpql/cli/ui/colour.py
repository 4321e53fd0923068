"""Colours for tables on a terminal, added after the layout is done."""

from __future__ import annotations

import re
import sys
from functools import partial
from typing import Any

from dpql.cli.ui import console

_RULES: tuple[tuple[re.Pattern[str], dict[str, Any]], ...] = (
    (re.compile(r"\A\S.*?(?=   )"), {"bold": True}),
    (re.compile(r"(?m)^ (?:protects|spends|ledger|reads)(?=  )"), {"dim": True}),
    (re.compile(r"█+"), {"fg": "cyan"}),
    (re.compile(r"░+"), {"dim": True}),
    (re.compile(r"does not fit"), {"fg": "red", "bold": True}),
    (re.compile(r"(?m)^ !(?= )"), {"fg": "yellow", "bold": True}),
    (re.compile(r"(?m)^ \+(?= )| better$"), {"fg": "green"}),
    (re.compile(r"(?m)^ -(?= )| worse$"), {"fg": "red"}),
)


def coloured(text: str) -> str:
    """Return the text with colours if stdout is a terminal that wants them."""
    if not console.has_colour(sys.stdout):
        return text
    for pattern, style in _RULES:
        text = pattern.sub(partial(_styled, style), text)
    return text


def _styled(style: dict[str, Any], found: re.Match[str]) -> str:
    return console.styled(found[0], **style)
