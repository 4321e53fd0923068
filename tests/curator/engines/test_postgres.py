"""The engine of PostgreSQL: what it opens, its transaction, what it says in failing."""

from __future__ import annotations

import traceback
from typing import Any

import psycopg
import pytest
from spec_text import make_spec
from tables import WHOLE, category, declare

from dpql.curator import run
from dpql.curator.engines.postgres import open_source
from dpql.errors import RunFault
from dpql.planner import plan

CANARY = "Zebedee-7141-canary"
COLUMNS = {"x": WHOLE, "k": category("north", "1")}
DATA = declare(**COLUMNS)
ASKED = {"n": {"sum": "x", "spend": "{share: 1}"}}


@pytest.fixture
def connection(postgres_server: str) -> Any:
    """Give a connection to a database with a table and two views."""
    with psycopg.connect(f"{postgres_server}postgres", autocommit=True) as opened:
        opened.execute(
            f"""DROP SCHEMA IF EXISTS engine CASCADE; CREATE SCHEMA engine;
            CREATE TABLE engine.t AS SELECT 7 AS x, text 'north' AS k;
            CREATE TABLE engine.words AS SELECT text '{CANARY}' AS x, text 'a' AS k;
            CREATE VIEW engine.failing AS SELECT x::bigint AS x, k FROM engine.words"""
        )
        yield opened


def test_tables_are_opened_in_every_way(connection: Any, postgres_server: str) -> None:
    """An address and a name, a connection and a name; both in one state."""
    for frame in (f"{postgres_server}postgres#engine.t", (connection, "engine.t")):
        opened = open_source(frame, DATA)
        query = f"SELECT x::text, k FROM {opened.sql_name}"
        assert [("7", "north")] == [tuple(row) for row in opened.ask(query)]
        (state,) = opened.ask("SELECT current_setting('transaction_read_only')")
        assert ("on",) == tuple(state)
        opened.end()


def test_what_may_not_be_read_is_refused_before_any_row(connection: Any) -> None:
    """A view, for it may fail on a row; a table that the role may not read."""
    with pytest.raises(RunFault, match="DPQL502"):
        open_source((connection, "engine.failing"), DATA)
    connection.execute("DROP ROLE IF EXISTS nobody; CREATE ROLE nobody")
    connection.execute("GRANT USAGE ON SCHEMA engine TO nobody; SET ROLE nobody")
    with pytest.raises(RunFault, match="DPQL501"):
        open_source((connection, "engine.t"), DATA)
    connection.execute("RESET ROLE")
    assert connection.info.transaction_status.name == "IDLE"


def test_a_role_needs_no_more_than_its_columns(connection: Any) -> None:
    """The guide's role: SELECT on the declared columns, as engine and as source."""
    connection.execute(
        """DROP ROLE IF EXISTS reader; CREATE ROLE reader;
        GRANT USAGE ON SCHEMA engine TO reader;
        CREATE TABLE engine.wide AS
            SELECT 7 AS x, text 'north' AS k, text 's' AS secret;
        GRANT SELECT (x, k) ON engine.wide TO reader;
        SET ROLE reader; SET default_transaction_read_only = on"""
    )
    with pytest.raises(psycopg.Error):
        connection.execute("SELECT secret FROM engine.wide")
    made = plan(make_spec(COLUMNS, ASKED))
    for engine in ("postgres", "polars"):
        assert run(made, {"rows": (connection, "engine.wide")}, engine=engine)
    connection.execute("RESET ROLE; SET default_transaction_read_only = off")
    connection.execute("DROP OWNED BY reader; DROP ROLE reader")


def test_errors_quote_no_cell(
    connection: Any,
    capfd: pytest.CaptureFixture[str],
    caplog: pytest.LogCaptureFixture,
) -> None:
    """A view of the owner may fail; what the server says of it ends at the wall."""
    with pytest.raises(psycopg.Error, match=CANARY):
        connection.execute("SELECT sum(x) FROM engine.failing")
    made = plan(make_spec(COLUMNS, ASKED))
    with pytest.raises(RunFault) as caught:
        run(made, {"rows": (connection, "view:engine.failing")}, engine="postgres")
    error = caught.value
    assert ["DPQL510"] == [one.code for one in error.diagnostics]
    assert (None, None) == (error.__cause__, error.__context__)
    assert CANARY not in "".join(traceback.format_exception(error))
    assert ("", "") == tuple(capfd.readouterr())
    assert [] == caplog.records
