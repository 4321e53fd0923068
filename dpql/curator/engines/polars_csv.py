"""Lines of separated values: a line is a row, whatever the lines beside it are.

No quote character exists, so no record can swallow another; one pair of quotes around a
cell is stripped. Short lines end in nulls, long ones lose their excess.

Lines are read in batches. polars parses those that are UTF-8. The others, which it
would refuse or mend, are split one by one, and so are those with a carriage return
inside, which it would strip from a cell: keys and ids stay the bytes that they are.
That changes the order of rows, on which no sum depends.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import polars as pl

from dpql.curator.engines.ahead import Task, gathered
from dpql.curator.engines.polars_columns import Kind
from dpql.curator.engines.polars_lines import lines_of, opened
from dpql.curator.engines.polars_numbers import read_numbers
from dpql.curator.engines.polars_text import unquoted, word

_BATCH_BYTES = 1 << 22
_CHECKED_BYTES = 1 << 15
"""Bytes that are checked together, and line by line if one of them is broken."""

_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_QUOTE = b'"'

Values = Mapping[str, str | bytes | None]
"""The values of a file's folders."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """What files have in common that are read together.

    ``own`` says in which field of a line a declared column stands; all others are among
    the values of folders. ``wholes`` says of columns of numbers whether they hold
    integers.
    """

    separator: bytes
    width: int
    own: Mapping[str, int]
    kinds: Mapping[str, Kind]
    wholes: Mapping[str, bool]

    def types(self) -> dict[str, pl.DataType]:
        """Return the types of the columns in lines: text for numbers, else bytes."""
        return {
            name: pl.String() if kind is Kind.NUMBER else pl.Binary()
            for name, kind in self.kinds.items()
        }


def header_names(line: bytes, separator: bytes) -> list[str | None]:
    """Return the names that the first line of a file gives; None where it has none."""
    line = line.removeprefix(_BYTE_ORDER_MARK)
    return [word(cell) for cell in fields(line, separator)] if line else []


def fields(line: bytes, separator: bytes) -> list[bytes | None]:
    """Return the cells of a line, each less one pair of quotes; None if empty."""
    line = line.removesuffix(b"\n").removesuffix(b"\r")
    return [_unquoted(cell) if cell else None for cell in line.split(separator)]


def separated_frames(
    files: Sequence[tuple[str | bytes, Values]], layout: Layout, names: Sequence[str]
) -> Generator[pl.DataFrame, None, None]:
    """Yield a row for each line below the headers of some files."""

    def tasks() -> Iterator[Task[pl.DataFrame]]:
        for content, values in files:
            for batch in _batches(content):
                yield partial(_frames, batch, values, names, layout)

    yield from gathered(tasks(), pl.thread_pool_size())


def _batches(content: str | bytes) -> Iterator[bytes]:
    with opened(content) as file:
        file.readline()
        yield from lines_of(file, _BATCH_BYTES, _BATCH_BYTES)


def _frames(
    batch: bytes, values: Values, names: Sequence[str], layout: Layout
) -> list[pl.DataFrame]:
    own = {name: layout.own[name] for name in names if name in layout.own}
    types = layout.types()
    proper, broken = apart(batch)
    parts = [_proper(proper, own, layout)]
    if broken:
        parts.append(_broken(broken, own, layout))
    frames = [
        pl.DataFrame(
            {
                name: part.get_column(name)
                if name in own
                else pl.repeat(values[name], part.height, dtype=types[name], eager=True)
                for name in names
            }
        )
        for part in parts
    ]
    return [read_numbers(frame, layout.wholes) for frame in frames]


def apart(batch: bytes) -> tuple[bytes, list[bytes]]:
    """Return the lines that polars reads as they are, together, and each other one.

    Such a line costs its own time and that of some kilobytes beside it.
    """
    if _is_proper(batch):
        return batch, []
    proper: list[bytes] = []
    broken: list[bytes] = []
    start = 0
    while start < len(batch):
        end = batch.find(b"\n", start + _CHECKED_BYTES) + 1 or len(batch)
        part = batch[start:end]
        start = end
        if _is_proper(part):
            proper.append(part)
            continue
        for line in _split(part):
            (proper if _is_proper(line) else broken).append(line)
    return b"".join(proper), broken


def _is_proper(text: bytes) -> bool:
    """Tell whether lines are UTF-8, with carriage returns only where lines end."""
    stray = text.count(b"\r") - text.count(b"\r\n")
    return not stray and word(text) is not None


def _split(part: bytes) -> Iterator[bytes]:
    *lines, last = part.split(b"\n")
    yield from (line + b"\n" for line in lines)
    if last:
        yield last


def _proper(text: bytes, own: Mapping[str, int], layout: Layout) -> pl.DataFrame:
    """Return the columns of lines that polars reads as they are.

    A header of ours comes first: no record stands where polars looks for the marks of
    compressed files.
    """
    header = layout.separator.join(b"%d" % place for place in range(layout.width))
    frame = pl.read_csv(
        header + b"\n" + text,
        columns=sorted(set(own.values())) or [0],
        separator=layout.separator.decode(),
        quote_char=None,
        infer_schema=False,
        truncate_ragged_lines=True,
    )
    if not own:
        return frame
    types = layout.types()
    return frame.select(
        unquoted(pl.col(str(place))).cast(types[name]).alias(name)
        for name, place in own.items()
    )


def _broken(
    lines: Sequence[bytes], own: Mapping[str, int], layout: Layout
) -> pl.DataFrame:
    """Return the columns of other lines; a number that is no UTF-8 is missing."""
    rows = [fields(line, layout.separator) for line in lines]
    if not own:
        return pl.DataFrame({"0": [None] * len(rows)})
    columns = {}
    for name, place in own.items():
        cells = [row[place] if place < len(row) else None for row in rows]
        number = layout.kinds[name] is Kind.NUMBER
        columns[name] = [word(cell) for cell in cells] if number else cells
    types = layout.types()
    return pl.DataFrame(columns, schema={name: types[name] for name in own})


def _unquoted(cell: bytes) -> bytes:
    paired = len(cell) > 1 and cell.startswith(_QUOTE) and cell.endswith(_QUOTE)
    return cell[1:-1] if paired else cell
