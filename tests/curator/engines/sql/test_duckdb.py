"""The dialect of DuckDB: its types by name."""

from __future__ import annotations

import pytest

from dpql.curator.engines.sql.dialect import Kind
from dpql.curator.engines.sql.duckdb import kind_of


@pytest.mark.parametrize(
    ("dtype", "kind"),
    [
        ("INTEGER", Kind.SMALL),
        ("UINTEGER", Kind.WHOLE),
        ("HUGEINT", Kind.WIDE),
        ("UHUGEINT", None),
        ("DECIMAL(18,0)", Kind.WIDE),
        ("DECIMAL(15,2)", Kind.FIXED),
        ("DECIMAL(16,2)", Kind.LONG),
        ("ENUM('a', 'INTEGER')", Kind.WORD),
        ("INTEGER[]", None),
        ("STRUCT(a INTEGER)", None),
        ("TIMESTAMP_S", None),
        ("TIMESTAMP WITH TIME ZONE", Kind.INSTANT),
    ],
)
def test_types_are_known_by_their_names(dtype: str, kind: Kind | None) -> None:
    """What has no kind is never read."""
    assert kind == kind_of(dtype)
