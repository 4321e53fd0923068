"""Sources read rows from files, URLs, frames and databases into canonical columns."""

from __future__ import annotations

from pathlib import Path

from dpql.curator.sources.locate import locate
from dpql.curator.sources.memory import memory_fragment
from dpql.curator.sources.source import Source
from dpql.model.spec import Data


def open_source(frame: object, data: Data) -> Source:
    """Temporary"""
    if isinstance(frame, str | Path):
        from dpql.curator.sources.ipc import ipc_fragments
        from dpql.curator.sources.parquet import parquet_fragments

        format_, files = locate(str(frame), data)
        return Source({"parquet": parquet_fragments, "ipc": ipc_fragments}[format_](files, data), data)
    return Source([memory_fragment(frame, data)], data)
