"""The dialect of Spark: types by their names."""

from __future__ import annotations

import pytest

from dpql.curator.engines.sql.dialect import Kind
from dpql.curator.engines.sql.spark import SPARK, kind_of


@pytest.mark.parametrize(
    ("dtype", "kind"),
    [
        ("int", Kind.SMALL),
        ("bigint", Kind.WHOLE),
        ("decimal(38,0)", Kind.WIDE),
        ("decimal(10,2)", Kind.FIXED),
        ("decimal(20,2)", Kind.LONG),
        ("string", Kind.WORD),
        ("string collate UTF8_LCASE", Kind.WORD),
        ("char(3)", Kind.WORD),
        ("timestamp", Kind.INSTANT),
        ("timestamp_ntz", Kind.CLOCK),
        ("array<int>", None),
        ("struct<x:int>", None),
        ("variant", None),
    ],
)
def test_types_are_known_by_their_names(dtype: str, kind: Kind | None) -> None:
    """What has no kind is never read."""
    assert kind == kind_of(dtype)


def test_text_has_no_collation() -> None:
    """A collation would join ids and keys."""
    assert "(CAST(x AS STRING) COLLATE UTF8_BINARY)" == SPARK.words("x")
