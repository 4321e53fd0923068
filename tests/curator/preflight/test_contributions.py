"""Losses of a statistic are counted as the engine makes them."""

from __future__ import annotations

from collections import Counter
from random import Random

import polars as pl
import pytest
from curator.test_preflight import plan_of

from dpql.curator.preflight import preflight

SPEC = """\
dpql: 1
release: losses
purpose: What is lost on the way.
data:
  source: t
  rows: {{at_most: 1_000}}
  columns:
    id: {{type: id}}
    key: {{type: category, keys: [a, b, c]}}
    x: {{type: integer, bounds: [0, 9], nulls: drop}}
privacy: {{unit: id, contributes: {{rows: {rows}, groups: {groups}}}, epsilon: 1}}
statistics:
  means: {{mean: x, where: x > 1, by: [key], spend: {{share: 1}}}}
  all: {{count: rows, spend: {{share: 1}}}}
"""


@pytest.mark.parametrize("seed", range(6))
def test_losses_are_those_of_a_count_by_hand(seed: int) -> None:
    """Rows of few units over few groups, some without an id, some undeclared."""
    random = Random(seed)
    rows = [
        (
            random.choice(["p1", "p2", "p3", None]),
            random.choice(["a", "b", "c", "d", None]),
            random.choice([0, 1, 2, 3, None]),
        )
        for _ in range(random.randrange(80))
    ]
    most, groups = random.randint(1, 3), random.randint(1, 3)
    frame = pl.DataFrame(
        rows, ["id", "key", "x"], orient="row", schema_overrides={"x": pl.Int64}
    )
    frame = frame.with_columns(pl.col("id", "key").cast(pl.String))
    plan = plan_of(SPEC.format(rows=most, groups=groups))
    means, all_rows = preflight(plan, {"t": frame}).statistics
    passing = [row for row in rows if row[2] is not None and row[2] > 1]
    inside = [row for row in passing if row[1] in ("a", "b", "c")]
    owned = [row for row in inside if row[0] is not None]
    cells = Counter((row[0], row[1]) for row in owned)
    # Which groups of a unit survive is drawn; only how many is fixed.
    least = most_kept = 0
    for unit in {row[0] for row in owned}:
        kept = sorted(min(most, n) for (who, _), n in cells.items() if who == unit)
        least += sum(kept[:groups])
        most_kept += sum(kept[-groups:])
    assert (len(rows), len(passing), len(inside), len(owned)) == (
        means.rows,
        means.passing,
        means.inside,
        means.owned,
    )
    assert least <= means.kept <= most_kept
    assert means.used == means.kept
    mine = Counter(row[0] for row in rows if row[0] is not None)
    assert sum(min(most, n) for n in mine.values()) == all_rows.kept
