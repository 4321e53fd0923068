"""Lines of separated values: a line is a row, whatever its neighbours are.

Quotes act within their line (`dpql.curator.sources.quoting`), so no record can swallow
another. Short lines end in nulls, long ones lose their excess. All cells are text until
the spec gives them a form.

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
from dpql.curator.sources.quoting import sorted_out, split, unquoted
from dpql.curator.sources.source import Fragment, Request
from dpql.curator.sources.stored import find_columns
from dpql.model.spec import Data

_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


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
    return [text(cell) for cell in split(line, separator)] if line else []


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
    found = sorted_out(batch, layout.separator)
    asked = sorted({*fields.values()}) or [0]
    for lines, quoted in ((found.plain, False), (found.quoted, True)):
        if lines:
            parsed = _parsed(b"".join(lines), layout, asked, quoted=quoted)
            cells = {n: parsed.get_column(str(field)) for n, field in fields.items()}
            yield canonical(cells, parsed.height, values)
    if found.others:
        rows = [split(line, layout.separator) for line in found.others]
        cells = {name: _column(rows, field) for name, field in fields.items()}
        yield canonical(cells, len(rows), values)


def _parsed(
    lines: bytes, layout: _Layout, fields: Sequence[int], *, quoted: bool
) -> pl.DataFrame:
    """Return fields of lines, named by their numbers, without their quotes.

    A header of ours comes first: no record stands where polars looks for the marks of
    compressed files.
    """
    separator = layout.separator.decode()
    header = layout.separator.join(b"%d" % field for field in range(layout.width))
    frame = pl.read_csv(
        header + b"\n" + lines,
        columns=list(fields),
        separator=separator,
        quote_char=None,
        infer_schema=False,
        truncate_ragged_lines=True,
    )
    if not quoted:
        return frame
    return frame.select(unquoted(str(field), separator) for field in fields)


def _column(rows: Sequence[Sequence[bytes | None]], field: int) -> pl.Series:
    cells = [row[field] if field < len(row) else None for row in rows]
    return pl.Series(cells, dtype=pl.Binary)
