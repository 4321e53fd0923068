"""Files of columns as polars reads them, for those that Arrow cannot.

polars refuses a file for one text that is no UTF-8. But types that Arrow does not have
come from polars, and what polars writes is UTF-8.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import polars as pl
import polars.selectors as cs

from dpql.curator.engines.files import File
from dpql.curator.engines.polars_columns import places
from dpql.curator.engines.polars_folders import (
    folder_columns,
    text_keys,
    text_types,
    with_values,
)
from dpql.curator.engines.polars_pieces import Piece
from dpql.model.spec import Data


class UnknownToPolars(Exception):
    """polars cannot make sense of a file; it never leaves the engine."""


def native_pieces(format_: str, files: Sequence[File], data: Data) -> list[Piece]:
    """Return the rows, those files in one piece that agree in types and folders.

    Raises:
        RunFault: DPQL503, a column is missing.
        UnknownToPolars: a file is damaged, has columns of types that polars does not
            have, or is not here.
    """
    groups: dict[object, list[File]] = {}
    types: dict[object, dict[str, Any]] = {}
    for file in files:
        own = _own(format_, file, data)
        key = tuple(own.items()), tuple(file.values.items())
        groups.setdefault(key, []).append(file)
        types[key] = own
    return [_piece(format_, group, types[key], data) for key, group in groups.items()]


def _own(format_: str, file: File, data: Data) -> dict[str, Any]:
    """Return the declared columns that the file itself holds, and their types."""
    if not isinstance(file.content, str | bytes):
        raise UnknownToPolars
    try:
        schema = _scan(format_, file.content).collect_schema()
    except (Exception, pl.exceptions.PanicException):  # noqa: BLE001  whatever it says
        raise UnknownToPolars from None
    names = [None if name in file.values else name for name in schema]
    found = places([*names, *file.values], data)
    return {n: schema[n] for n, place in found.items() if place < len(names)}


def _piece(
    format_: str, files: Sequence[File], own: dict[str, Any], data: Data
) -> Piece:
    scan = _scan(format_, [file.content for file in files])
    frame, columns = with_values(scan, own, folder_columns(files[0], data))
    return Piece(
        frame=frame,
        columns=columns | {name: cs.by_name(name) for name in own},
        types=own | text_types(files[0].values, data),
        raw=text_keys(files[0].values, data),
    )


def _scan(format_: str, content: Any) -> pl.LazyFrame:
    """Return a scan; no path is a pattern."""
    if format_ == "parquet":
        return pl.scan_parquet(
            content, glob=False, extra_columns="ignore", hive_partitioning=False
        )
    return pl.scan_ipc(content, glob=False, hive_partitioning=False)
