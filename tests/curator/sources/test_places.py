"""Places of tables are what their databases say."""

from __future__ import annotations

from pathlib import Path

import duckdb
import psycopg

from dpql.curator.sources.places import server_place


def test_a_server_says_what_its_table_is(postgres_server: str) -> None:
    """An address and a connection lead to one place."""
    address = f"{postgres_server}postgres"
    with psycopg.connect(address, autocommit=True) as connection:
        connection.execute("CREATE TABLE placed (x int)")
        place = server_place(f"{address}#placed", "t")
        assert place == server_place((connection, "public.placed"), "t")
    assert place is not None
    assert place.endswith(" public.placed")


def test_a_file_of_duckdb_is_a_place(tmp_path: Path) -> None:
    """Memory is none, and files need no server to say what they are."""
    with duckdb.connect(tmp_path / "a.duckdb") as connection:
        place = f"duckdb:{tmp_path}/a.duckdb#s.t"
        assert place == server_place((connection, "s.t"), "t")
    with duckdb.connect() as connection:
        assert server_place((connection, "t"), "t") is None
    assert server_place("duckdb:a#b", "t") is None
    assert server_place({"x": [1]}, "t") is None
