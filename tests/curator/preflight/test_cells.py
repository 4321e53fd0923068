"""Cells are counted as a run reads them, whatever their number and bytes."""

from __future__ import annotations

from pathlib import Path

import polars as pl
from curator.test_preflight import plan_of

from dpql.curator.preflight.cells import column_fits

SPEC = """\
dpql: 1
release: cells
purpose: What is in a column.
data:
  source: t
  rows: {{at_most: 1_000_000}}
  columns:
    x: {column}
privacy: {{unit: row, epsilon: 1}}
statistics:
  rows: {{count: rows, spend: {{share: 1}}}}
"""
KEYS = "{type: category, keys: [a, b]}"


def test_only_the_commonest_misfits_are_named() -> None:
    """The others are counted, and how many different ones there are is said."""
    cells = [f"k{number}" for number in range(3_000)] + ["often"] * 200_000
    frame = pl.DataFrame({"x": cells})
    (found,) = column_fits(plan_of(SPEC.format(column=KEYS)), frame)
    assert (203_000, 203_000) == (found.rows, found.misfit)
    assert ("often", 200_000) == (found.misfits[0].text, found.misfits[0].count)
    assert 8 == len(found.misfits)
    assert 1_000 <= found.different <= 3_001


def test_bytes_that_are_no_text_are_shown_by_their_codes(tmp_path: Path) -> None:
    """Nothing raises; the cell counts as undeclared."""
    path = tmp_path / "t.csv"
    path.write_bytes(b"x\na\n\xff\xfe\nb\n")
    (found,) = column_fits(plan_of(SPEC.format(column=KEYS)), path)
    assert [("\\xff\\xfe", 1)] == [(one.text, one.count) for one in found.misfits]


def test_dates_that_are_stored_as_such_are_counted_too() -> None:
    """They have no text of their own: nulls and bounds are what can be told."""
    from datetime import date

    from dpql.curator.preflight.cells import ColumnFit, _count
    from dpql.model.spec import DateColumn, DropNulls

    column = DateColumn(name="x", first=10, last=20, nulls=DropNulls())
    one = ColumnFit(name="x")
    cells = pl.Series([9, 10, 20, 21, None, (date(1970, 2, 1) - date(1970, 1, 1)).days])
    _count(column, cells, one)
    assert (6, 1, 2) == (one.rows, one.below, one.above)
