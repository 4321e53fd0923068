"""Databases that run our SQL, each as a function that writes tables."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.util import find_spec
from types import ModuleType

import pytest
from databases import (
    Database,
    clickhouse_database,
    duckdb_database,
    postgres_database,
    spark_database,
)

DATABASES = ["duckdb", "postgres", "spark"]
if find_spec("chdb"):
    DATABASES.append("clickhouse")


SLOW_ON_SPARK = {
    "test_derived_columns_are_those_of_the_reference",
    "test_joint_cells_have_a_ceiling",
    "test_no_declared_key_need_be_there",
    "test_an_empty_table_counts_nothing",
    "test_bins_are_found_at_their_edges",
    "test_whole_bins_count_whole_steps",
    "test_bounds_beyond_the_stored_type",
    "test_comparisons_with_numbers_beyond_all_cells",
    "test_known_rows_are_summed_as_by_the_reference",
    "test_sums_beyond_64_bits_are_exact",
    "test_rows_are_summed_as_by_the_reference[spark-doubles]",
    "test_rows_are_summed_as_by_the_reference[spark-bigints]",
    "test_rows_are_summed_as_by_the_reference[spark-small]",
}
"""Spark compiles a statement for seconds; the others have the same text."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what takes Spark long as slow."""
    for item in items:
        name = item.name
        if "[spark" in name and {name, name.partition("[")[0]} & SLOW_ON_SPARK:
            item.add_marker("slow")


@pytest.fixture(params=DATABASES, scope="module")
def database(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Database]:
    """Give one database after another."""
    if request.param == "duckdb":
        yield from duckdb_database()
    elif request.param == "postgres":
        yield from postgres_database(request.getfixturevalue("postgres_server"))
    elif request.param == "clickhouse":
        yield from clickhouse_database(tmp_path_factory.mktemp("clickhouse"))
    else:
        session = request.getfixturevalue("spark_session")
        folder = tmp_path_factory.mktemp("spark")
        yield from spark_database(session, folder, request.param)


@pytest.fixture(scope="module")
def engine(database: Database) -> ModuleType:
    """Give the engine of the database."""
    return database.engine
