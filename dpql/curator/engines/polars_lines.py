"""Lines of JSON: a line is a row, whatever the lines beside it are.

Python reads each line by itself. polars would join the lines before it reads them, so
that one line could make several rows, and would decompress a file by its first bytes.
"""

from __future__ import annotations

import io
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, BinaryIO

import polars as pl
from polars.io.plugins import register_io_source

from dpql.curator.engines.polars_objects import objects

_BATCH_BYTES = 1 << 24
_BYTE_ORDER_MARK = "\ufeff"
_read = json.JSONDecoder(parse_int=str).decode
"""Integers stay text: they may be longer than Python likes to read."""


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

    def batches(
        columns: list[str] | None,
        predicate: pl.Expr | None,
        row_limit: int | None,
        _batch_rows: int | None,
    ) -> Iterator[pl.DataFrame]:
        wanted = list(numbers) if columns is None else columns
        left = row_limit
        for source in sources:
            for rows in _batches(source):
                kept = rows if left is None else rows[:left]
                if left is not None:
                    left -= len(kept)
                frame = pl.DataFrame(
                    [
                        objects(
                            (row.get(name) for row in kept), number=numbers[name]
                        ).alias(name)
                        for name in wanted
                    ]
                )
                yield frame if predicate is None else frame.filter(predicate)

    schema = dict.fromkeys(numbers, pl.String())
    return register_io_source(batches, schema=schema, is_pure=True)


def _batches(source: str | bytes) -> Iterator[list[dict[str, Any]]]:
    with _opened(source) as file:
        while lines := file.readlines(_BATCH_BYTES):
            yield [_row(line) for line in lines]


def _opened(source: str | bytes) -> BinaryIO:
    return io.BytesIO(source) if isinstance(source, bytes) else Path(source).open("rb")


def _row(line: bytes) -> dict[str, Any]:
    text = line.decode("utf-8", errors="replace").removeprefix(_BYTE_ORDER_MARK)
    try:
        row = _read(text)
    except (ValueError, RecursionError):
        return {}
    return row if isinstance(row, dict) else {}
