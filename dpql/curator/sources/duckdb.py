"""Tables of DuckDB: rows come as Arrow batches, and DuckDB compares no cell.

A collation such as NOCASE would join ids that differ; here it never acts. Integers that
are wider than 64 bits come as text, which Arrow and polars hold exactly. A view may
raise on a single row, so only the owner's own code may hand in one, as a relation.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from dpql.curator.sources.locate import no_file, special_file
from dpql.curator.sources.memory import stream_fragment
from dpql.curator.sources.source import Fragment
from dpql.curator.sources.stored import find_columns
from dpql.errors import RunFault
from dpql.model.spec import Data

SCHEME = "duckdb:"

_WIDE = ("HUGEINT", "UHUGEINT", "BIGNUM")

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
    qualified = f"{_quoted(schema)}.{_quoted(table)}"
    return cursor.sql(f"FROM {qualified}")


def relation_fragment(relation: Any, data: Data) -> Fragment:
    """Return a relation; DuckDB computes the declared columns only.

    Raises:
        RunFault: DPQL503, a column is missing or there twice.
    """
    columns = [
        _as_arrow(relation.columns[at], str(relation.types[at]))
        for at in find_columns(relation.columns, data).values()
    ]
    declared = relation.project(", ".join(columns))
    fragment = stream_fragment(lambda: declared, data, empty=declared.limit(0))

    def row_count() -> int:
        return int(relation.aggregate("count(*)").fetchall()[0][0])

    return replace(fragment, row_count=row_count)


def _as_arrow(name: str, dtype: str) -> str:
    quoted = _quoted(name)
    return f"CAST({quoted} AS VARCHAR) AS {quoted}" if dtype in _WIDE else quoted


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
