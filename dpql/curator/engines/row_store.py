"""Packed rows by partition: in memory, and beyond a bound in a file without a name.

The file is never linked into a folder, so nobody else can open it, and the system
deletes it when it is closed or the process ends, however that happens. It lies where
the environment says that temporary files lie (``TMPDIR``).
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from io import BytesIO
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from dpql.curator.bounding import Integers, Words

MOST_BYTES = 1 << 29
"""Bytes of rows that are held in memory, about."""

_WORD = 8


@dataclass(frozen=True, slots=True)
class Rows:
    """Rows as they are bounded: their units, hashes of those, packed words, and ids."""

    units: pl.Series
    hashes: Words
    words: list[Integers]
    ids: list[pl.Series]

    def take(self, order: Integers) -> Rows:
        """Return the rows of some indices."""
        return Rows(
            pl.Series(self.units.to_numpy().take(order))
            if are_whole(self.units)
            else self.units.gather(order),
            self.hashes.take(order),
            [word.take(order) for word in self.words],
            [one.gather(order) for one in self.ids],
        )

    def part(self, rows: slice) -> Rows:
        """Return the rows of a slice."""
        return Rows(
            self.units[rows],
            self.hashes[rows],
            [word[rows] for word in self.words],
            [one[rows] for one in self.ids],
        )

    @property
    def size(self) -> int:
        """How many bytes they take, about."""
        texts = (self.units, *self.ids)
        arrays = _WORD * len(self.hashes) * (1 + len(self.words))
        return arrays + sum(int(one.estimated_size()) for one in texts)


class RowStore:
    """The rows of every batch by partition, until all are read."""

    def __init__(self, partitions: int) -> None:
        self._partitions = partitions
        self._batches: list[tuple[Rows, list[int]]] = []
        self._held = 0
        self._file: Any = None
        self._spilled: list[list[tuple[int, int]]] = [[] for _ in range(partitions)]
        self.row_count = 0
        """How many rows there are."""

    def add(self, rows: Rows, ends: list[int]) -> None:
        """Take the rows of a batch; ``ends`` says where each partition ends."""
        self._batches.append((rows, ends))
        self.row_count += len(rows.hashes)
        self._held += rows.size
        if self._held > MOST_BYTES:
            self._spill()

    def rows(self, first: int, end: int) -> Rows | None:
        """Return the rows of the partitions first..end-1; None if there is no batch."""
        parts = [*self._read(first, end), *self._memory(first, end)]
        if not parts:
            return None
        head = parts[0]
        return Rows(
            pl.concat((part.units for part in parts), rechunk=True),
            np.concatenate([part.hashes for part in parts]),
            [
                np.concatenate([part.words[word] for part in parts])
                for word in range(len(head.words))
            ],
            [
                pl.concat((part.ids[one] for part in parts), rechunk=True)
                for one in range(len(head.ids))
            ],
        )

    def close(self) -> None:
        """Forget all rows, and let the system delete the file."""
        self._batches.clear()
        if self._file is not None:
            self._file.close()

    def _memory(self, first: int, end: int) -> Iterator[Rows]:
        for rows, ends in self._batches:
            yield rows.part(slice(ends[first - 1] if first else 0, ends[end - 1]))

    def _spill(self) -> None:
        """Write what is held in memory to the file, partition by partition."""
        if self._file is None:
            self._file = tempfile.TemporaryFile()  # noqa: SIM115  closed by `close`
        for partition in range(self._partitions):
            parts = list(self._memory(partition, partition + 1))
            frame = pl.concat(map(_frame, parts), rechunk=True)
            written = BytesIO()
            frame.write_ipc(written, compression="uncompressed")
            start = self._file.tell()
            self._file.write(written.getbuffer())
            self._spilled[partition].append((start, written.tell()))
        self._file.flush()
        self._batches.clear()
        self._held = 0

    def _read(self, first: int, end: int) -> Iterator[Rows]:
        for partition in self._spilled[first:end]:
            for start, size in partition:
                data = _bytes_at(self._file.fileno(), start, size)
                yield _rows(pl.read_ipc(data).rechunk())


def _bytes_at(file: int, start: int, size: int) -> BytesIO:
    """Return some bytes of a file that several threads read.

    One call gives less than 2 GiB, and may give less than it is asked for.
    """
    found = BytesIO()
    while found.tell() < size:
        more = os.pread(file, size - found.tell(), start + found.tell())
        if not more:
            raise OSError("a file of rows is shorter than it was written")
        found.write(more)
    found.seek(0)
    return found


def are_whole(ids: pl.Series) -> bool:
    """Tell whether ids are integers."""
    return ids.dtype == pl.Int64


def _frame(rows: Rows) -> pl.DataFrame:
    columns: dict[str, pl.Series | NDArray[Any]] = {"u": rows.units, "h": rows.hashes}
    columns |= {f"w{n}": word for n, word in enumerate(rows.words)}
    columns |= {f"i{n}": one for n, one in enumerate(rows.ids)}
    return pl.DataFrame(columns)


def _rows(frame: pl.DataFrame) -> Rows:
    units, hashes, *others = frame.get_columns()
    words = [one.to_numpy() for one in others if one.name.startswith("w")]
    ids = [one for one in others if one.name.startswith("i")]
    return Rows(units, hashes.to_numpy(), words, ids)
