"""Bins by arithmetic: exact at each start and beside it, in DuckDB and in polars."""

from __future__ import annotations

import random
from bisect import bisect_right
from collections.abc import Sequence

import duckdb
import numpy as np
import polars as pl

from dpql.curator.engines.polars_expressions import reached
from dpql.curator.engines.progression import progression
from dpql.curator.engines.sql.duckdb import DUCKDB
from dpql.curator.grid import Bins


def test_arithmetic_finds_every_bin_or_is_not_used() -> None:
    """At each start, its neighbours and in between, for hundreds of sets of bins."""
    random_ = random.Random(5)
    taken = refused = 0
    for _ in range(120):
        count = random_.randint(4, 60)
        width = random_.choice(
            [1.0, 2.0, 10.0, 0.5, 0.25, 0.1, 0.01, 1 / 3, random_.random()]
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
        _are_found(starts, [*starts, *beside, *inside, 1e300])
    assert min(taken, refused) > 10


def test_the_last_bin_may_be_wide() -> None:
    """What is guessed one too high far beyond the last start is of the last bin.

    16,380 less its last bit, times 0.1, is rounded up: it was of no bin at all.
    """
    starts = [0.0, 10.0, 20.0, 30.0, 40.0]
    assert progression(starts) is not None
    index = np.arange(5, 2000)
    before = np.nextafter(index * 10.0, -np.inf)
    assert (np.floor(before * 0.1) == index).any()
    _are_found(starts, before.tolist())


def _are_found(starts: Sequence[float], given: Sequence[float]) -> None:
    cells = [x for x in given if x >= starts[0]]
    expected = [bisect_right(starts, x) - 1 for x in cells]
    query = f"SELECT {DUCKDB.reached('x', starts)} FROM (SELECT unnest($1) AS x)"
    assert expected == [x for (x,) in duckdb.execute(query, [cells]).fetchall()]
    ends = min(cells), max(cells)
    bins = Bins(
        starts=tuple(starts),
        end=ends[1],
        quantiser=None,
        lower=ends[0],
        upper=ends[1],
        fill=None,
    )
    counted = pl.DataFrame({"x": cells}).select(reached(pl.col("x"), bins))
    assert [index + 1 for index in expected] == counted.to_series().to_list()


def test_whole_starts_are_compared() -> None:
    """Steps are integers, and need no arithmetic of doubles."""
    assert progression([0, 1, 2, 3, 4]) is None
    assert progression([0.0, 1.0]) is None
    assert progression([0.0, 5e-324, 1e-323, 1.5e-323]) is None
    assert progression([-1e308, 0.0, 1e308, 1.7e308]) is None
