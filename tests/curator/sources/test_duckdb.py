"""Tables of DuckDB: every type, no view, and no comparison by DuckDB."""

from __future__ import annotations

import os
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import duckdb
import pytest
from tables import ID, REAL, WHOLE, Rows, category, declare, ordered, rows

from dpql.curator.sources import open_source
from dpql.curator.sources.duckdb import is_duckdb
from dpql.errors import RunFault
from dpql.model.spec import CategoryColumn, Data

DATA = declare(x=WHOLE, k=category("north", "1"))
ROWS: Rows = [(1, "north"), (2, "1")]


def _refused(frame: object, data: Data = DATA) -> str:
    with pytest.raises(RunFault) as caught:
        open_source(frame, data)
    return str(caught.value)


@pytest.fixture
def database(tmp_path: Path) -> str:
    """Return the location of a database with tables and a view."""
    path = tmp_path / "a b#c.duckdb"
    with duckdb.connect(path) as connection:
        connection.execute(
            """CREATE TABLE t AS SELECT * FROM (VALUES (1, 'north'), (2, '1')) v(x, k);
            CREATE SCHEMA s; CREATE TABLE s."T ""2" AS FROM t;
            CREATE VIEW v AS FROM t"""
        )
    return f"duckdb:{path}"


@pytest.mark.heavy
def test_a_table_is_named_with_or_without_its_schema(database: str) -> None:
    """As DuckDB names them, in upper or lower case."""
    for name in ("t", "T", "main.t", "MAIN.T", 's.T "2', 'S.t "2'):
        assert ROWS == rows(f"{database}#{name}", DATA)
        assert 2 == open_source(f"{database}#{name}", DATA).row_count()


@pytest.mark.parametrize("name", ["", "none", "s.t", "t; DROP TABLE t", "a.b.t", '"t"'])
def test_tables_that_are_not_there_are_refused(name: str, database: str) -> None:
    """A name is looked up and never run."""
    assert "DPQL501" in _refused(f"{database}#{name}")
    assert ROWS == rows(f"{database}#t", DATA)


def test_a_view_is_refused(database: str) -> None:
    """It may fail on a single row."""
    assert "DPQL502" in _refused(f"{database}#v")


def test_files_that_are_no_database_are_refused(tmp_path: Path) -> None:
    """None is made, none is waited for, and none is quoted."""
    (tmp_path / "no.duckdb").write_text("secret")
    (tmp_path / "folder").mkdir()
    os.mkfifo(tmp_path / "pipe")
    codes = {"none": "501", "no.duckdb": "501", "folder": "501", "pipe": "511"}
    for name, code in codes.items():
        found = _refused(f"duckdb:{tmp_path / name}#t")
        assert f"DPQL{code}" in found
        assert "secret" not in found
    assert not (tmp_path / "none").exists()
    assert "DPQL501" in _refused("duckdb:")


def test_a_database_is_opened_for_reading_only(database: str) -> None:
    """Another process may read it at the same time."""
    source = open_source(f"{database}#t", DATA)
    path = database.removeprefix("duckdb:")
    with duckdb.connect(path, read_only=True) as other:
        assert [(2,)] == other.execute("SELECT count(*) FROM t").fetchall()
    assert 2 == source.row_count()


