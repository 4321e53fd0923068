"""The dialect of DuckDB: types by name, and bins by arithmetic where that is exact."""

from __future__ import annotations

import random
from bisect import bisect_right

import duckdb
import numpy as np
import pytest

from dpql.curator.engines.sql.dialect import Kind
from dpql.curator.engines.sql.duckdb import DUCKDB, kind_of, progression


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


def test_arithmetic_finds_every_bin_or_is_not_used() -> None:
    """At each start, its neighbours and in between, for hundreds of sets of bins."""
    random_ = random.Random(5)
    taken = refused = 0
    for _ in range(120):
        count = random_.randint(4, 60)
        width = random_.choice(
            [1.0, 2.0, 0.5, 0.25, 0.1, 0.01, 1 / 3, random_.random()]
        )
        first = random_.choice([0.0, -20.0, 1e6, random_.uniform(-100, 100)])
        starts = [first + index * width for index in range(count)]
        if progression(starts) is None:
            refused += 1
            continue
        taken += 1
        ends = (np.nextafter(starts, toward) for toward in (-np.inf, np.inf))
        beside = [float(x) for end in ends for x in end]
        inside = [random_.uniform(starts[0], starts[-1]) for _ in range(30)]
        cells = [x for x in (*starts, *beside, *inside, 1e300) if x >= starts[0]]
        query = f"SELECT {DUCKDB.reached('x', starts)} FROM (SELECT unnest($1) AS x)"
        found = [row[0] for row in duckdb.execute(query, [cells]).fetchall()]
        assert [bisect_right(starts, x) - 1 for x in cells] == found
    assert min(taken, refused) > 10


def test_whole_starts_are_compared() -> None:
    """Steps are integers, and need no arithmetic of doubles."""
    assert progression([0, 1, 2, 3, 4]) is None
    assert progression([0.0, 1.0]) is None
    assert progression([0.0, 5e-324, 1e-323, 1.5e-323]) is None
