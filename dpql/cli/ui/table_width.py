"""A review table cut to the width of a terminal.

Words are wrapped under themselves. A table that is too wide first gives up its bars,
then a space between its columns; if that is not enough, every row becomes a short list.
"""

from __future__ import annotations

import re
from textwrap import wrap

_BAR = re.compile(r"[█░]{10} ")
_SPARED = 9
_NAMED = range(6, 20)
_FACT = re.compile(r"^( (?:(?:ok|!!|--)  |[!+ -] )?(?:not )?[a-z]+ {2,})(\S.*)$")
_GAP = re.compile(r" {4,}")
_GAP_OF_COLUMNS = re.compile(r"(?<=x) (?=  )")
_TOGETHER = re.compile(r"(?<=\d) (?=\d{3}\b)|(?<=[±≈→]) (?=\S)|(?<=ε) (?=≈)")


def fit_width(text: str, width: int | None) -> str:
    """Return the text in lines of at most ``width`` where that is possible."""
    if width is None:
        return text
    blocks = text.rstrip("\n").split("\n\n")
    return "\n\n".join(_block(block, width) for block in blocks) + "\n"


def _block(block: str, width: int) -> str:
    lines = block.split("\n")
    if max(map(len, lines)) <= width:
        return block
    if any(line.strip(" ─") == "" for line in lines):
        return _table(lines, width)
    return "\n".join(part for line in lines for part in _wrapped(line, width))


def _wrapped(line: str, width: int) -> list[str]:
    """Return the line, folded and indented to where its words begin."""
    if len(line) <= width:
        return [line]
    fact = _FACT.match(line)
    bare = line.lstrip(" !+-")
    named = fact is not None and len(fact[1]) in _NAMED
    lead = fact[1] if fact and named else line[: -len(bare)]
    # Columns of notes move up to their words before anything is folded.
    words = _TOGETHER.sub("\N{NO-BREAK SPACE}", _GAP.sub("   ", line[len(lead) :]))
    folded = wrap(
        words,
        width=width,
        initial_indent=lead,
        # Else the rest of a name could pass for a line of its own.
        subsequent_indent=" " * (len(lead) if named else len(lead) + 2),
        break_on_hyphens=False,
    )
    return [part.replace("\N{NO-BREAK SPACE}", " ") for part in folded]


def _table(lines: list[str], width: int) -> str:
    narrow = [_without_bar(line) for line in lines]
    for drawn in (narrow, _closer(narrow)):
        if max(map(len, drawn)) <= width:
            return "\n".join(drawn)
    heading, _, *rows = [re.split(r" {3,}", line.strip()) for line in narrow]
    records = [
        [
            f" {row[0]}",
            *(_pair(name, cell, width) for name, cell in _pairs(heading, row)),
        ]
        for row in rows
    ]
    return "\n".join("\n".join(record) for record in records)


def _closer(lines: list[str]) -> list[str]:
    """Return a table with two spaces between its columns, where there are more."""
    rows = [line for line in lines if line.strip(" ─")]
    blank = "".join(
        " " if all(row[index : index + 1] in {"", " "} for row in rows) else "x"
        for index in range(max(map(len, lines)))
    )
    spared = [found.start() for found in _GAP_OF_COLUMNS.finditer(blank)]
    return [
        "".join(letter for index, letter in enumerate(line) if index not in spared)
        for line in lines
    ]


def _pairs(heading: list[str], row: list[str]) -> list[tuple[str, str]]:
    return list(zip(heading[1:], row[1:], strict=False))


def _pair(name: str, cell: str, width: int) -> str:
    line = f"   {name:<12} {cell}"
    return line if len(line) <= width else f"   {name} {cell}"


def _without_bar(line: str) -> str:
    if _BAR.search(line):
        return _BAR.sub("  ", line)
    if line.strip(" ─") == "":
        return line[:-_SPARED]
    return line.replace("share" + " " * _SPARED, "share", 1)
