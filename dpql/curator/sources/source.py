"""Rows not yet read: fragments of a table, and all of them as one source.

A fragment holds rows whose stored types are known before any row is read: files of one
schema, or a table in memory. Each makes its own cells canonical, so fragments that
store a column in different types still agree.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypeVar

import polars as pl

from dpql.curator.columns import CanonicalColumn, Form, canonical_columns, code_bits
from dpql.curator.sources.prefetch import Task, prefetched
from dpql.curator.sources.stored import check_types
from dpql.model.spec import Data

T = TypeVar("T")

BATCH_ROWS = 1 << 17
"""Rows of a batch, about; none has more than twice as many."""

_CODES = {8: pl.UInt8(), 16: pl.UInt16(), 32: pl.UInt32()}


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What is asked of a fragment: canonical columns, and the polars type of each."""

    columns: tuple[CanonicalColumn, ...]
    types: Mapping[str, pl.DataType]


@dataclass(frozen=True, slots=True, kw_only=True)
class Fragment:
    """Some rows of a table.

    Attributes:
        types: the stored type of each declared column: of polars, or the name of a type
            that polars does not have.
        tasks: for a request, calls that each yield frames of canonical columns, in the
            order of the request. They may run in several threads, in any order. A frame
            without columns must still have its rows: a request has at least one column.
        row_count: counts the rows without reading their cells.
        whole_ids: columns whose stored ids are integers that fit into 64 bits.
        end: ends what holds the rows for us, where something does.
        keep: makes rows that come once come again.
    """

    types: Mapping[str, Any]
    tasks: Callable[[Request], Iterator[Task[pl.DataFrame]]] = field(repr=False)
    row_count: Callable[[], int] = field(repr=False)
    whole_ids: frozenset[str] = frozenset()
    end: Callable[[], object] = field(default=tuple, repr=False)
    keep: Callable[[], object] = field(default=tuple, repr=False)


class Source:
    """The rows of a table in canonical form.

    Attributes:
        schema: the declared columns and the polars types of their canonical cells.
    """

    def __init__(self, fragments: Sequence[Fragment], data: Data) -> None:
        """Refuse stored types that cannot hold what is declared.

        Raises:
            RunFault: DPQL504, by column and type.
        """
        names = [column.name for column in data.columns]
        check_types({n: [part.types[n] for part in fragments] for n in names}, data)
        self._fragments = fragments
        self._columns = {column.name: column for column in canonical_columns(data)}
        whole = frozenset(names).intersection(*(part.whole_ids for part in fragments))
        self.schema = {
            name: canonical_type(column, whole_ids=name in whole)
            for name, column in self._columns.items()
        }

    def batches(
        self, names: Sequence[str], then: Callable[[pl.DataFrame], T]
    ) -> Generator[T]:
        """Yield what ``then`` makes of each batch, in the thread that read it.

        A batch holds some rows of the named columns, of which there is at least one.
        Whoever stops early closes it: what is ended by the collector of garbage cannot
        raise an interrupt, and Python would print it.
        """
        request = Request(
            columns=tuple(self._columns[name] for name in names),
            types=self.schema,
        )
        tasks = (
            partial(_worked, task, then)
            for part in self._fragments
            for task in part.tasks(request)
        )
        with closing(prefetched(tasks, pl.thread_pool_size())) as found:
            yield from found

    def stored_types(self, name: str) -> list[Any]:
        """Return the types that a column is stored in."""
        return [part.types[name] for part in self._fragments]

    def keep(self) -> None:
        """Make sure that the rows can be read twice, before they are read."""
        for part in self._fragments:
            part.keep()

    def row_count(self) -> int:
        """Return the number of rows; asked only where it is public."""
        return sum(part.row_count() for part in self._fragments)


def canonical_type(column: CanonicalColumn, *, whole_ids: bool) -> pl.DataType:
    """Return the polars type of a canonical column."""
    match column.form:
        case Form.WHOLE:
            return pl.Int64()
        case Form.REAL:
            return pl.Float64()
        case Form.CODE:
            return _CODES[code_bits(column.codes)]
        case Form.ID:
            return pl.Int64() if whole_ids else pl.Binary()


def regular(frames: Iterable[pl.DataFrame]) -> Iterator[pl.DataFrame]:
    """Yield the same rows in batches of about `BATCH_ROWS`, joined or sliced."""
    held: list[pl.DataFrame] = []
    rows = 0
    for frame in frames:
        for start in range(0, frame.height, BATCH_ROWS):
            part = frame.slice(start, BATCH_ROWS)
            held.append(part)
            rows += part.height
            if rows >= BATCH_ROWS:
                yield _joined(held)
                held, rows = [], 0
    if held:
        yield _joined(held)


def _worked(task: Task[pl.DataFrame], then: Callable[[pl.DataFrame], T]) -> Iterator[T]:
    return map(then, regular(task()))


def _joined(frames: list[pl.DataFrame]) -> pl.DataFrame:
    return frames[0] if len(frames) == 1 else pl.concat(frames, rechunk=True)
