"""Sources read rows from files, URLs, frames and databases into canonical columns."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from dpql.curator.sources import locate
from dpql.curator.sources.duckdb import (
    SCHEME,
    database_fragment,
    is_duckdb,
    relation_fragment,
    table_fragment,
)
from dpql.curator.sources.formats import SEPARATORS, no_separator
from dpql.curator.sources.locate import File
from dpql.curator.sources.memory import memory_fragment
from dpql.curator.sources.postgres_session import SCHEMES, is_connection
from dpql.curator.sources.source import Fragment, Source
from dpql.errors import RunFault
from dpql.model.location import split_separator
from dpql.model.spec import Data


def open_source(frame: object, data: Data) -> Source:
    """Return the rows of whatever the owner hands in.

    Args:
        frame: a path, glob or URL, before which a separator may stand;
            ``duckdb:FILE#schema.table``; ``postgresql://host/database#schema.table``; a
            polars, pandas or pyarrow table; a mapping of columns; anything with the
            Arrow C stream interface; a relation of DuckDB; a connection of DuckDB,
            psycopg or ADBC and the name of a table.
        data: the declaration.

    Raises:
        RunFault: DPQL501 no such file, DPQL502 no kind of data that is known, DPQL503
            a column is missing, DPQL504 a column is of an impossible type, DPQL511 a
            pipe, a socket or a device.
    """
    fragments = _fragments(frame, data)
    try:
        return Source(fragments, data)
    except RunFault:
        for fragment in fragments:
            fragment.end()
        raise


def _fragments(frame: object, data: Data) -> Sequence[Fragment]:
    match frame:
        case str() | Path():
            return _located(str(frame), data)
        case (connection, str(name)) if is_duckdb(connection):
            return [table_fragment(connection, name, data)]
        case (connection, str(name)) if is_connection(connection):
            from dpql.curator.sources.postgres import postgres_fragment, table_of

            return [postgres_fragment(table_of(connection, name, data.source), data)]
        case _ if is_duckdb(frame) and hasattr(frame, "project"):
            return [relation_fragment(frame, data)]
    return [memory_fragment(frame, data)]


def _located(location: str, data: Data) -> Sequence[Fragment]:
    if location.startswith(SCHEME):
        return [database_fragment(location, data)]
    if location.startswith("spark:"):
        raise RunFault.of(
            "DPQL502",
            f"the data of `{data.source}` are in Spark, which another engine reads",
            hint="leave `--engine` out, or choose spark",
        )
    if location.startswith(SCHEMES):
        from dpql.curator.sources.postgres import postgres_fragment, table_at

        return [postgres_fragment(table_at(location, data.source), data)]
    separator, location = split_separator(location)
    format_, files = locate.locate(location, data)
    return _file_fragments(format_, files, data, separator)


def _file_fragments(
    format_: str, files: Sequence[File], data: Data, separator: str | None
) -> Sequence[Fragment]:
    """Return files of one format; readers are imported when they are used."""
    if separator is not None and format_ not in SEPARATORS:
        raise no_separator(data)
    if format_ in SEPARATORS:
        from dpql.curator.sources.csv import csv_fragment

        return [csv_fragment(separator or SEPARATORS[format_], files, data)]
    if format_ == "ndjson":
        from dpql.curator.sources.ndjson import ndjson_fragment

        return [ndjson_fragment(files, data)]
    if format_ == "parquet":
        from dpql.curator.sources.parquet import parquet_fragments

        return parquet_fragments(files, data)
    from dpql.curator.sources.ipc import ipc_fragments

    return ipc_fragments(files, data)
