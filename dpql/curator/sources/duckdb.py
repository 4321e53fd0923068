"""Tables of DuckDB: rows come as Arrow batches, and DuckDB compares no cell.

A collation such as NOCASE would join ids that differ; here it never acts. Integers that
are wider than 64 bits come as text, which Arrow and polars hold exactly. A view may
raise on a single row, so only the owner's own code may hand in one, as a relation.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import polars as pl

from dpql.curator.columns import CanonicalColumn, Content, canonical_columns
from dpql.curator.sources.canonical import FrameCanonicaliser, stored_type
from dpql.curator.sources.duckdb_sql import key_code, named, words
from dpql.curator.sources.locate import no_file, special_file
from dpql.curator.sources.memory import frames, regular_batches
from dpql.curator.sources.prefetch import Task
from dpql.curator.sources.source import Fragment, Request
from dpql.curator.sources.stored import find_columns, whole_ids
from dpql.errors import RunFault
from dpql.model.spec import Data

SCHEME = "duckdb:"

_WIDE = ("HUGEINT", "UHUGEINT", "BIGNUM")

_FEW_KEYS = 64
"""DuckDB compares each word with every key."""

_TABLE_TYPE = """
    SELECT table_schema, table_name, table_type FROM information_schema.tables
    WHERE table_catalog = current_database()
    AND lower(table_schema) = lower(?) AND lower(table_name) = lower(?)
"""


def is_duckdb(thing: object) -> bool:
    """Tell whether a thing is a connection or a relation of DuckDB."""
    return type(thing).__module__.startswith(("duckdb", "_duckdb"))


def database_fragment(location: str, data: Data) -> Fragment:
    """Return the rows of a table of a database file; see `located_relation`."""
    return relation_fragment(located_relation(location, data), data)


def table_fragment(connection: Any, name: str, data: Data) -> Fragment:
    """Return the rows of a table of a connection; see `table_relation`."""
    return relation_fragment(table_relation(connection, name, data), data)


def located_relation(location: str, data: Data) -> Any:
    """Return a table of a database file, which is opened for reading only.

    Args:
        location: ``duckdb:FILE#table`` or ``duckdb:FILE#schema.table``.
        data: the declaration.

    Raises:
        RunFault: DPQL501, no such file or table; DPQL502, a view, or the driver is
            missing; DPQL511, a pipe, a socket or a device.
    """
    file, _, name = location.removeprefix(SCHEME).rpartition("#")
    path = Path(file)
    if not path.is_file():
        if path.exists() and not path.is_dir():
            raise special_file(f"the data of `{data.source}`")
        raise no_file(data)
    try:
        import duckdb
    except ImportError:
        raise RunFault.of(
            "DPQL502",
            f"the data of `{data.source}` are in DuckDB, which is not installed",
            hint="install it: pip install 'dpql[duckdb]'",
        ) from None
    try:
        connection = duckdb.connect(path, read_only=True)
    except duckdb.Error:
        raise RunFault.of(
            "DPQL501",
            f"the database of `{data.source}` cannot be opened for reading",
            hint="check that it is a file of DuckDB, and that no program writes it",
        ) from None
    return table_relation(connection, name, data)


def table_relation(connection: Any, name: str, data: Data) -> Any:
    """Return the table of that name, or of ``schema.table``.

    Raises:
        RunFault: DPQL501, no such table; DPQL502, it is a view.
    """
    schema, _, table = name.rpartition(".")
    cursor = connection.cursor()
    found = cursor.execute(_TABLE_TYPE, [schema or "main", table]).fetchall()
    if not found:
        raise RunFault.of(
            "DPQL501",
            f"no such table in the database of `{data.source}`",
            hint=f"name it: {SCHEME}FILE#schema.table",
        )
    schema, table, kind = found[0]
    if kind == "VIEW":
        raise RunFault.of(
            "DPQL502",
            f"the data of `{data.source}` are a view, and a view may fail on one row",
            hint="name a table, or hand in a relation from Python",
        )
    qualified = f"{named(schema)}.{named(table)}"
    return cursor.sql(f"FROM {qualified}")


def relation_fragment(relation: Any, data: Data) -> Fragment:
    """Return a relation; DuckDB computes the columns that are asked for only.

    Raises:
        RunFault: DPQL503, a column is missing or there twice.
    """
    at = find_columns(relation.columns, data)
    columns = {
        column.name: _Column(
            column, named(relation.columns[index]), str(relation.types[index])
        )
        for column in canonical_columns(data)
        for index in [at[column.name]]
    }
    plain = relation.limit(0).project(", ".join(x.plain for x in columns.values()))
    types = {
        name: stored_type(field.type, column.declared.content)
        for (name, column), field in zip(
            columns.items(), _reader(plain).schema, strict=True
        )
    }

    def tasks(request: Request) -> Iterator[Task[pl.DataFrame]]:
        canonical = FrameCanonicaliser(request)
        asked = [columns[name] for name in canonical.names]
        rows = relation.project(", ".join(column.sql for column in asked))
        for part in regular_batches(_reader(rows)):
            cells = {
                column.declared.name: column.words(cells)
                for column, cells in zip(asked, part.columns, strict=True)
            }
            yield partial(frames, canonical, cells, part.num_rows)

    def row_count() -> int:
        return int(relation.aggregate("count(*)").fetchall()[0][0])

    return Fragment(
        types=types, tasks=tasks, row_count=row_count, whole_ids=whole_ids(types)
    )


def _reader(relation: Any) -> Any:
    import pyarrow as pa

    return pa.RecordBatchReader.from_stream(relation)


class _Column:
    """A declared column of a relation, and how DuckDB hands it over.

    Where keys are few, DuckDB looks them up, and the code of each word comes in a byte.
    """

    def __init__(self, declared: CanonicalColumn, cell: str, dtype: str) -> None:
        self.declared = declared
        self.plain = f"CAST({cell} AS VARCHAR)" if dtype in _WIDE else cell
        keys = declared.keys
        self._coded = (
            declared.content is Content.CODE
            and not declared.others
            and dtype == "VARCHAR"
            and len(keys) <= _FEW_KEYS
            and not any("\0" in key for key in keys)
        )
        self.sql = self.plain
        if self._coded:
            self.sql = f"CAST({key_code(words(cell), keys)} AS UTINYINT)"

    def words(self, cells: Any) -> Any:
        """Return cells as they came, and codes as words of a dictionary."""
        if not self._coded:
            return cells
        import pyarrow as pa

        words = pa.array(self.declared.keys, pa.string())
        parts = [pa.DictionaryArray.from_arrays(x, words) for x in cells.chunks]
        return pa.chunked_array(parts, pa.dictionary(pa.uint8(), pa.string()))
