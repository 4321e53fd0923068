"""What dialects share: literals, choices, halving."""

from __future__ import annotations

import pytest

from dpql.curator.engines.sql.dialect import choice, clamped, halved, of_known_years
from dpql.curator.engines.sql.duckdb import DUCKDB
from dpql.curator.engines.sql.postgres import POSTGRES
from dpql.curator.engines.sql.script import DIALECTS
from dpql.curator.engines.sql.spark import SPARK


def test_names_and_texts_are_quoted() -> None:
    """No character ends them."""
    assert '"a""; DROP"' == DUCKDB.named('a"; DROP')
    assert "`a``b`" == SPARK.named("a`b")
    assert "'o''x'" == DUCKDB.literal("o'x")
    assert "E'a\\\\b'''" == POSTGRES.literal("a\\b'")
    assert POSTGRES.literal("a\0b") is None
    assert "CAST(X'27c3a9' AS STRING)" == SPARK.literal("'é")


@pytest.mark.parametrize("name", DIALECTS)
def test_numbers_are_doubles_and_never_decimals(name: str) -> None:
    """A bare 0.1 is a decimal in all three; whole numbers are written as they are."""
    dialect = DIALECTS[name]
    assert name == dialect.name
    assert f"CAST('0.1' AS {dialect.real})" == dialect.number(0.1)
    assert "-7" == dialect.number(-7)


def test_a_choice_without_entries_is_null() -> None:
    """No database takes a CASE without a case."""
    assert "CAST(NULL AS INTEGER)" == choice("x", [])
    assert "CASE x WHEN 1 THEN 0 WHEN 2 THEN 1 END" == choice("x", [(1, 0), (2, 1)])


def test_starts_are_halved() -> None:
    """Each number takes as few comparisons as there are halves."""
    text = halved("x", list(map(str, range(8))), 0, 8)
    assert 7 == text.count("x <")
    assert 3 == max(path.count("(") for path in _nested(text))


def _nested(text: str) -> list[str]:
    """Return the paths into a nested CASE, each open CASE as a bracket."""
    depth, found = 0, []
    for word in text.split():
        depth += {"CASE": 1, "END": -1}.get(word, 0)
        found.append("(" * depth)
    return found


def test_clamping_keeps_nulls() -> None:
    """No ELSE: a null is in none of the cases."""
    assert "ELSE" not in clamped("x", "0", "1")
    assert "ELSE" not in of_known_years("x")
