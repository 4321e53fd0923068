"""Columns of PostgreSQL by their types alone."""

from __future__ import annotations

import polars as pl
import pytest

from dpql.curator.columns import Content
from dpql.curator.sources.postgres_table import _column, quoted


@pytest.mark.parametrize(
    ("kind", "whole", "word", "id_"),
    [
        ("int8", pl.Int64(), pl.Int64(), pl.Int64()),
        ("float4", pl.Float32(), pl.Float32(), pl.Float32()),
        ("numeric", pl.Decimal(38, 9), pl.Decimal(38, 9), pl.Decimal(38, 9)),
        ("text", "text", pl.String(), pl.String()),
        ("bytea", "bytea", "bytea", pl.Binary()),
        ("json", "json", "json", "json"),
    ],
)
def test_a_type_stands_for_one_of_polars(
    kind: str, whole: object, word: object, id_: object
) -> None:
    """Text is no type for numbers; what cannot be read keeps its name."""
    found = _column("x", kind, "b", "pg_catalog", "")
    contents = Content.WHOLE, Content.CODE, Content.ID
    assert [whole, word, id_] == [found.stands_for(one) for one in contents]


def test_days_and_moments_are_read_as_such_only() -> None:
    """They are no numbers and no ids."""
    for kind, dtype in (("date", pl.Date()), ("timestamptz", pl.Datetime())):
        found = _column("x", kind, "b", "pg_catalog", "")
        for content in (Content.DATE, Content.TIME):
            assert dtype == found.stands_for(content)
        assert kind == found.stands_for(Content.WHOLE)
        assert kind == found.stands_for(Content.ID)


def test_types_of_others_are_not_trusted() -> None:
    """A type that bears the name of a builtin one is another type."""
    assert _column("x", "int4", "b", "public", "").read is None
    assert _column("x", "text", "b", "public", "").read is None
    assert _column("x", "mood", "e", "public", "").read is not None
    assert _column("x", "citext", "b", "public", "").read is not None
    assert _column("x", "citext", "c", "public", "").read is None


def test_what_is_computed_when_it_is_read_is_not_read() -> None:
    """It may divide by 0 on one row; what was computed when it was stored cannot."""
    found = _column("x", "int4", "b", "pg_catalog", "v")
    assert (None, "virtual") == (found.read, found.stands_for(Content.WHOLE))
    assert _column("x", "int4", "b", "pg_catalog", "s").read is not None


def test_names_are_quoted() -> None:
    """Whatever their characters are."""
    assert '"a ""b"""' == quoted('a "b"')
