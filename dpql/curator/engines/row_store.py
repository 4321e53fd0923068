"""Rows by partition until all are read: in memory, or in a file without a name.

What is declared decides where they wait, not what comes: that is private. The file is
never linked into a folder, so nobody else can open it, and the system deletes it when
it is closed or the process ends, however that happens. It lies where the environment
says that temporary files lie (``TMPDIR``).
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from io import BytesIO
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

MOST_BYTES = 1 << 29
"""Declared bytes of rows that are held in memory."""


@dataclass(frozen=True, slots=True)
class Column:
    """Items of a batch, partition by partition; ``ends`` says where each one ends."""

    items: NDArray[Any]
    ends: Sequence[int]

    def part(self, first: int, end: int) -> NDArray[Any]:
        """Return the items of the partitions first..end-1."""
        found: NDArray[Any] = self.items[
            self.ends[first - 1] if first else 0 : self.ends[end - 1]
        ]
        return found


@dataclass(frozen=True, slots=True)
class _Written:
    """The same in a file, from some byte on; each item is like one."""

    file: int
    begin: int
    like: NDArray[Any]
    ends: Sequence[int]

    def part(self, first: int, end: int) -> NDArray[Any]:
        """Return the items of the partitions first..end-1."""
        item = self.like.nbytes
        start = self.ends[first - 1] if first else 0
        size = item * (self.ends[end - 1] - start)
        data = _bytes_at(self.file, self.begin + item * start, size)
        return np.frombuffer(data, self.like.dtype).reshape(-1, *self.like.shape)


class RowStore:
    """The rows of every batch by partition, until all are read."""

    def __init__(self, partitions: int, declared_bytes: int) -> None:
        """Start with no rows; so many bytes of them are declared."""
        self._batches: list[list[Column | _Written]] = []
        self._file: Any = None
        if declared_bytes > MOST_BYTES:
            self._file = tempfile.TemporaryFile()  # noqa: SIM115  closed by `close`
        self.rows = np.zeros(partitions, np.int64)
        """How many rows there are in each partition."""

    def add(self, columns: Sequence[Column]) -> None:
        """Take a batch; its first column has an item for every row."""
        self.rows += np.diff(columns[0].ends, prepend=0)
        self._batches.append([self._kept(column) for column in columns])
        if self._file is not None:
            self._file.flush()

    def part(self, first: int, end: int) -> list[NDArray[Any]] | None:
        """Return the columns of the partitions first..end-1; None without a batch."""
        columns = zip(*self._batches, strict=True)
        return [
            np.concatenate([some.part(first, end) for some in column])
            for column in columns
        ] or None

    def close(self) -> None:
        """Forget all rows, and let the system delete the file."""
        self._batches.clear()
        if self._file is not None:
            self._file.close()

    def _kept(self, column: Column) -> Column | _Written:
        if self._file is None:
            return column
        items = np.ascontiguousarray(column.items)
        like = np.empty(items.shape[1:], items.dtype)
        start = self._file.tell()
        self._file.write(items.data.cast("B") if items.size else b"")
        return _Written(self._file.fileno(), start, like, column.ends)


def stored_texts(texts: pl.Series, ends: Sequence[int]) -> Iterator[Column]:
    """Yield the lengths and the bytes of texts."""
    _, stored, content = texts.fill_null(b"").to_arrow().buffers()
    offsets = np.frombuffer(stored, np.int64, len(texts) + 1)
    yield Column(np.diff(offsets).astype(np.uint32), ends)
    found = np.frombuffer(content or b"", np.uint8).copy()
    yield Column(found, offsets.take(ends).tolist())


def loaded_texts(lengths: NDArray[Any], content: NDArray[Any]) -> pl.Series:
    """Return texts of such lengths that stand one behind the other."""
    import pyarrow as pa

    offsets = np.append(0, np.cumsum(lengths, dtype=np.int64))
    buffers = [None, pa.py_buffer(offsets), pa.py_buffer(content)]
    return pl.Series(
        pa.LargeBinaryArray.from_buffers(pa.large_binary(), len(lengths), buffers)
    )


def _bytes_at(file: int, start: int, size: int) -> bytes:
    """Return some bytes of a file that several threads read.

    One call gives less than 2 GiB, and may give less than it is asked for.
    """
    found = BytesIO()
    while found.tell() < size:
        more = os.pread(file, size - found.tell(), start + found.tell())
        if not more:
            raise OSError("a file of rows is shorter than it was written")
        found.write(more)
    return found.getvalue()
