"""Lines of JSON: a line is a row, whatever the lines beside it are.

Plain lines are searched for their members, many at once; Python parses every other
line by itself, and those that are no UTF-8. Both give the same cells. polars' own
reader would join the lines before it reads them, so that one line could make several
rows, and would decompress a file by its first bytes.
"""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import BinaryIO

import numpy as np
import polars as pl

from dpql.curator.engines.polars_columns import Kind
from dpql.curator.engines.polars_members import members, parsed, placed, plain, respelt
from dpql.curator.engines.polars_text import words

_BATCH_BYTES = 1 << 22
_LONG_LINE = 1 << 24
"""Bytes; polars cannot hold a text of 2^32, so the end of a batch may not be longer."""

_NEWLINE = ord("\n")


def line_frames(
    source: str | bytes, kinds: Mapping[str, Kind]
) -> Iterator[pl.DataFrame]:
    """Yield a row for each line of a file: numbers as text, keys and ids as bytes.

    Lines end at newline bytes and nowhere else; strings of bytes that are no UTF-8 stay
    as they are. A line that is no JSON object is a row of nulls, a missing member is a
    null. Memory holds one batch of lines at a time.

    Args:
        source: a path, or what a file holds.
        kinds: the columns, and what each is declared to hold.
    """
    for batch in batches(source, _BATCH_BYTES, _LONG_LINE):
        yield _frame(batch, kinds)


def batches(source: str | bytes, size: int, longest: int) -> Iterator[bytes]:
    """Yield whole lines, many at a time; one that is very long comes by itself."""
    with opened(source) as file:
        yield from lines_of(file, size, longest)


def lines_of(file: BinaryIO, size: int, longest: int) -> Iterator[bytes]:
    """Yield what is left of a file as whole lines, many at a time."""
    while batch := file.read(size):
        rest = file.readline()
        if len(rest) <= longest:
            yield batch + rest
        else:
            end = batch.rfind(b"\n") + 1
            if end:
                yield batch[:end]
            yield batch[end:] + rest


def opened(source: str | bytes) -> BinaryIO:
    """Return a file of bytes."""
    return io.BytesIO(source) if isinstance(source, bytes) else Path(source).open("rb")


def _frame(batch: bytes, kinds: Mapping[str, Kind]) -> pl.DataFrame:
    if len(batch) > _BATCH_BYTES + _LONG_LINE:
        columns = parsed([batch], kinds)
    else:
        columns = _columns(batch, kinds)
    return pl.DataFrame(dict(zip(kinds, columns, strict=True)))


def _columns(batch: bytes, kinds: Mapping[str, Kind]) -> list[pl.Series]:
    raw = _lines(batch)
    lines = respelt(words(raw))
    usual = plain(lines, kinds).fill_null(False)
    if usual.all():
        return members(lines, kinds)
    found = members(lines.zip_with(usual, lines.clear(1)), kinds)
    others = parsed(raw.filter(~usual), kinds)
    places = (~usual).arg_true()
    return [
        placed(cells, places, other) for cells, other in zip(found, others, strict=True)
    ]


def _lines(batch: bytes) -> pl.Series:
    """Return the lines as a column of bytes, without their newlines."""
    ends = np.flatnonzero(np.frombuffer(batch, np.uint8) == _NEWLINE)
    if batch[-1] != _NEWLINE:
        ends = np.append(ends, len(batch))
    starts = np.append(0, ends[:-1] + 1)
    whole = pl.Series("batch", [batch], pl.Binary).new_from_index(0, len(ends))
    frame = pl.DataFrame([whole, pl.Series("at", starts), pl.Series("to", ends)])
    line = pl.col("batch").bin.slice("at", pl.col("to") - pl.col("at"))
    return frame.select(line).to_series()
