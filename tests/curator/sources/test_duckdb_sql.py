"""Texts of DuckDB mean what they are to mean, whatever their characters."""

from __future__ import annotations

import duckdb
import pytest

from dpql.curator.sources.duckdb_sql import key_code, literal, named, words

HOSTILE = ["a", "A", "", "o'x", 'o"x', "a\\b", "]", "; DROP TABLE t", "--", "é", "日本"]


@pytest.mark.parametrize("text", HOSTILE)
def test_a_text_is_itself(text: str) -> None:
    """As a word, and as the name of a column."""
    name = text or "x"
    relation = duckdb.connect().sql(f"SELECT {literal(text)} AS {named(name)}")
    assert ([name], [(text,)]) == (relation.columns, relation.fetchall())


@pytest.mark.parametrize("collation", ["", "COLLATE NOCASE"])
def test_codes_follow_the_keys(collation: str) -> None:
    """Bytes decide, and what is no key has no code."""
    connection = duckdb.connect()
    connection.execute(f"CREATE TABLE t (n INTEGER, w VARCHAR {collation})")
    cells = [*HOSTILE, "none", "É", None]
    connection.executemany("INSERT INTO t VALUES (?, ?)", list(enumerate(cells)))
    code = key_code(words("w"), HOSTILE)
    found = connection.sql(f"SELECT {code} FROM t ORDER BY n").fetchall()
    assert [*range(len(HOSTILE)), None, None, None] == [x for (x,) in found]
