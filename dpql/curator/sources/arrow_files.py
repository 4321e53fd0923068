"""What Parquet and Arrow IPC files have in common: headers first, then rows.

Whether a file can be read depends on its header alone. Files that pyarrow cannot open,
since polars wrote types into them that Arrow does not have, are read by polars.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

import polars as pl
import pyarrow as pa

from dpql.curator.columns import canonical_columns
from dpql.curator.sources.canonical import stored_type
from dpql.curator.sources.locate import File, Remote, no_file, unreadable
from dpql.curator.sources.memory import memory_fragment
from dpql.curator.sources.remote import Compressed
from dpql.curator.sources.source import Fragment
from dpql.curator.sources.stored import find_columns
from dpql.model.spec import Data

T = TypeVar("T")

Content = str | bytes | Remote


def fragments(
    files: Sequence[File],
    data: Data,
    *,
    by_arrow: Callable[[File, Data], Fragment],
    by_polars: Callable[[Any], pl.LazyFrame],
) -> list[Fragment]:
    """Return a fragment for every file, its header read.

    Raises:
        RunFault: DPQL501, a file cannot be read; DPQL502, it is damaged; DPQL503, a
            column is missing.
    """
    found = []
    for file in files:
        try:
            found.append(by_arrow(file, data))
        except Compressed:
            raise unreadable(data) from None
        except (FileNotFoundError, PermissionError):
            raise no_file(data) from None
        except (pa.ArrowException, OSError, ValueError):
            found.append(_polars_fragment(file, data, by_polars))
    return found


def open_content(content: Content, size: int | None = None) -> Any:
    """Return a pyarrow file; if its size is known, it must still be the same.

    Raises:
        FileNotFoundError: it cannot be read.
        OSError: the file changes; `Compressed`, the server compresses it.
    """
    file = _open(content)
    if size not in (None, file.size()):
        raise OSError("a file changes while it is read")
    return file


def is_readable(frame: pl.LazyFrame) -> bool:
    """Tell whether polars can make sense of the header of a file."""
    try:
        frame.collect_schema()
    except (Exception, pl.exceptions.PanicException):  # noqa: BLE001  it may quote cells
        return False
    return True


def stored_columns(
    schema: Any, file: File, data: Data
) -> tuple[list[str], dict[str, Any]]:
    """Return the declared columns that a file holds, and the stored types of all.

    A folder that names a column stands before the file.

    Raises:
        RunFault: DPQL503, a column is missing or there twice.
    """
    names = [None if name in file.values else name for name in schema.names]
    index = find_columns([*names, *file.values], data)
    own = [name for name, at in index.items() if at < len(names)]
    types = {
        column.name: stored_type(schema.field(index[column.name]).type, column.content)
        if column.name in own
        else pl.String()
        for column in canonical_columns(data)
    }
    return own, types


def _open(content: Content) -> Any:
    if isinstance(content, str):
        # Not as memory: cutting the file short would end the process.
        return pa.OSFile(content)
    if isinstance(content, bytes):
        return pa.BufferReader(content)
    try:
        return content.opened()
    except Compressed:
        raise
    except OSError:
        raise FileNotFoundError from None


def _polars_fragment(
    file: File, data: Data, scan: Callable[[Any], pl.LazyFrame]
) -> Fragment:
    """Return a file as polars reads it.

    Raises:
        RunFault: DPQL502, polars cannot read it either.
    """
    if not isinstance(file.content, str | bytes):
        raise unreadable(data)
    frame = scan(file.content)
    if not is_readable(frame):
        # What Arrow said of the file is not passed on.
        raise unreadable(data) from None
    names = [name for name in frame.collect_schema() if name not in file.values]
    return memory_fragment(_with_values(frame, names, file.values), data)


def _with_values(
    frame: pl.LazyFrame, names: Sequence[str], values: Mapping[str, bytes | None]
) -> pl.LazyFrame:
    """Return the frame with the values of its folders as columns of text."""
    decoded = {
        name: None if value is None else value.decode(errors="replace")
        for name, value in values.items()
    }
    return frame.select(pl.selectors.by_name(*names)).with_columns(
        pl.lit(value, pl.String).alias(name) for name, value in decoded.items()
    )
