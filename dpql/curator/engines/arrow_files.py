"""Files of columns as Arrow reads them: what a header says, and batches of rows.

Arrow checks no text and stumbles over no type, so whether a file can be read depends on
its header alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from importlib import import_module
from typing import Any

from dpql.curator.engines.files import Content
from dpql.curator.engines.parquet_excerpts import Excerpts, excerpts
from dpql.curator.engines.polars_excerpts import stored_numbers
from dpql.curator.engines.urls import Packed

_BATCH_ROWS = 1 << 17

Part = Callable[[], Iterator[Any]]
"""Reads a part of a file, batch by batch."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Columnar:
    """A file whose header was read, in groups of rows.

    ``read`` takes groups, the names of columns, and which of them to read as the words
    of a dictionary. What it gives can be read by several threads.
    """

    schema: Any
    groups: Sequence[int]
    count: Callable[[Sequence[int]], int] = field(repr=False)
    read: Callable[[Sequence[int], Sequence[str], Sequence[str]], Iterator[Part]] = (
        field(repr=False)
    )
    excerpts: Callable[[Sequence[str]], Excerpts | None] = field(
        default=lambda _: None, repr=False
    )

    def rows(self) -> int:
        """Return the number of rows."""
        return self.count(self.groups)

    def parts(self, names: Sequence[str], words: Sequence[str]) -> Iterator[Part]:
        """Return the rows; ``words`` are columns to be read as dictionaries."""
        return self.read(self.groups, names, words)

    def only(self, groups: Sequence[int]) -> Columnar:
        """Return some groups of the file."""
        return replace(self, groups=groups)


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
    known, enums = header.metadata, _enums(header)
    fields = [
        one.with_type(arrow.string()) if one.name in enums else one
        for one in header.schema_arrow
    ]
    here = isinstance(content, str | bytes)

    schema = arrow.schema(fields)

    def read(
        groups: Sequence[int], names: Sequence[str], words: Sequence[str]
    ) -> Iterator[Part]:
        source = _source(content, size)
        large = {"binary_type": arrow.large_binary()}

        def batches(group: int, names: Sequence[str], **how: Any) -> Iterator[Any]:
            # One reader for each part: readers are not for several threads.
            reader = file(source, metadata=known, pre_buffer=not here, **how)
            for batch in reader.iter_batches(
                _BATCH_ROWS, row_groups=[group], columns=list(names), use_threads=False
            ):
                yield _spelt(batch, enums)

        def rescued(group: int) -> Iterator[Any]:
            numbers = stored_numbers(content, header, schema, names, group)
            others = [name for name in names if name not in numbers]
            return _beside(numbers, batches(group, others, **large), others)

        def part(group: int) -> Iterator[Any]:
            listed = [word for word in words if word not in enums]
            return _first(
                [
                    lambda: batches(group, names, read_dictionary=listed),
                    # Arrow has no dictionaries of words in all encodings there are, nor
                    # of many gigabytes. Large text is never a dictionary, whatever its
                    # header says, and may be as long as memory allows.
                    lambda: batches(group, names, **large),
                    # Arrow refuses numbers that are stored as differences of more bits
                    # than they have themselves, which some writers do and polars reads.
                    lambda: rescued(group),
                ]
            )

        return (partial(part, group) for group in groups)

    def count(groups: Sequence[int]) -> int:
        return sum(known.row_group(group).num_rows for group in groups)

    return Columnar(
        schema=schema,
        groups=range(known.num_row_groups),
        count=count,
        read=read,
        excerpts=partial(_excerpts, content, size, header, schema),
    )


def _first(ways: Sequence[Part]) -> Iterator[Any]:
    """Yield the rows as the first of several ways reads them.

    A way that fails is followed by the next, which passes over the rows that were read.
    """
    done = 0
    for way in ways:
        passed = done
        try:
            for batch in way():
                new = batch.slice(min(passed, batch.num_rows))
                passed -= batch.num_rows - new.num_rows
                done += new.num_rows
                yield new
        except (OSError, import_module("pyarrow").ArrowException):
            if way is ways[-1]:
                raise
        else:
            return


def _beside(
    numbers: Mapping[str, Any], batches: Iterator[Any], names: Sequence[str]
) -> Iterator[Any]:
    """Yield batches that hold columns of numbers too, or these alone."""
    record_batch = import_module("pyarrow").record_batch
    if not names:
        yield record_batch(dict(numbers))
        return
    start = 0
    for batch in batches:
        held = {name: batch.column(name) for name in names}
        held |= {n: cells.slice(start, len(batch)) for n, cells in numbers.items()}
        start += len(batch)
        yield record_batch(held)


def _excerpts(
    content: Content, size: int, header: Any, schema: Any, names: Sequence[str]
) -> Excerpts | None:
    """Return a file of which excerpts can be made; only of those that are here."""
    if not isinstance(content, str | bytes):
        return None
    kinds = {name: schema.field(name).type for name in names}
    parted = excerpts(content, header, kinds)
    if parted is not None and parted.size != size:
        raise OSError("a file changes while it is read")
    return None if parted is None else parted.small()


def _enums(header: Any) -> frozenset[str]:
    """Return the columns that hold words of an enum, which Arrow takes for bytes."""
    raw = {one.name for one in header.schema_arrow if str(one.type) == "binary"}
    leaves = map(header.schema.column, range(header.metadata.num_columns))
    return frozenset(
        leaf.path
        for leaf in leaves
        if leaf.path in raw and leaf.logical_type.type == "ENUM"
    )


def _spelt(batch: Any, enums: Iterable[str]) -> Any:
    """Return the rows with the words of enums as text."""
    for name in enums:
        place = batch.schema.get_field_index(name)
        if place >= 0:
            words = batch.column(place)
            kind = str(words.type).replace("binary", "string")
            batch = batch.set_column(place, name, words.view(kind))
    return batch


def _ipc(content: Content) -> Columnar:
    ipc = import_module("pyarrow.ipc")
    first = _source(content)
    size, header = first.size(), ipc.open_file(first)
    schema = header.schema
    known = list(schema.names)

    def read(
        groups: Sequence[int], names: Sequence[str], _: Sequence[str]
    ) -> Iterator[Part]:
        source = _source(content, size)
        fields = [place for place, n in enumerate(known) if n in names]
        options = ipc.IpcReadOptions(included_fields=fields, use_threads=False)

        def part(place: int) -> Part:
            return lambda: _sliced(
                ipc.open_file(source, options=options).get_batch(place)
            )

        return map(part, groups)

    def count(groups: Sequence[int]) -> int:
        first = read(groups, known[:1], ())
        return sum(batch.num_rows for part in first for batch in part())

    held = range(header.num_record_batches)
    return Columnar(schema=schema, groups=held, count=count, read=read)


def _sliced(batch: Any) -> Iterator[Any]:
    # Arrow believes a file: where buffers are too short, it would read beyond them.
    batch.validate()
    for start in range(0, batch.num_rows, _BATCH_ROWS):
        yield batch.slice(start, _BATCH_ROWS)


def _source(content: Content, size: int | None = None) -> Any:
    """Return the file; if its size is known, it must be what it was."""
    source = _file(content)
    if size not in (None, source.size()):
        raise OSError("a file changes while it is read")
    return source


def _file(content: Content) -> Any:
    arrow = import_module("pyarrow")
    if isinstance(content, str):
        return arrow.memory_map(content)
    if isinstance(content, bytes):
        return arrow.BufferReader(content)
    try:
        return content.opened()
    except Packed:
        raise
    except OSError:
        raise FileNotFoundError from None
