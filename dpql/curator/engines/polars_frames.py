"""Frames that are made while they are asked for, in portions for the queries.

They are made in the thread that asks, never in one of polars: an interrupt could not
end it there, and threads that read ahead would be left behind.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import closing
from typing import Any

import polars as pl

from dpql.curator.engines.polars_pieces import Portions, Readings

_PORTION_BYTES = 24 << 20
_PORTION_ROWS = 1 << 22
"""Frames are handed on together up to so many bytes, about, and so many rows.

A frame of more rows goes by itself: a portion has as many as polars can count.
"""


def frame_portions(
    schema: Mapping[str, Any],
    frames: Callable[[Sequence[str]], Generator[pl.DataFrame, None, None]],
) -> Portions:
    """Return the rows of frames; ``frames`` takes the columns that are wanted."""

    def portions(
        readings: Readings,
    ) -> Generator[tuple[int, pl.LazyFrame], None, None]:
        for number, names in enumerate(readings):
            wanted = [name for name in schema if name in names]
            held = [pl.DataFrame(schema={name: schema[name] for name in wanted})]
            size = rows = 0
            with closing(frames(wanted)) as found:
                for frame in found:
                    full = size >= _PORTION_BYTES or rows + frame.height > _PORTION_ROWS
                    if rows and full:
                        yield number, pl.concat(held, rechunk=False).lazy()
                        del held[1:]  # so that its memory can be used again
                        size = rows = 0
                    held.append(frame)
                    size += int(frame.estimated_size())
                    rows += frame.height
                    del frame
            yield number, pl.concat(held, rechunk=False).lazy()

    return portions
