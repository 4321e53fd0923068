"""Databases that run our SQL, each as a function that writes tables."""

from __future__ import annotations

from collections.abc import Iterator
from types import ModuleType

import pytest
from databases import Database, duckdb_database, postgres_database

DATABASES = ["duckdb", "postgres"]


@pytest.fixture(params=DATABASES, scope="module")
def database(request: pytest.FixtureRequest) -> Iterator[Database]:
    """Give one database after another."""
    if request.param == "duckdb":
        yield from duckdb_database()
    else:
        yield from postgres_database(request.getfixturevalue("postgres_server"))


@pytest.fixture(scope="module")
def engine(database: Database) -> ModuleType:
    """Give the engine of the database."""
    return database.engine
