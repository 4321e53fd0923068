"""Frames that are made while they are asked for, as one lazy frame."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import polars as pl
from polars.io.plugins import register_io_source


def scan_frames(
    schema: Mapping[str, Any],
    frames: Callable[[Sequence[str]], Iterator[pl.DataFrame]],
) -> pl.LazyFrame:
    """Return the rows of all frames; ``frames`` takes the columns that are wanted."""

    def batches(
        columns: list[str] | None,
        predicate: pl.Expr | None,
        row_limit: int | None,
        _batch_rows: int | None,
    ) -> Iterator[pl.DataFrame]:
        left = row_limit
        for frame in frames(list(schema) if columns is None else columns):
            kept = frame if left is None else frame.head(left)
            if left is not None:
                left -= kept.height
            yield kept if predicate is None else kept.filter(predicate)

    return register_io_source(batches, schema=dict(schema), is_pure=True)
