"""Lines of JSON: a line is a row, whatever the lines beside it are.

Plain lines are searched for their members, many at once; Python parses every other
line by itself. Both give the same cells. polars' own reader would join the lines before
it reads them, so that one line could make several rows, and would decompress a file by
its first bytes.
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import polars as pl

from dpql.curator.engines.polars_frames import scan_frames
from dpql.curator.engines.polars_members import members, plain, read, respelt
from dpql.curator.engines.polars_objects import objects

_BATCH_BYTES = 1 << 22
_LONG_LINE = 1 << 24
"""Bytes; polars cannot hold a text of 2^32, so the end of a batch may not be longer."""

_BYTE_ORDER_MARK = "\ufeff"
_NEWLINE = ord("\n")


def scan_lines(
    sources: Sequence[str | bytes], numbers: Mapping[str, bool]
) -> pl.LazyFrame:
    """Return a row of text for each line of the files, by the rule for objects.

    Lines end at newline bytes and nowhere else; bytes that are no UTF-8 become U+FFFD.
    A line that is no JSON object is a row of nulls, a missing member is a null. Memory
    holds one batch of lines at a time.

    Args:
        sources: paths, or what files hold.
        numbers: the columns, and whether each is declared to hold numbers.
    """

    def frames(names: Sequence[str]) -> Iterator[pl.DataFrame]:
        wanted = {name: numbers[name] for name in names}
        for source in sources:
            for batch in _batches(source):
                yield _frame(batch, wanted)

    return scan_frames(dict.fromkeys(numbers, pl.String()), frames)


def _batches(source: str | bytes) -> Iterator[bytes]:
    """Yield whole lines, many at a time; one that is very long comes by itself."""
    with _opened(source) as file:
        while batch := file.read(_BATCH_BYTES):
            rest = file.readline()
            if len(rest) <= _LONG_LINE:
                yield batch + rest
            else:
                end = batch.rfind(b"\n") + 1
                if end:
                    yield batch[:end]
                yield batch[end:] + rest


def _opened(source: str | bytes) -> BinaryIO:
    return io.BytesIO(source) if isinstance(source, bytes) else Path(source).open("rb")


def _frame(batch: bytes, numbers: Mapping[str, bool]) -> pl.DataFrame:
    if len(batch) > _BATCH_BYTES + _LONG_LINE:
        columns = _parsed([batch.decode(errors="replace")], numbers)
    else:
        columns = _columns(batch, numbers)
    return pl.DataFrame(dict(zip(numbers, columns, strict=True)))


def _columns(batch: bytes, numbers: Mapping[str, bool]) -> list[pl.Series]:
    lines = respelt(_lines(batch))
    usual = plain(lines, numbers)
    if usual.all():
        return members(lines, numbers)
    found = members(lines.zip_with(usual, lines.clear(1)), numbers)
    parsed = _parsed(lines.filter(~usual), numbers)
    places = (~usual).arg_true()
    return [
        cells.scatter(places, others)
        for cells, others in zip(found, parsed, strict=True)
    ]


def _lines(batch: bytes) -> pl.Series:
    """Return the lines as a column of text, without their newlines."""
    try:
        batch.decode()
    except UnicodeDecodeError:
        batch = batch.decode(errors="replace").encode()
    ends = np.flatnonzero(np.frombuffer(batch, np.uint8) == _NEWLINE)
    if batch[-1] != _NEWLINE:
        ends = np.append(ends, len(batch))
    starts = np.append(0, ends[:-1] + 1)
    whole = pl.Series("batch", [batch], pl.Binary).new_from_index(0, len(ends))
    frame = pl.DataFrame([whole, pl.Series("at", starts), pl.Series("to", ends)])
    line = pl.col("batch").bin.slice("at", pl.col("to") - pl.col("at"))
    return frame.select(line.cast(pl.String)).to_series()


def _parsed(lines: Iterable[str], numbers: Mapping[str, bool]) -> list[pl.Series]:
    rows = [_row(line) for line in lines]
    return [
        objects((row.get(name) for row in rows), number=number)
        for name, number in numbers.items()
    ]


def _row(line: str) -> dict[str, Any]:
    try:
        row = read(line.removeprefix(_BYTE_ORDER_MARK))
    except (ValueError, RecursionError):
        return {}
    return row if isinstance(row, dict) else {}
