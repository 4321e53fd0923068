"""What executors of Spark do: the polars engine on one partition, as an aggregate.

Rows come as Arrow batches and leave as a few arrays. Whatever fails on an executor is
replaced there by a fault without data, for executors write their errors into logs.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import chain
from typing import Any

from dpql.curator.engines.aggregate import Aggregate, Part
from dpql.curator.engines.polars import aggregated, found_keys, open_source
from dpql.curator.engines.polars_keys import FoundKeys
from dpql.curator.program import Program
from dpql.curator.wall import behind_wall
from dpql.model.spec import Data

PARTS = "tally int, moment int, content binary"
"""The columns of what a partition yields."""

ROWS = -1
"""Stands for a tally where the content is the number of rows."""

_ENTRY = 8


def worked(program: Program, salt: bytes, batches: Iterator[Any]) -> Iterator[Any]:
    """Yield what a partition adds up to, or the keys in it, as Arrow batches."""
    parts = behind_wall(lambda: list(_parts(program, salt, iter(batches))))
    for part in parts:
        yield _batch(part)


def _parts(program: Program, salt: bytes, batches: Iterator[Any]) -> Iterator[Part]:
    import pyarrow as pa

    first = next(batches, None)
    if first is None:
        return
    rows = 0

    def counted() -> Iterator[Any]:
        nonlocal rows
        for batch in chain([first], batches):
            rows += batch.num_rows
            yield batch

    reader = pa.RecordBatchReader.from_batches(first.schema, counted())
    source = open_source(reader, _read(program))
    if program.searches:
        yield from _keys(program, source, salt)
    else:
        yield from aggregated(program, source, salt, None).parts()
    count = rows.to_bytes(_ENTRY, "little")
    yield Part(tally=ROWS, moment=0, content=count)


def _keys(program: Program, source: Any, salt: bytes) -> Iterator[Part]:
    """Yield the keys of every search, and the units of the partition at each."""
    for number, keys in enumerate(found_keys(program, source, salt, None)):
        for content in keys.packed():
            yield Part(tally=number, moment=0, content=content)


def _read(program: Program) -> Data:
    """Return the declaration of the columns that the program reads, and no other."""
    names = {column.name for column in program.columns}
    columns = tuple(x for x in program.data.columns if x.name in names)
    return replace(program.data, columns=columns, derived=())


def _batch(part: Part) -> Any:
    import pyarrow as pa

    return pa.RecordBatch.from_arrays(
        [
            pa.array([part.tally], pa.int32()),
            pa.array([part.moment], pa.int32()),
            pa.array([part.content], pa.binary()),
        ],
        names=["tally", "moment", "content"],
    )


def added(program: Program, parts: Any) -> tuple[Aggregate, int]:
    """Return what an Arrow table of parts adds up to, and the number of rows."""
    total, rows = Aggregate(program), 0
    for part in _each(parts):
        if part.tally == ROWS:
            rows += int.from_bytes(part.content, "little")
        else:
            total.add_part(part)
    return total, rows


def joined(program: Program, parts: Any, salt: bytes) -> tuple[list[FoundKeys], int]:
    """Return the keys of every search in all partitions, and the number of rows."""
    packed: list[list[bytes]] = [[] for _ in program.searches]
    rows = 0
    for part in _each(parts):
        if part.tally == ROWS:
            rows += int.from_bytes(part.content, "little")
        else:
            packed[part.tally].append(part.content)
    searches = zip(program.searches, packed, strict=True)
    found = [FoundKeys.joined(x, len(one.columns), salt) for one, x in searches]
    return found, rows


def _each(parts: Any) -> Iterator[Part]:
    for batch in parts.to_batches():
        for tally, moment, content in zip(*map(_cells, batch.columns), strict=True):
            yield Part(tally=tally, moment=moment, content=content)


def _cells(column: Any) -> list[Any]:
    found: list[Any] = column.to_pylist()
    return found
