"""The cells of a line by docs/reference/data.md, one byte after the other."""

from __future__ import annotations


def cells_of(line: bytes, mark: bytes) -> list[bytes]:
    """Return the cells of a line; a quoted one without its quotes."""
    cells, at = [], 0
    while at <= len(line):
        found = _quoted(line, at, mark)
        if found is None:
            end = line.find(mark, at)
            end = len(line) if end < 0 else end
            found = line[at:end], end
        cell, end = found
        cells.append(cell)
        at = end + 1
    return cells


def _quoted(line: bytes, at: int, mark: bytes) -> tuple[bytes, int] | None:
    """Return a quoted cell and where it ends; None if none stands there."""
    if line[at : at + 1] != b'"':
        return None
    held = b""
    at += 1
    while at < len(line):
        if line[at : at + 2] == b'""':
            held += b'"'
            at += 2
        elif line[at : at + 1] == b'"':
            ends = line[at + 1 : at + 2] in (b"", mark)
            return (held, at + 1) if ends else None
        else:
            held += line[at : at + 1]
            at += 1
    return None
