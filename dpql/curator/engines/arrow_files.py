"""Files of columns as Arrow reads them: what a header says, and batches of rows.

Arrow checks no text and stumbles over no type, so whether a file can be read depends on
its header alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

from dpql.curator.engines.files import Content
from dpql.curator.engines.urls import Packed

_BATCH_ROWS = 1 << 17

_LISTED = {"PLAIN", "PLAIN_DICTIONARY", "RLE_DICTIONARY", "RLE", "BIT_PACKED"}
"""How texts may be encoded that Arrow can read as the words of a dictionary."""

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
        pyarrow.ArrowException, ValueError: Arrow can make no sense of it.
    """
    return (_parquet if format_ == "parquet" else _ipc)(content)


def _parquet(content: Content) -> Columnar:
    arrow = import_module("pyarrow")
    file = import_module("pyarrow.parquet").ParquetFile
    first = _source(content)
    size, header = first.size(), file(first)
    known, groups = header.metadata, range(header.num_row_groups)
    raw = [one.name for one in header.schema_arrow if one.type == arrow.binary()]
    enums = _paths(
        known, lambda leaf: leaf.path in raw and leaf.logical_type.type == "ENUM"
    )
    schema = arrow.schema(
        [
            one.with_type(arrow.string()) if one.name in enums.values() else one
            for one in header.schema_arrow
        ]
    )
    listed = [one.name for one in schema if arrow.types.is_dictionary(one.type)]
    forced = _paths(known, lambda leaf: leaf.path in listed)
    if any(_as_words(known, group, forced) != [*forced] for group in groups):
        raise OSError("Arrow reads no words of a dictionary that are encoded like this")
    here = isinstance(content, str | bytes)

    def parts(names: Sequence[str], words: Sequence[str]) -> Iterator[Part]:
        source = _source(content, size)
        texts = _paths(known, lambda leaf: leaf.path in words)

        def part(group: int) -> Part:
            # One reader for each part: readers are not for several threads.
            return lambda: (
                _spelt(batch, enums.values())
                for batch in file(
                    source,
                    metadata=known,
                    read_dictionary=_as_words(known, group, texts.keys() - enums),
                    pre_buffer=not here,
                ).iter_batches(
                    _BATCH_ROWS,
                    row_groups=[group],
                    columns=list(names),
                    use_threads=False,
                )
            )

        return map(part, groups)

    return Columnar(schema=schema, rows=lambda: int(known.num_rows), parts=parts)


def _paths(known: Any, wanted: Callable[[Any], bool]) -> dict[int, str]:
    """Return the wanted leaves of a parquet file: their places and names."""
    leaves = map(known.schema.column, range(known.num_columns))
    return {place: leaf.path for place, leaf in enumerate(leaves) if wanted(leaf)}


def _as_words(known: Any, group: int, leaves: Iterable[int]) -> list[int]:
    """Return the leaves that Arrow can read as the words of a dictionary."""
    column = known.row_group(group).column
    return [leaf for leaf in leaves if _LISTED.issuperset(column(leaf).encodings)]


def _spelt(batch: Any, names: Iterable[str]) -> Any:
    """Return the rows; words of an enum are text, which Arrow takes for bytes."""
    text = import_module("pyarrow").string()
    for name in names:
        place = batch.schema.get_field_index(name)
        if place >= 0:
            batch = batch.set_column(place, name, batch.column(place).view(text))
    return batch


def _ipc(content: Content) -> Columnar:
    ipc = import_module("pyarrow.ipc")
    first = _source(content)
    size, header = first.size(), ipc.open_file(first)
    schema, count = header.schema, header.num_record_batches
    known = list(schema.names)

    def parts(names: Sequence[str], _: Sequence[str]) -> Iterator[Part]:
        source = _source(content, size)
        fields = [place for place, n in enumerate(known) if n in names]
        options = ipc.IpcReadOptions(included_fields=fields, use_threads=False)

        def part(place: int) -> Part:
            return lambda: _sliced(
                ipc.open_file(source, options=options).get_batch(place)
            )

        return map(part, range(count))

    def rows() -> int:
        first = parts(known[:1], ())
        return sum(batch.num_rows for part in first for batch in part())

    return Columnar(schema=schema, rows=rows, parts=parts)


def _sliced(batch: Any) -> Iterator[Any]:
    # Arrow believes a file: where buffers are too short, it would read beyond them.
    batch.validate()
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
