"""Lines of separated values: a line is a row, whatever its neighbours are.

There is no quote character, so no record can swallow another; one pair of quotes around
a cell is stripped. Short lines end in nulls, long ones lose their excess. All cells are
text until the spec gives them a form.

polars parses the lines that are UTF-8. The others, which it would refuse or repair, are
split one by one; so are those with a carriage return inside, which it would strip from
a cell. That changes the order of rows, on which no sum depends.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import polars as pl

from dpql.curator.sources.canonical import FrameCanonicaliser, text
from dpql.curator.sources.lines import (
    BATCH_BYTES,
    count_lines,
    header_line,
    line_batches,
)
from dpql.curator.sources.locate import File
from dpql.curator.sources.prefetch import Task
from dpql.curator.sources.source import Fragment, Request
from dpql.curator.sources.stored import find_columns
from dpql.model.spec import Data

_CHECKED_BYTES = 1 << 15
"""Bytes that are checked together, and line by line if one of them is broken."""

_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_QUOTE = b'"'


@dataclass(frozen=True, slots=True, kw_only=True)
class _Layout:
    """The lines of a file: how many fields, and which of them each column is."""

    separator: bytes
    width: int
    fields: Mapping[str, int]


def csv_fragment(separator: str, files: Sequence[File], data: Data) -> Fragment:
    """Return files of separated values.

    Raises:
        RunFault: DPQL501 to DPQL503, from names and headers alone.
    """
    layouts = [_layout(separator.encode(), file, data) for file in files]

    def tasks(request: Request) -> Iterator[Task[pl.DataFrame]]:
        canonical = FrameCanonicaliser(request)
        for file, layout in zip(files, layouts, strict=True):
            for batch in line_batches(file, header=True, longest=BATCH_BYTES):
                yield partial(_frames, batch, file.values, layout, canonical)

    return Fragment(
        types={column.name: pl.String() for column in data.columns},
        tasks=tasks,
        row_count=lambda: sum(count_lines(file, header=True) for file in files),
    )


def header_names(line: bytes, separator: bytes) -> list[str | None]:
    """Return the names in the first line of a file; None where there is none."""
    line = line.removeprefix(_BYTE_ORDER_MARK)
    return [text(cell) for cell in _split(line, separator)] if line else []


def _layout(separator: bytes, file: File, data: Data) -> _Layout:
    """Return where the declared columns are; the value of a folder comes first."""
    names = header_names(header_line(file, data), separator)
    own = [None if name in file.values else name for name in names]
    found = find_columns([*own, *file.values], data)
    return _Layout(
        separator=separator,
        width=max(len(names), 1),
        fields={name: field for name, field in found.items() if field < len(names)},
    )


def _frames(
    batch: bytes,
    values: Mapping[str, bytes | None],
    layout: _Layout,
    canonical: FrameCanonicaliser,
) -> Iterator[pl.DataFrame]:
    fields = {n: layout.fields[n] for n in canonical.names if n in layout.fields}
    usual, others = _sorted_out(batch)
    parsed = _parsed(usual, layout, sorted({*fields.values()}) or [0])
    cells = {name: parsed.get_column(str(field)) for name, field in fields.items()}
    yield canonical(cells, parsed.height, values)
    if others:
        rows = [_split(line, layout.separator) for line in others]
        cells = {name: _column(rows, field) for name, field in fields.items()}
        yield canonical(cells, len(rows), values)


def _sorted_out(batch: bytes) -> tuple[bytes, list[bytes]]:
    """Return the lines that polars reads as they are, together, and each other line.

    Such a line costs its own time and that of some kilobytes around it.
    """
    if _is_usual(batch):
        return batch, []
    usual: list[bytes] = []
    others: list[bytes] = []
    start = 0
    while start < len(batch):
        end = batch.find(b"\n", start + _CHECKED_BYTES) + 1 or len(batch)
        part = batch[start:end]
        start = end
        if _is_usual(part):
            usual.append(part)
            continue
        for line in part.split(b"\n")[: part.count(b"\n") + (part[-1:] != b"\n")]:
            (usual if _is_usual(line + b"\n") else others).append(line + b"\n")
    return b"".join(usual), others


def _is_usual(lines: bytes) -> bool:
    """Tell whether lines are UTF-8, with carriage returns only where lines end."""
    stray = lines.count(b"\r") - lines.count(b"\r\n")
    return not stray and text(lines) is not None


def _parsed(lines: bytes, layout: _Layout, fields: Sequence[int]) -> pl.DataFrame:
    """Return fields of lines, named by their numbers, without their quotes.

    A header of ours comes first: no record stands where polars looks for the marks of
    compressed files.
    """
    header = layout.separator.join(b"%d" % field for field in range(layout.width))
    return pl.read_csv(
        header + b"\n" + lines,
        columns=list(fields),
        separator=layout.separator.decode(),
        quote_char=None,
        infer_schema=False,
        truncate_ragged_lines=True,
    ).select(_unquoted(str(field)) for field in fields)


def _unquoted(name: str) -> pl.Expr:
    cell = pl.col(name)
    quoted = cell.str.starts_with('"') & cell.str.ends_with('"')
    paired = quoted & (cell.str.len_bytes() > 1)
    inside = cell.str.strip_prefix('"').str.strip_suffix('"')
    return pl.when(paired).then(inside).otherwise(cell).alias(name)


def _split(line: bytes, separator: bytes) -> list[bytes | None]:
    """Return the cells of a line, each less one pair of quotes; None if empty."""
    line = line.removesuffix(b"\n").removesuffix(b"\r")
    return [_stripped(cell) if cell else None for cell in line.split(separator)]


def _stripped(cell: bytes) -> bytes:
    paired = len(cell) > 1 and cell.startswith(_QUOTE) and cell.endswith(_QUOTE)
    return cell[1:-1] if paired else cell


def _column(rows: Sequence[Sequence[bytes | None]], field: int) -> pl.Series:
    cells = [row[field] if field < len(row) else None for row in rows]
    return pl.Series(cells, dtype=pl.Binary)
