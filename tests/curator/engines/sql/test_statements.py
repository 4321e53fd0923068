"""SQL gives the integers of the slow reference, whatever the rows hold."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest
import reference_engine as reference
from databases import Database
from exact_sums import exact_sums, same
from spec_text import make_spec
from typed_tables import (
    FRAMES,
    NUMBERS,
    TYPE_SETS,
    columns_of,
    known_rows_plan,
    rows_plan,
    table,
)

from dpql.curator.engines.sql import statements
from dpql.model.plan import Plan
from dpql.planner import plan


def _agrees(made: Plan, database: Database, frame: pl.DataFrame) -> Any:
    """Assert that a database sums a frame as the reference does."""
    some = columns_of(made, frame)
    found = exact_sums(made, database.write(frame), engine=database.engine)
    same(made, exact_sums(made, some, engine=reference), found)
    return found


@pytest.mark.heavy
@pytest.mark.parametrize("type_set", TYPE_SETS)
def test_rows_are_summed_as_by_the_reference(type_set: str, database: Database) -> None:
    """Every moment, count and number of values agrees, for frames of every type."""
    _agrees(rows_plan(), database, table(type_set))


def test_known_rows_are_summed_as_by_the_reference(database: Database) -> None:
    """Every moment agrees where the number of rows is public; so does the number."""
    frame = table("doubles", 5)
    found = _agrees(known_rows_plan(5 * FRAMES), database, frame)
    assert 5 * FRAMES == found.rows


def test_an_empty_table_counts_nothing(database: Database) -> None:
    """No rows is a table like any other: all cells are there, all sums 0."""
    for made in (rows_plan(), known_rows_plan(5 * FRAMES)):
        _agrees(made, database, table("doubles").clear())


@pytest.mark.heavy
def test_joint_cells_have_a_ceiling(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Tallies of too many joint cells are summed by statements of their own."""
    monkeypatch.setattr(statements, "MOST_JOINT_CELLS", 1)
    _agrees(rows_plan(), database, table("doubles"))


@pytest.mark.heavy
def test_sums_beyond_64_bits_are_exact(database: Database) -> None:
    """Thousands of rows at the upper bound of the finest grid overflow nothing."""
    count = 3_000
    frame = pl.DataFrame(
        {
            "frame": ["0"] * count,
            "region": ["north"] * count,
            "kind": ["a"] * count,
            **dict.fromkeys(NUMBERS, [2e307] * count),
        }
    )
    made = rows_plan()
    found = _agrees(made, database, frame)
    sums = [x for step in found.moments for cells in step.values() for x in cells]
    assert max(sums) > 1 << 63


def test_no_declared_key_need_be_there(database: Database) -> None:
    """Rows whose keys nobody declared are in no cell, and in the sums without cells."""
    frame = table("doubles").with_columns(
        region=pl.lit("elsewhere"), kind=pl.lit(None, pl.String)
    )
    _agrees(rows_plan(), database, frame)


def test_names_and_keys_of_any_characters(database: Database) -> None:
    """Quotes, backslashes and keywords are characters like others."""
    column = 'o\'x "y" ; select'
    quoted = '"' + column.replace("\\", "\\\\").replace('"', '\\"') + '"'
    keys = ["a'b", "a\\b", 'a"b', "`", "%s", "{0}", ";--", "é\U0001f600", "$1"]
    written = ", ".join(
        '"' + k.replace("\\", "\\\\").replace('"', '\\"') + '"' for k in keys
    )
    made = plan(
        make_spec(
            {quoted: f"{{type: category, keys: [{written}]}}"},
            {"n": {"count": "rows", "by": f"[{quoted}]", "spend": "{share: 1}"}},
        )
    )
    frame = pl.DataFrame({column: [*keys, *keys, "ab", None, "%S"]})
    found = _agrees(made, database, frame)
    assert [2] * len(keys) == list(found.moments[0]["n"])


def test_different_ids_are_counted(database: Database) -> None:
    """Ids of text are told apart byte by byte; an empty one is nobody's."""
    made = plan(
        make_spec(
            {"who": "{type: id}", "kind": "{type: category, keys: [a, b]}"},
            {"n": {"distinct": "who", "by": "[kind]", "spend": "{share: 1}"}},
        )
    )
    words = ["p", "P", "p ", "é", "e\u0301", "", None, "p"]
    for ids in (words, [1, 1, 2, 2**63 - 1, -(2**63), None, 0, 0]):
        frame = pl.DataFrame({"who": ids, "kind": ["a"] * 7 + ["b"]})
        assert [5, 1] == list(_agrees(made, database, frame).moments[0]["d"])
