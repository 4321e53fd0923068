"""Places of tables are what their databases say."""

from __future__ import annotations

from pathlib import Path

import duckdb
import psycopg

from dpql.curator.sources.identity import server_identity


def test_a_server_says_what_its_table_is(postgres_server: str) -> None:
    """An address and a connection lead to one identity."""
    address = f"{postgres_server}postgres"
    with psycopg.connect(address, autocommit=True) as connection:
        connection.execute("CREATE TABLE placed (x int)")
        identity = server_identity(f"{address}#placed", "t")
        assert identity == server_identity((connection, "public.placed"), "t")
    assert identity is not None
    assert identity.endswith(" public.placed")


def test_a_file_of_duckdb_has_an_identity(tmp_path: Path) -> None:
    """Memory is none, and files need no server to say what they are."""
    with duckdb.connect(tmp_path / "a.duckdb") as connection:
        identity = f"duckdb:{tmp_path}/a.duckdb#s.t"
        assert identity == server_identity((connection, "s.t"), "t")
    with duckdb.connect() as connection:
        assert server_identity((connection, "t"), "t") is None
    assert server_identity("duckdb:a#b", "t") is None
    assert server_identity({"x": [1]}, "t") is None
