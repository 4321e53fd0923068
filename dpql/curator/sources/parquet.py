"""Parquet files by pyarrow: no text is decoded, so no cell can break the reading.

How a column is read follows from the footer. Text becomes a dictionary where all its
chunks are stored so, and each word is then looked up once; but not where words are so
many that plain text would be shorter. Row groups are read together up to `_READ_ROWS`
rows. polars reads the numbers of large local files, since it takes half the time, and
all integers that are stored as differences: Arrow refuses some of them, depending on
the cells.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import polars as pl
import polars.selectors as cs
import pyarrow as pa
import pyarrow.parquet as pq

from dpql.curator.sources.arrow_files import (
    fragments,
    is_readable,
    open_content,
    stored_columns,
)
from dpql.curator.sources.canonical import FrameCanonicaliser
from dpql.curator.sources.footer import Chunk, read_chunks
from dpql.curator.sources.locate import File
from dpql.curator.sources.prefetch import Task
from dpql.curator.sources.source import Fragment, Request
from dpql.curator.sources.stored import whole_ids
from dpql.model.spec import Data

_READ_ROWS = 1 << 19
"""Rows that are read together, about."""

_LARGE = 1 << 31
"""Arrow counts the bytes of a text column in 32 bits below this."""

_MANY_WORDS = 8
"""Bytes of each row; larger dictionaries hold about half as many words as rows."""

_SMALL = 1 << 16
"""Bytes of a column that are read in no time in any way."""

_DICTIONARY = {2, 8}
_PLAIN = {0, 3, 4}
_DIFFERENCES = 5
_SPLIT_BYTES = 9
"""Encodings, numbered as in the format: two of dictionaries; plain, of runs, packed."""

_OF_NUMBERS = _DICTIONARY | _PLAIN | {_DIFFERENCES, _SPLIT_BYTES}

_INT96_UNIT = "us"
"""Old timestamps of 96 bits; in nanoseconds, years after 2262 would be others."""

_SHORT = 1 << 22
"""Declared rows for which the start of polars' threads takes longer than it saves."""

