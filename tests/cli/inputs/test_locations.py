"""Names in a project file are paths seen from its folder."""

from __future__ import annotations

from pathlib import Path

import pytest

from dpql.cli.inputs.locations import beside, key_beside

LOCATIONS = {
    "data/w-*.csv": "../data/w-*.csv",
    "/srv/w.parquet": "/srv/w.parquet",
    "duckdb:w.db#t": "duckdb:../w.db#t",
    "duckdb:a#b.db#s.t": "duckdb:../a#b.db#s.t",
    "postgresql://host/db#s.t": "postgresql://host/db#s.t",
    "s3://bucket/w.csv": "s3://bucket/w.csv",
    "spark:catalog.schema.t": "spark:catalog.schema.t",
}
KEYS = {"steward": "../keys/steward", "./steward": ".././steward", "/k/s": "/k/s"}


@pytest.mark.parametrize(("location", "expected"), LOCATIONS.items())
def test_files_are_relative_to_the_folder_and_urls_are_not(
    location: str, expected: str
) -> None:
    """A file moves with the folder; a server does not."""
    assert expected == beside(Path(".."), location)


@pytest.mark.parametrize(("name", "expected"), KEYS.items())
def test_a_bare_key_lies_in_the_folder_of_keys(name: str, expected: str) -> None:
    """A path is one from the folder."""
    assert expected == key_beside(Path(".."), name)


def test_a_key_in_the_folder_itself_keeps_its_path() -> None:
    """Without a separator it would be looked for in the folder of keys."""
    assert "./steward" == key_beside(Path(), "./steward")
