"""Arrow IPC files (Feather) by pyarrow, a record batch at a time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

import polars as pl
import pyarrow as pa
import pyarrow.ipc

from dpql.curator.sources.arrow_files import fragments, open_content, stored_columns
from dpql.curator.sources.canonical import FrameCanonicaliser
from dpql.curator.sources.locate import File
from dpql.curator.sources.prefetch import Task
from dpql.curator.sources.source import BATCH_ROWS, Fragment, Request
from dpql.curator.sources.stored import whole_ids
from dpql.model.spec import Data


def ipc_fragments(files: Sequence[File], data: Data) -> list[Fragment]:
    """Return a fragment for every file, its header read.

    Raises:
        RunFault: DPQL501, a file cannot be read; DPQL502, it is damaged; DPQL503, a
            column is missing.
    """
    return fragments(
        files,
        data,
        by_arrow=_fragment,
        by_polars=partial(pl.scan_ipc, glob=False, hive_partitioning=False),
    )


def _fragment(file: File, data: Data) -> Fragment:
    first = open_content(file.content)
    size, header = first.size(), pa.ipc.open_file(first)
    own, types = stored_columns(header.schema, file, data)

    def tasks(request: Request) -> Iterator[Task[pl.DataFrame]]:
        source = open_content(file.content, size)
        canonical = FrameCanonicaliser(request)
        names = [name for name in canonical.names if name in own] or own[:1]
        fields = [header.schema.get_field_index(name) for name in names]
        options = pa.ipc.IpcReadOptions(included_fields=fields, use_threads=False)

        def frames(index: int) -> Iterator[pl.DataFrame]:
            batch = pa.ipc.open_file(source, options=options).get_batch(index)
            # Arrow believes a file: where buffers are short, it would read past them.
            batch.validate()
            for start in range(0, batch.num_rows, BATCH_ROWS):
                part = batch.slice(start, BATCH_ROWS)
                cells = dict(zip(part.schema.names, part.columns, strict=True))
                yield canonical(cells, part.num_rows, file.values)

        return (partial(frames, index) for index in range(header.num_record_batches))

    def row_count() -> int:
        # Only batches know how many rows they have.
        options = pa.ipc.IpcReadOptions(included_fields=[0], use_threads=False)
        reader = pa.ipc.open_file(open_content(file.content, size), options=options)
        batches = range(reader.num_record_batches)
        return sum(reader.get_batch(index).num_rows for index in batches)

    return Fragment(
        types=types, tasks=tasks, row_count=row_count, whole_ids=whole_ids(types)
    )
