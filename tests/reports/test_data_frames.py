"""A release as a frame: released values as doubles, keys as text."""

from __future__ import annotations

import io
import sys
from dataclasses import replace
from fractions import Fraction

import polars as pl
import pytest
from reports.sample_releases import make_outcome
from spec_text import make_spec

from dpql.model.release import Outcome
from dpql.planner import plan
from dpql.reports.data_frames import outcome_frame, parquet_bytes, result_frame


def outcome() -> Outcome:
    """Return a release by a column that is called like a number of the table."""
    return make_outcome(
        plan(
            make_spec(
                {"value": "{type: category, keys: [a, b]}"},
                {"n": {"count": "rows", "by": "[value]", "spend": "{share: 1}"}},
            )
        )
    )


def test_a_heading_that_is_also_a_number_gets_a_prefix() -> None:
    """Both columns are there, and neither hides the other."""
    frame = result_frame(outcome().results[0])
    assert ["by_value", "value"] == frame.columns[:2]
    assert ["a", "b"] == frame["by_value"].to_list()
    assert pl.Float64 == frame.schema["value"]


def test_the_frame_of_everything_has_the_columns_of_the_csv() -> None:
    """One row per value, in the same order."""
    made = outcome()
    heading, *lines = made.to_csv().splitlines()
    frame = outcome_frame(made)
    assert heading.split(",") == frame.columns
    assert len(lines) == frame.height


def test_the_parquet_file_is_the_frame() -> None:
    """Reading it back gives the same frame, and writing it twice the same bytes."""
    made = outcome()
    assert outcome_frame(made).equals(pl.read_parquet(io.BytesIO(parquet_bytes(made))))
    assert parquet_bytes(made) == parquet_bytes(outcome())


@pytest.mark.parametrize("sign", [1, -1])
def test_a_number_beyond_all_doubles_is_the_largest_of_them(sign: int) -> None:
    """Nothing else can stand in a column of doubles."""
    huge = sign * Fraction(10) ** 400
    (result,) = outcome().results
    value = replace(result.values[0], value=huge)
    frame = result_frame(replace(result, values=(value,)))
    assert [sign * sys.float_info.max] == frame["value"].to_list()