_NUMBERS = {
    *("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
    *("float", "double"),
}
_TEXT = ("string", "large_string", "string_view", "binary", "large_binary")


def parquet_fragments(files: Sequence[File], data: Data) -> list[Fragment]:
    """Return a fragment for every file, its footer read.

    Raises:
        RunFault: DPQL501, a file cannot be read; DPQL502, it is damaged; DPQL503, a
            column is missing.
    """
    return fragments(files, data, by_arrow=_fragment, by_polars=_scan)


def _fragment(file: File, data: Data) -> Fragment:
    # What is declared decides, not how many rows there are: one row more is private.
    footer = _Footer.read(file, many=data.rows.count >= _SHORT)
    own, types = stored_columns(footer.schema, file, data)

    def tasks(request: Request) -> Iterator[Task[pl.DataFrame]]:
        canonical = FrameCanonicaliser(request)
        names = [name for name in canonical.names if name in own] or own[:1]
        source = open_content(file.content, footer.size)
        groups = footer.together()

        def frames(some: Sequence[int]) -> Iterator[pl.DataFrame]:
            alone = len(groups) == 1
            for cells, rows in footer.read_rows(source, some, names, threads=alone):
                yield canonical(cells, rows, file.values)

        return (partial(frames, some) for some in groups)

    return Fragment(
        types=types,
        tasks=tasks,
        row_count=lambda: footer.metadata.num_rows,
        whole_ids=whole_ids(types),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Footer:
    """The footer of a file, and how it says that columns are read.

    Attributes:
        schema: the types of Arrow, and text for enums, which it takes for bytes.
        columns: where each column is among the chunks of a row group.
        chunks: those of every row group.
        polars_numbers: whether polars reads all numbers.
    """

    file: File
    size: int
    metadata: Any
    schema: Any
    columns: Mapping[str, int]
    chunks: Sequence[Sequence[Chunk]]
    polars_numbers: bool

    @classmethod
    def read(cls, file: File, *, many: bool) -> _Footer:
        """Return the footer of a file; ``many`` rows are declared, or few."""
        source = open_content(file.content)
        header = pq.ParquetFile(source, coerce_int96_timestamp_unit=_INT96_UNIT)
        leaves = [header.schema.column(i) for i in range(len(header.schema))]
        # A part of a column may have the path that is another one's name.
        columns = {x.name: i for i, x in enumerate(leaves) if x.name == x.path}
        enums = {x.name for x in leaves if x.logical_type.type == "ENUM"}
        fields = [
            field.with_type(pa.string())
            if str(field.type) == "binary" and field.name in enums & set(columns)
            else field
            for field in header.schema_arrow
        ]
        return cls(
            file=file,
            size=source.size(),
            metadata=header.metadata,
            schema=pa.schema(fields),
            columns=columns,
            chunks=read_chunks(source),
            # polars takes memory for all rows that a footer claims, and ends the
            # process where there is not so much: so no more than a row a byte.
            polars_numbers=isinstance(file.content, str)
            and many
            and header.metadata.num_rows <= source.size()
            and is_readable(_scan(file.content)),
        )

    def together(self) -> list[list[int]]:
        """Return the row groups that are read together."""
        found: list[list[int]] = []
        rows = 0
        for group in range(self.metadata.num_row_groups):
            more = self.metadata.row_group(group).num_rows
            if not found or rows + more > _READ_ROWS:
                found.append([])
                rows = 0
            found[-1].append(group)
            rows += more
        return found

    def read_rows(
        self, source: Any, groups: Sequence[int], names: Sequence[str], *, threads: bool
    ) -> Iterator[tuple[dict[str, Any], int]]:
        """Yield the cells of columns of some row groups, and the number of rows."""
        if not names:
            yield {}, sum(self.metadata.row_group(group).num_rows for group in groups)
            return
        how = {name: self._way(name, groups) for name in names}
        numbers = [name for name in names if how[name] == "polars"]
        others = [name for name in names if name not in numbers]
        large = pa.large_binary() if "large" in how.values() else None
        reader = pq.ParquetFile(
            source,
            metadata=self.metadata,
            pre_buffer=not isinstance(self.file.content, str | bytes),
            read_dictionary=[n for n in others if how[n] == "dictionary" and not large],
            binary_type=large,
            coerce_int96_timestamp_unit=_INT96_UNIT,
        )
        rows = sum(self.metadata.row_group(group).num_rows for group in groups)
        if not others:
            yield self._by_polars(numbers, groups, 0, rows), rows
        elif rows <= _READ_ROWS:
            table = reader.read_row_groups(groups, columns=others, use_threads=threads)
            yield self._cells(table, others, numbers, groups, 0), rows
        else:
            start = 0
            for batch in reader.iter_batches(
                _READ_ROWS, row_groups=groups, columns=others, use_threads=threads
            ):
                yield self._cells(batch, others, numbers, groups, start), batch.num_rows
                start += batch.num_rows

    def _cells(
        self,
        table: Any,
        others: Sequence[str],
        numbers: Sequence[str],
        groups: Sequence[int],
        start: int,
    ) -> dict[str, Any]:
        cells = {name: table.column(name) for name in others}
        if numbers:
            cells |= self._by_polars(numbers, groups, start, table.num_rows)
        return cells

    def _by_polars(
        self, names: Sequence[str], groups: Sequence[int], start: int, rows: int
    ) -> dict[str, pl.Series]:
        before = sum(self.metadata.row_group(x).num_rows for x in range(groups[0]))
        content = self.file.content
        opened = open_content(content, self.size)
        if not isinstance(content, str | bytes):
            content = opened.read()
        scan = _scan(content).select(cs.by_name(*names))
        frame = scan.slice(before + start, rows).collect(engine="in-memory")
        return {name: frame.get_column(name) for name in names}

    def _way(self, name: str, groups: Sequence[int]) -> str:
        """Return how a column is read: by Arrow in one of three ways, or by polars."""
        if name not in self.columns:
            return "arrow"
        chunks = [self.chunks[group][self.columns[name]] for group in groups]
        dtype = str(self.schema.field(name).type)
        encodings = set().union(*(chunk.encodings for chunk in chunks))
        if dtype in _NUMBERS and self.polars_numbers and encodings <= _OF_NUMBERS:
            return "polars"
        if _DIFFERENCES in encodings and dtype not in _TEXT:
            return "polars"
        if dtype in _TEXT or dtype.startswith("dictionary"):
            size = sum(chunk.size for chunk in chunks)
            if size >= _LARGE or not encodings <= _DICTIONARY | _PLAIN:
                return "large"
            rows = sum(self.metadata.row_group(group).num_rows for group in groups)
            few_words = size < _MANY_WORDS * rows + _SMALL
            if few_words and all(_DICTIONARY & chunk.encodings for chunk in chunks):
                return "dictionary"
        return "arrow"


def _scan(content: Any) -> pl.LazyFrame:
    if isinstance(content, str):
        # A path would be mapped into memory; that of a URL is read.
        content = Path(content).absolute().as_uri()
    return pl.scan_parquet(
        content, glob=False, extra_columns="ignore", hive_partitioning=False
    )
