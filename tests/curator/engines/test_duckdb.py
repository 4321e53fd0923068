"""The engine of DuckDB: what it opens, and what it says when it fails."""

from __future__ import annotations

import traceback
from pathlib import Path

import duckdb
import pytest
from spec_text import make_spec
from tables import WHOLE, category, declare

from dpql.curator import run
from dpql.curator.engines.duckdb import open_source
from dpql.errors import RunFault
from dpql.planner import plan

CANARY = "Zebedee-7141-canary"
COLUMNS = {"x": WHOLE, "k": category("north", "1")}
DATA = declare(**COLUMNS)


@pytest.fixture
def location(tmp_path: Path) -> str:
    """Return the location of a small table."""
    path = tmp_path / "a.duckdb"
    with duckdb.connect(path) as connection:
        connection.execute("CREATE TABLE t AS SELECT 7 AS x, 'north' AS k")
        connection.execute("CREATE VIEW v AS FROM t")
    return f"duckdb:{path}"


def test_tables_are_opened_in_every_way(location: str) -> None:
    """A file and a name, a connection and a name, a relation."""
    path = location.removeprefix("duckdb:")
    with duckdb.connect(path, read_only=True) as connection:
        frames = [(connection, "t"), connection.sql("SELECT k, x, 1 AS y FROM t")]
        for frame in [f"{location}#t", Path(f"{location}#t"), *frames]:
            opened = open_source(frame, DATA)
            query = f"SELECT x, k FROM {opened.sql_name}"
            assert [(7, "north")] == list(opened.ask(query))


def test_a_view_is_refused(location: str) -> None:
    """It may fail on a single row."""
    with pytest.raises(RunFault, match="DPQL502"):
        open_source(f"{location}#v", DATA)


def test_errors_quote_no_cell(
    capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    """A relation of the owner may fail; what DuckDB says of it ends at the wall."""
    asked = {"n": {"sum": "x", "spend": "{share: 1}"}}
    made = plan(make_spec(COLUMNS, asked))
    with duckdb.connect() as connection:
        connection.execute(f"CREATE TABLE t AS SELECT '{CANARY}' AS x, 'north' AS k")
        failing = connection.sql("SELECT CAST(x AS BIGINT) AS x, k FROM t")
        with pytest.raises(duckdb.Error, match=CANARY):
            failing.fetchall()
        with pytest.raises(RunFault) as caught:
            run(made, {"rows": failing}, engine="duckdb")
    error = caught.value
    assert ["DPQL510"] == [one.code for one in error.diagnostics]
    assert (None, None) == (error.__cause__, error.__context__)
    assert CANARY not in "".join(traceback.format_exception(error))
    assert ("", "") == tuple(capfd.readouterr())
    assert [] == caplog.records
