"""A table of PostgreSQL: found by its catalog, and how each column is read.

PostgreSQL compares no cell and casts none that could fail: numbers come as they are
stored, decimals as their digits, text as its bytes. So neither a collation nor padding
nor overflow nor underflow can act. The types of the columns decide everything.

Functions, operators and types are PostgreSQL's own, whatever the search path names; of
a view they are the view's. A cell of more than half a mebibyte is null: all that a row
may have fit the gigabyte that the server can send of one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote

import polars as pl
import pyarrow as pa

from dpql.curator.columns import LONGEST_CELL, Content
from dpql.curator.sources.canonical import stored_type
from dpql.curator.sources.postgres_session import NotOurs, Session, begun
from dpql.errors import RunFault

VIEW = "view:"
"""Before the name of what may fail on a row, or shows a role only some rows."""

_OLDEST = 130_000
_ENCODINGS = ("UTF8", "SQL_ASCII")
"""Others would have to be converted, and a conversion can fail on a cell."""

_PATH = """SELECT pg_catalog.current_setting('search_path'), pg_catalog.unnest(
    pg_catalog.current_schemas(true))::pg_catalog.text"""
_OWN_PATH = "SET LOCAL search_path = pg_catalog, pg_temp"
_THEIR_PATH = "SELECT pg_catalog.set_config('search_path', $1, true)"

_FIND = """
    SELECT c.oid::text, n.nspname::text, c.relname::text, c.relkind::text,
        row_security_active(c.oid)::int::text
    FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
    WHERE n.nspname = $1 AND c.relname = $2
    AND c.relkind IN ('r', 'p', 'm', 'v', 'f')"""

_FOREIGN = """
    WITH RECURSIVE below (oid) AS (
        SELECT $1::oid UNION
        SELECT inhrelid FROM below JOIN pg_catalog.pg_inherits ON inhparent = oid)
    SELECT count(*)::text FROM below JOIN pg_catalog.pg_class c ON c.oid = below.oid
    WHERE c.relkind = 'f'"""

_COLUMNS = """
    WITH RECURSIVE typed (place, name, made, oid) AS (
        SELECT attnum, attname, attgenerated, atttypid FROM pg_catalog.pg_attribute
        WHERE attrelid = $1::oid AND attnum > 0 AND NOT attisdropped
        UNION ALL
        SELECT place, name, made, t.typbasetype FROM typed
        JOIN pg_catalog.pg_type t ON t.oid = typed.oid WHERE t.typtype = 'd')
    SELECT name::text, t.typname::text, t.typtype::text,
        t.typnamespace::regnamespace::text, made::text
    FROM typed JOIN pg_catalog.pg_type t ON t.oid = typed.oid
    WHERE t.typtype <> 'd' ORDER BY place"""

_SERVER = """SELECT current_setting('server_version_num'),
    (SELECT pg_catalog.pg_encoding_to_char(encoding)::text FROM pg_catalog.pg_database
        WHERE datname = pg_catalog.current_database())"""

_ROOT = """
    WITH RECURSIVE above (oid) AS (
        SELECT $1::oid UNION
        SELECT inhparent FROM above JOIN pg_catalog.pg_inherits ON inhrelid = oid)
    SELECT min(oid)::text FROM above
    WHERE NOT EXISTS (SELECT FROM pg_catalog.pg_inherits WHERE inhrelid = above.oid)"""

_DATABASE = """SELECT pg_catalog.current_database()::text,
    coalesce(pg_catalog.host(pg_catalog.inet_server_addr()), 'localhost'),
    pg_catalog.current_setting('port'),
    CASE WHEN pg_catalog.has_function_privilege('pg_catalog.pg_control_system()',
        'execute') THEN 1 ELSE 0 END::text"""

_SYSTEM = "SELECT system_identifier::text FROM pg_catalog.pg_control_system()"

_LOCAL_HOSTS = ("127.0.0.1", "::1")

_SHORT = f"CASE WHEN pg_catalog.octet_length({{0}}) <= {LONGEST_CELL} THEN {{0}} END"

_PLAIN: Mapping[str, tuple[str, Any]] = {
    "int2": ("{0}", pa.int16()),
    "int4": ("{0}", pa.int32()),
    "int8": ("{0}", pa.int64()),
    "float4": ("{0}", pa.float32()),
    "float8": ("{0}", pa.float64()),
    "bool": ("{0}", pa.bool_()),
    "bytea": (_SHORT.format("{0}"), pa.large_binary()),
    "date": (
        "CASE WHEN {0} BETWEEN '0001-01-01' AND '9999-12-31' THEN {0} END",
        pa.date32(),
    ),
    "timestamp": (
        "CASE WHEN {0} >= '0001-01-01' AND {0} < '10000-01-01' THEN {0} END",
        pa.timestamp("us"),
    ),
    "timestamptz": (
        "CASE WHEN {0} >= '0001-01-02Z' AND {0} < '9999-12-31Z' THEN {0} END",
        pa.timestamp("us", "UTC"),
    ),
}
"""Type -> how it is read, and the Arrow type that comes. Days beyond are no days."""

_WORDS = ("text", "varchar", "bpchar", "char", "name", "uuid", "citext")
"""Types that are read as their text; that of a padded one has no blanks at its end."""

_ENUM, _BASE = "e", "b"
_VIRTUAL = "v"
"""A generated column that is computed when it is read, which may fail on a row."""

_NUMERIC = "CASE WHEN {0} <> 'NaN' THEN pg_catalog.trim_scale({0})::text END"
_TEXT = pa.large_string()
_NUMBERS = (Content.WHOLE, Content.REAL)


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredColumn:
    """A column: the name of its type, how it is read, and the Arrow type that comes.

    ``read`` is None where it holds no cells of any form.
    """

    name: str
    type_name: str
    read: str | None
    arrow: Any

    def stands_for(self, content: Content) -> Any:
        """Return the polars type that stands for this one when types are checked."""
        if self.read is None:
            return self.type_name
        if self.type_name == "numeric":
            return pl.Decimal(38, 9)
        if self.arrow == _TEXT and content in _NUMBERS:
            # Numbers in text are for a program that knows who wrote them.
            return self.type_name
        found = stored_type(self.arrow, content)
        return self.type_name if isinstance(found, str) else found


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """A table that a session reads, in one transaction."""

    session: Session = field(repr=False)
    oid: str
    schema: str
    name: str
    columns: tuple[StoredColumn, ...]

    @property
    def sql_name(self) -> str:
        """The name of the table in SQL."""
        return f"{quoted(self.schema)}.{quoted(self.name)}"

    def identity(self) -> str:
        """Return what the server says that the table is, however it was named.

        A part of a table is the whole of it. Replicas share the system's number.
        """
        ((database, host, port, allowed),) = self.session.ask(_DATABASE)
        if allowed == "1":
            ((system,),) = self.session.ask(_SYSTEM)
        else:
            # The server's own word: who connects may call it by many names.
            host = "localhost" if host in _LOCAL_HOSTS else host
            system = f"{host}:{port}"
        ((root,),) = self.session.ask(_ROOT, self.oid)
        # What is compared ends at a blank, of which a database may have some.
        location = f"{system}/{quote(database, safe='')}/{root}"
        return f"postgresql:{location} {self.schema}.{self.name}"


def find_table(session: Session, name: str, source: str) -> Table:
    """Return the table of that name, in a transaction that has begun with it.

    Args:
        session: on a connection that is in no transaction.
        name: ``schema.table``, or a table on the role's search path; with ``view:``
            before it, a view or a table with row-level security, too.
        source: what the data are called in messages.

    Raises:
        RunFault: DPQL501, there is none, or it may not be read; DPQL502, it is a view
            and the owner did not say so.
    """
    try:
        return _found(begun(session), name, source)
    except RunFault:
        session.end()
        raise
    except NotOurs:
        raise RunFault.of(
            "DPQL501",
            f"the connection to the data of `{source}` cannot begin to read",
            hint="end its transaction first: all rows are read in one of our own",
        ) from None


def _found(session: Session, name: str, source: str) -> Table:
    path = session.ask(_PATH)
    session.ask(_OWN_PATH)
    _refuse_server(session, source)
    allowed = name.startswith(VIEW)
    schema, _, table = name.removeprefix(VIEW).rpartition(".")
    schemas = [schema] if schema else [visible for _, visible in path]
    answers = (session.ask(_FIND, schema, table) for schema in schemas)
    found = next(filter(None, answers), [])
    if len(found) != 1:
        raise RunFault.of(
            "DPQL501",
            f"no such table in the database of `{source}`",
            hint="name it as it is stored: postgresql://host/database#schema.table",
        )
    ((oid, schema, table, kind, secured),) = found
    if kind in "vf" and not allowed:
        raise _no_table(source, "a view, and a view may fail on one row")
    if secured == "1" and not allowed:
        raise _no_table(source, "under row-level security, which hides rows")
    if kind not in "vf" and session.ask(_FOREIGN, oid) != [("0",)] and not allowed:
        raise _no_table(source, "partly on another server, which may fail on one row")
    columns = tuple(_column(*row) for row in session.ask(_COLUMNS, oid))
    if kind == "v":
        session.ask(_THEIR_PATH, path[0][0])
    return Table(session=session, oid=oid, schema=schema, name=table, columns=columns)


def quoted(name: str) -> str:
    """Return an identifier of SQL, whatever its characters."""
    return '"' + name.replace('"', '""') + '"'


def _column(
    name: str, kind: str, category: str, namespace: str, made_by: str
) -> StoredColumn:
    cell = quoted(name)
    builtin = namespace == "pg_catalog"
    # Only a superuser can make a base type, so it is the extension's.
    citext = kind == "citext" and category == _BASE
    if made_by == _VIRTUAL:
        return StoredColumn(name=name, type_name="virtual", read=None, arrow=None)
    if builtin and kind in _PLAIN:
        read, arrow = _PLAIN[kind]
        return StoredColumn(
            name=name, type_name=kind, read=read.format(cell), arrow=arrow
        )
    if builtin and kind == "numeric":
        made, arrow = _NUMERIC.format(cell), _TEXT
    elif category == _ENUM or (kind in _WORDS and (builtin or citext)):
        made = _SHORT.format(f"CAST({cell} AS pg_catalog.text)")
        arrow = _TEXT
        kind = "enum" if category == _ENUM else kind
    else:
        return StoredColumn(name=name, type_name=kind, read=None, arrow=None)
    return StoredColumn(name=name, type_name=kind, read=made, arrow=arrow)


def _refuse_server(session: Session, source: str) -> None:
    ((version, encoding),) = session.ask(_SERVER)
    if int(version) < _OLDEST or encoding not in _ENCODINGS:
        raise RunFault.of(
            "DPQL502",
            f"the database of `{source}` is not one that can be read",
            hint="use PostgreSQL 13 or later, and a database in UTF8",
        )


def _no_table(source: str, what: str) -> RunFault:
    return RunFault.of(
        "DPQL502",
        f"the data of `{source}` are {what}",
        hint=f"name a table, or take it as it is: #{VIEW}schema.name",
    )
