"""Pairs of keys and names in a file: two cells a line, apart by a comma or a tab.

    AA,American Airlines
    B6,"JetBlue Airways"

The file may name more keys than a column has, and may start with a line of headings: a
line whose key is not asked for is passed over. As its names are published, it is called
``.txt`` like a list of keys: tables of data are not.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator

from dpql.diagnostics import shown
from dpql.errors import Span, SpecError
from dpql.language.context import Context
from dpql.language.key_lists import LIST
from dpql.language.predicate import Mark, Piece
from dpql.language.source import Source, read_beside
from dpql.model.limits import KEY

_KEY = re.compile(KEY.pattern)
_CELLS = 2

Row = tuple[Piece, Piece]


def pairs_in(
    name: str, at: Span, keys: tuple[str, ...], context: Context
) -> tuple[list[Row], str] | None:
    """Return the pairs in a file whose keys are asked for, and the file's sha256.

    None after noting what is wrong with the file.
    """
    if not name.endswith(LIST):
        context.add(
            "DPQL350",
            f"cannot read `{shown(name)}`: it is called otherwise than a list of pairs",
            at,
            "the names in the file are published, so it must be called so: "
            "`names/airlines.txt`",
        )
        return None
    try:
        source, digest = read_beside(context.texts[at.source], name)
    except SpecError as error:
        for fault in error.diagnostics:
            context.add(fault.code, fault.message, fault.span or at, fault.hint)
        return None
    wanted = set(keys)
    seen: dict[str, int] = {}
    rows: list[Row] = []
    for number, (key, value) in _rows(source):
        if key not in wanted:
            continue
        if seen.setdefault(key, number) != number:
            source.add(
                "DPQL366",
                f"the key is on line {seen[key] + 1} as well",
                source.span(number, 0, number, max(1, len(source.lines[number]))),
                "keep one of them",
            )
            continue
        rows.append((_piece(key), _piece(value)))
    context.source.faults += source.faults
    if source.faults:
        return None
    if not rows:
        context.add(
            "DPQL366",
            "no line of the file has one of the keys that are mapped",
            at,
            "a line holds a key and its name, apart by a comma or a tab",
        )
        return None
    return rows, digest


def _piece(text: str) -> Piece:
    return Piece(text=text, start=0, end=0, mark=Mark.TEXT)


def _rows(source: Source) -> Iterator[tuple[int, list[str]]]:
    """Yield the number and the cells of every line, and note those without pairs."""
    lines = source.lines
    tabs = "\t" in lines[0]
    for number, line in enumerate(lines):
        if not line and number == len(lines) - 1:
            return
        try:
            (cells,) = csv.reader([line], delimiter="\t" if tabs else ",", strict=True)
        except (csv.Error, ValueError):
            cells = []
        if len(cells) == _CELLS and all(map(_is_key, cells)):
            yield number, cells
        else:
            source.add(
                "DPQL366",
                "the line is not a pair of keys",
                source.span(number, 0, number, max(1, len(line))),
                f"a line holds a key and its name, of at most {KEY.longest} "
                "characters, apart by a comma or a tab; what holds one stands in "
                "double quotes",
            )


def _is_key(text: str) -> bool:
    return len(text) <= KEY.longest and _KEY.fullmatch(text) is not None
