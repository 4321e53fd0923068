"""Files of columns as Arrow reads them: what a header says, and batches of rows.

Arrow checks no text and stumbles over no type, so whether a file can be read depends on
its header alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

from dpql.curator.engines.files import Content
from dpql.curator.engines.urls import Packed

_BATCH_ROWS = 1 << 17

Part = Callable[[], Iterator[Any]]
"""Reads a part of a file, batch by batch."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Columnar:
    """A file whose header was read.

    ``parts`` takes the names of columns, and which of them to read as the words of a
    dictionary. What it gives can be read by several threads.
    """

    schema: Any
    rows: Callable[[], int] = field(repr=False)
    parts: Callable[[Sequence[str], Sequence[str]], Iterator[Part]] = field(repr=False)


def opened(format_: str, content: Content) -> Columnar:
    """Return the file, its header read.

    Raises:
        FileNotFoundError: it is not there, or may not be read.
        OSError: Arrow can make no sense of it; Packed, it is compressed on its way.
        pyarrow.ArrowException: Arrow can make no sense of it.
    """
    return (_parquet if format_ == "parquet" else _ipc)(content)


def _parquet(content: Content) -> Columnar:
    file = import_module("pyarrow.parquet").ParquetFile
    first = _source(content)
    size, header = first.size(), file(first)
    known = header.metadata
    here = isinstance(content, str | bytes)

    def parts(names: Sequence[str], words: Sequence[str]) -> Iterator[Part]:
        source = _source(content, size)

        def part(place: int) -> Part:
            # One reader for each part: readers are not for several threads.
            return lambda: file(
                source, metadata=known, read_dictionary=words, pre_buffer=not here
            ).iter_batches(
                _BATCH_ROWS, row_groups=[place], columns=list(names), use_threads=False
            )

        return map(part, range(known.num_row_groups))

    return Columnar(
        schema=header.schema_arrow, rows=lambda: int(known.num_rows), parts=parts
    )


def _ipc(content: Content) -> Columnar:
    ipc = import_module("pyarrow.ipc")
    first = _source(content)
    size, header = first.size(), ipc.open_file(first)
    schema, count = header.schema, header.num_record_batches

    def parts(names: Sequence[str], _: Sequence[str]) -> Iterator[Part]:
        source = _source(content, size)
        fields = [place for place, n in enumerate(schema.names) if n in names]
        options = ipc.IpcReadOptions(included_fields=fields, use_threads=False)

        def part(place: int) -> Part:
            return lambda: _sliced(
                ipc.open_file(source, options=options).get_batch(place)
            )

        return map(part, range(count))

    def rows() -> int:
        some = schema.names[:1]
        return sum(batch.num_rows for part in parts(some, ()) for batch in part())

    return Columnar(schema=schema, rows=rows, parts=parts)


def _sliced(batch: Any) -> Iterator[Any]:
    for start in range(0, batch.num_rows, _BATCH_ROWS):
        yield batch.slice(start, _BATCH_ROWS)


def _source(content: Content, size: int | None = None) -> Any:
    """Return the file; if its size is known, it must be what it was."""
    arrow = import_module("pyarrow")
    if isinstance(content, str):
        return arrow.memory_map(content)
    if isinstance(content, bytes):
        return arrow.BufferReader(content)
    try:
        source = content.opened()
    except Packed:
        raise
    except OSError:
        raise FileNotFoundError from None
    if size not in (None, source.size()):
        raise OSError("a file changes while it is read")
    return source
