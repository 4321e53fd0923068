"""The dialect of PostgreSQL: NUMERIC, padding, collations, settings of the server."""

from __future__ import annotations

from typing import Any

import psycopg
import pytest
from exact_sums import exact_sums
from spec_text import make_spec

from dpql.curator.engines import postgres
from dpql.planner import plan


@pytest.fixture
def connection(postgres_server: str) -> Any:
    """Give a connection to a database of our own."""
    with psycopg.connect(f"{postgres_server}postgres", autocommit=True) as opened:
        yield opened


def _moments(connection: Any, table: str, columns: dict[str, str], **asked: Any) -> Any:
    shared = {name: {**one, "spend": "{share: 1}"} for name, one in asked.items()}
    made = plan(make_spec(columns, shared, epsilon="10"))
    found = exact_sums(made, (connection, table), engine=postgres)
    return [dict(one) for one in found.moments]


def test_numeric_beyond_doubles_is_clamped(connection: Any) -> None:
    """Neither a cast that overflows nor one that underflows is ever made."""
    cells = ["1e400", "-1e400", "1e-400", "NaN", "Infinity", "-Infinity", "0.5"]
    connection.execute("CREATE TEMPORARY TABLE huge (x numeric)")
    for cell in cells:
        connection.execute("INSERT INTO huge VALUES (%s)", [cell])
    real = "{type: float, bounds: [0, 1], nulls: drop}"
    n, u = _moments(
        connection, "huge", {"x": real}, a={"sum": "x"}, n={"count": "rows"}
    )
    assert {"n": [7]} == u
    steps = n["u"][0]
    whole = "{type: integer, bounds: [0, 1], nulls: drop}"
    (found,) = _moments(connection, "huge", {"x": whole}, a={"mean": "x"})
    assert {"n": [6], "u": [3]} == found
    assert steps > 0


def test_padded_text_has_no_blanks_at_its_end(connection: Any) -> None:
    """CHAR(n) is compared as the text that was written."""
    connection.execute("CREATE TEMPORARY TABLE padded (x char(5))")
    connection.execute("INSERT INTO padded VALUES ('a'), ('a  '), ('A'), (NULL)")
    keys = "{type: category, keys: [a, A]}"
    (found,) = _moments(
        connection, "padded", {"x": keys}, a={"count": "rows", "by": "[x]"}
    )
    assert {"n": [2, 1]} == found


def test_collations_join_no_keys(connection: Any) -> None:
    """A collation that ignores case would make two keys one."""
    connection.execute(
        """CREATE COLLATION IF NOT EXISTS nocase
        (provider = icu, locale = 'und-u-ks-level2', deterministic = false)"""
    )
    connection.execute("CREATE TEMPORARY TABLE collated (x text COLLATE nocase)")
    connection.execute("INSERT INTO collated VALUES ('a'), ('A'), ('a'), ('b')")
    assert (
        3
        == connection.execute("SELECT count(*) FROM collated WHERE x = 'A'").fetchone()[
            0
        ]
    )
    keys = "{type: category, keys: [a, A]}"
    (found,) = _moments(
        connection, "collated", {"x": keys}, a={"count": "rows", "by": "[x]"}
    )
    assert {"n": [2, 1]} == found


def test_ids_are_no_longer_than_those_that_are_read(connection: Any) -> None:
    """Both ways count the same people, also where a text is too long to be sent."""
    connection.execute("CREATE TEMPORARY TABLE lengthy (x text)")
    for length in (0, 1, 524_288, 524_289):
        connection.execute("INSERT INTO lengthy VALUES (repeat('a', %s))", [length])
    (found,) = _moments(connection, "lengthy", {"x": "{type: id}"}, a={"distinct": "x"})
    assert {"d": [2]} == found


@pytest.mark.parametrize("setting", ["on", "off"])
def test_backslashes_are_characters(setting: str, connection: Any) -> None:
    """Whatever the server makes of them in literals."""
    connection.execute(f"SET standard_conforming_strings = {setting}")
    connection.execute("CREATE TEMPORARY TABLE slashes (x text)")
    for word in ("a\\b", "a\\\\b", "ab", "\\n"):
        connection.execute("INSERT INTO slashes VALUES (%s)", [word])
    keys = '{type: category, keys: ["a\\\\b", "\\\\n"]}'
    (found,) = _moments(
        connection, "slashes", {"x": keys}, a={"count": "rows", "by": "[x]"}
    )
    assert {"n": [1, 1]} == found