def test_without_duckdb_its_files_are_refused(
    database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The hint says how to install it."""
    monkeypatch.setitem(sys.modules, "duckdb", None)
    with pytest.raises(RunFault, match="DPQL502") as caught:
        open_source(f"{database}#t", DATA)
    (fault,) = caught.value.diagnostics
    assert "install it: pip install 'dpql[duckdb]'" == fault.hint


def test_rows_are_counted_and_read_in_any_order() -> None:
    """Counting does not disturb reading on the same connection, nor the reverse."""
    connection = duckdb.connect()
    connection.execute("CREATE TABLE t AS SELECT range AS x, '1' AS k FROM range(9999)")
    source = open_source((connection, "t"), DATA)
    for _ in range(2):
        assert 9999 == source.row_count()
        assert 9999 == sum(source.batches(["x"], len))


def test_a_relation_computes_only_what_is_declared() -> None:
    """A column that fails on every row does not matter while nobody declares it."""
    relation = duckdb.connect().sql(
        "SELECT 1 AS x, 'north' AS k, CAST('no number' AS INTEGER) AS unused"
    )
    assert [(1, "north")] == rows(relation, DATA)
    assert 1 == open_source(relation, DATA).row_count()
    assert "DPQL503 no column `K`" in _refused(relation, declare(K=ID))


_NUMBERS = {
    "TINYINT": (-128, 127),
    "UTINYINT": (0, 255),
    "BIGINT": (-(2**63), 2**63 - 1),
    "UBIGINT": (0, 2**64 - 1),
    "HUGEINT": (-(2**127) + 1, 2**127 - 1),
    "UHUGEINT": (0, 2**128 - 1),
    "BIGNUM": (-(10**50), 10**50),
}


@pytest.mark.parametrize("dtype", _NUMBERS)
def test_integers_of_any_width_are_exact(dtype: str) -> None:
    """As ids, keys and numbers."""
    cells = [*_NUMBERS[dtype], 17, None]
    texts = [None if cell is None else str(cell) for cell in cells]
    data = declare(x=WHOLE, y=REAL, k=category("17", str(cells[0])), p=ID)
    connection = duckdb.connect()
    connection.execute(f"CREATE TABLE t (x {dtype}, y {dtype}, k {dtype}, p {dtype})")
    connection.executemany(
        "INSERT INTO t VALUES (?, ?, ?, ?)", [[t] * 4 for t in texts]
    )
    wanted = [
        (
            max(-(2**62), min(cell, 2**62)),
            float(cell),
            str(cell) if cell in (17, cells[0]) else None,
            b"%d" % cell,
        )
        for cell in cells
        if cell is not None
    ]
    assert ordered([*wanted, (None,) * 4]) == rows((connection, "t"), data)


_WORDS = ["a", "A", "", "o'x", "é", "e\u0301", "a\\b", "]", "日本", "a\0b", "a ", "b"]


@pytest.mark.parametrize(
    "keys", [_WORDS[:9], _WORDS[1:], [*_WORDS, *map(str, range(64))]]
)
@pytest.mark.parametrize("dtype", ["VARCHAR", "VARCHAR COLLATE NOCASE.NOACCENT"])
def test_keys_are_found_by_their_bytes(dtype: str, keys: list[str]) -> None:
    """Whoever looks them up: DuckDB where they are few, else we."""
    cells = [*_WORDS, "none", "7", None]
    connection = duckdb.connect()
    connection.execute(f"CREATE TABLE t (k {dtype})")
    connection.executemany("INSERT INTO t VALUES (?)", [[cell] for cell in cells])
    (column,) = declare(k=category("a")).columns
    assert isinstance(column, CategoryColumn)
    # No spec can say the NUL.
    data = replace(DATA, columns=(replace(column, keys=tuple(keys)),))
    wanted: Rows = [(cell if cell in keys else None,) for cell in cells]
    assert ordered(wanted) == rows((connection, "t"), data)


def test_only_columns_that_are_asked_for_are_computed() -> None:
    """A plan that leaves a declared column out costs nothing for it."""
    relation = duckdb.connect().sql("SELECT 1 AS x, CAST('north' AS INTEGER) AS y")
    source = open_source(relation, declare(x=WHOLE, y=WHOLE))
    assert 1 == sum(source.batches(["x"], len))
    with pytest.raises(Exception, match="north"):
        list(source.batches(["y"], len))


_OTHERS: list[tuple[str, bytes | None]] = [
    ("'a'::VARCHAR COLLATE NOCASE", b"a"),
    ("'A'::VARCHAR COLLATE NOCASE", b"A"),
    ("'a'::ENUM('b', 'a')", b"a"),
    ("'\\xFF'::BLOB", b"\xff"),
    ("true", b"true"),
    ("17.50::DECIMAL(9, 3)", b"17.5"),
    ("0.1::FLOAT", b"0.1"),
    ("'nan'::DOUBLE", None),
    ("NULL", None),
]


@pytest.mark.parametrize(("value", "id_"), _OTHERS)
def test_cells_of_other_types_are_ids(value: str, id_: bytes | None) -> None:
    """By the rules of every kind of data; no collation joins two."""
    relation = duckdb.connect().sql(f"SELECT {value} AS p")
    assert [(id_,)] == rows(relation, declare(p=ID))


@pytest.mark.parametrize(
    "value", ["DATE '2020-01-01'", "[1]", "{'secret': 1}", "INTERVAL 1 DAY", "now()"]
)
def test_other_types_are_refused_by_name(value: str) -> None:
    """Dates and lists hold no cells of any form."""
    relation = duckdb.connect().sql(f"SELECT {value} AS p")
    found = _refused(relation, declare(p=ID))
    assert "DPQL504 column `p` is of type" in found
    assert "secret" not in found


@pytest.mark.parametrize("thing", [None, "duckdb:a", 7, object(), duckdb, dict])
def test_other_things_are_not_of_duckdb(thing: Any) -> None:
    """Only connections and relations are."""
    assert not is_duckdb(thing)
    assert is_duckdb(duckdb.connect())
    assert is_duckdb(duckdb.connect().sql("SELECT 1"))
