"""The tables of a release, as files."""

from __future__ import annotations

import io

import polars as pl
from reports.sample_releases import make_outcome, small_plan

from dpql.reports.file_names import HTML_NAME, signed_names
from dpql.reports.tables import tables_of, texts_of


def test_a_release_signs_its_tables_their_dictionary_and_the_page() -> None:
    """No file more and no file less."""
    made = make_outcome(small_plan())
    assert {HTML_NAME, *tables_of(made)} == set(signed_names(made.plan))
    assert {"release.csv", "table-total.csv"} == set(texts_of(made))


def test_csv_and_parquet_have_the_same_table() -> None:
    """The same columns and as many rows."""
    files = tables_of(make_outcome(small_plan()))
    frame = pl.read_parquet(io.BytesIO(files["release.parquet"]))
    heading, *lines = files["release.csv"].decode().splitlines()
    assert heading.split(",") == frame.columns
    assert len(lines) == frame.height
