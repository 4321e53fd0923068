"""The SQL of a plan can be read before there are data, and databases take it."""

from __future__ import annotations

import duckdb
import pytest
from curator_plans import known_plan, row_plan, unit_plan

from dpql.curator.engines.sql.script import DIALECTS, statements_of
from dpql.errors import RunFault


@pytest.mark.parametrize("engine", DIALECTS)
def test_statements_are_the_same_every_time(engine: str) -> None:
    """A plan has one text for each database."""
    text = statements_of(row_plan(), engine)
    assert text == statements_of(row_plan(), engine)
    assert 8 == text.count("FROM steps") == text.count(";\n")


def test_what_is_shown_can_be_run() -> None:
    """DuckDB takes the text as it is."""
    text = statements_of(known_plan(5), "duckdb")
    whole = ", ".join(f"{name} BIGINT" for name in ("age", "kids", "big"))
    real = ", ".join(f"{name} DOUBLE" for name in ("wage", "score", "wide"))
    with duckdb.connect() as connection:
        connection.execute(
            f"CREATE TABLE rows (region TEXT, kind TEXT, {whole}, {real})"
        )
        for statement in text.rstrip().rstrip(";").split(";\n\n"):
            connection.execute(statement)


@pytest.mark.parametrize("engine", DIALECTS)
def test_units_have_no_sql(engine: str) -> None:
    """A plan that bounds units is not summed by SQL."""
    with pytest.raises(RunFault, match="DPQL509"):
        statements_of(unit_plan(), engine)
