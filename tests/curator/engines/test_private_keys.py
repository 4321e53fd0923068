"""A whole run that finds keys: the same from wherever the rows come."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import polars as pl
import psycopg
import pytest
from postgres_tables import fill

from dpql.curator import run
from dpql.curator.engines import polars_keys
from dpql.errors import RunFault
from dpql.language import load_text
from dpql.model.plan import Plan
from dpql.planner import plan
from dpql.testing.tape import SeededBits

pytestmark = pytest.mark.filterwarnings("ignore:PySpark does not yet:FutureWarning")

SPEC = """
dpql: 1
release: trips
purpose: Where people go.
data:
  source: rows
  rows: {at_most: 5000}
  columns:
    who: {type: id}
    dest: {type: category, keys: private, others: true}
    day: {type: category, keys: private}
    carrier: {type: category, keys: [UA, AA], others: true}
    delay: {type: integer, bounds: [0, 50], nulls: drop}
privacy: {unit: UNIT, epsilon: 30, delta: 1e-4}
statistics:
  found: {FOUND, by: [dest], shown_from: 2, spend: {share: 1}}
  both: {list: keys, by: [day, dest], where: delay < 40, spend: {share: 1}}
  sums: {sum: delay, by: [carrier, dest], spend: {share: 1}}
  rows: {count: rows, by: [dest, carrier, day], spend: {share: 1}}
  kinds: {distinct: dest, spend: {share: 1}}
"""
BY_UNIT = SPEC.replace("UNIT", "who, contributes: {rows: 1, groups: 2}").replace(
    "FOUND", "count: units"
)
BY_ROW = (
    SPEC.replace("UNIT", "row")
    .replace("FOUND", "count: rows")
    .replace("    who: {type: id}\n", "")
    .replace("  kinds: {distinct: dest, spend: {share: 1}}\n", "")
)


def _frame() -> pl.DataFrame:
    count = 900
    dest = [
        None if n % 41 == 0 else "others" if n % 37 == 0 else f"D{n * n % 23}"
        for n in range(count)
    ]
    return pl.DataFrame(
        {
            "who": [None if n % 29 == 0 else f"u{n % 300}" for n in range(count)],
            "dest": [word if n % 31 else "\u2028" for n, word in enumerate(dest)],
            "day": [n % 7 for n in range(count)],
            "carrier": [["UA", "AA", "ZZ", None][n % 4] for n in range(count)],
            "delay": [None if n % 13 == 0 else n % 60 for n in range(count)],
        }
    )


def _run(made: Plan, rows: Any) -> dict[str, list[Any]]:
    drawn = run(made, {"rows": rows}, bits=SeededBits(7))
    return {
        one.step.name: [(value.cell, value.value) for value in one.values]
        for one in drawn.results
    }


class _Stream:
    """Rows that come once."""

    def __init__(self, frame: pl.DataFrame) -> None:
        self._reader = frame.to_arrow().to_reader(max_chunksize=50)

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self._reader.__arrow_c_stream__(requested_schema)


KINDS = ["duckdb", "lazy", "parquet", "postgres", "stream"]


@pytest.fixture(params=KINDS)
def written(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[..., Any]:
    """Return what writes a frame to where a run reads it."""

    def write(frame: pl.DataFrame) -> Any:
        if request.param == "parquet":
            path = tmp_path / "rows.parquet"
            frame.write_parquet(path, row_group_size=100)
            return path
        if request.param == "lazy":
            return frame.lazy()
        if request.param == "stream":
            return _Stream(frame)
        if request.param == "postgres":
            address = f"{request.getfixturevalue('postgres_server')}postgres"
            name = f"private_{tmp_path.name.lower().replace('-', '_')}"[:60]
            with psycopg.connect(address, autocommit=True) as connection:
                fill(connection, name, frame, {})
            return f"{address}#public.{name}"
        connection = duckdb.connect()
        connection.register("given", frame.to_arrow())
        connection.execute("CREATE TABLE t AS FROM given")
        return connection, "t"

    return write


@pytest.mark.parametrize("text", [BY_UNIT, BY_ROW])
def test_keys_are_the_same_from_every_source(
    text: str, written: Callable[..., Any]
) -> None:
    """The same coins show the same keys, and count the same by them."""
    made = plan(load_text(text, form="yaml"))
    frame = _frame()
    expected = _run(made, frame)
    assert expected == _run(made, written(frame.sample(fraction=1, shuffle=True)))
    found = [cell for (cell,), _ in expected["found"]]
    assert found == sorted(found, key=str.encode)
    assert "others" not in found
    assert 3 * (len(found) + 1) == len(expected["sums"])
    assert ("UA", "others") in [cell for cell, _ in expected["sums"]]


@pytest.mark.parametrize("text", [BY_UNIT, BY_ROW])
def test_spark_finds_the_same(text: str, spark_session: Any, tmp_path: Path) -> None:
    """Partition by partition, through files that pyarrow wrote."""
    import pyarrow.parquet as pq

    made = plan(load_text(text, form="yaml"))
    frame = _frame()
    pq.write_table(frame.to_arrow(), tmp_path / "rows.parquet", row_group_size=50)
    rows = spark_session.read.parquet(str(tmp_path / "rows.parquet"))
    assert _run(made, frame) == _run(made, rows.repartition(5))


@pytest.mark.parametrize("engine", ["duckdb", "postgres"])
def test_engines_that_sum_rows_find_no_keys(engine: str) -> None:
    """DPQL509, before anything is read."""
    with pytest.raises(RunFault) as caught:
        run(plan(load_text(BY_ROW, form="yaml")), {"rows": _frame()}, engine=engine)
    assert "DPQL509" == caught.value.diagnostics[0].code
    assert "private" in str(caught.value)


@pytest.mark.parametrize("units", [1, 2, 5])
def test_partitions_may_be_empty(units: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """However few units have the rows of many partitions."""
    monkeypatch.setattr(polars_keys, "_BLOCK_ROWS", 4)
    made = plan(load_text(BY_UNIT, form="yaml"))
    frame = _frame().with_columns(pl.Series("who", [n % units for n in range(900)]))
    assert _run(made, frame)["kinds"]


def test_names_are_no_patterns() -> None:
    """Columns may be called what polars takes for a pattern."""
    names = {name: f"^{name}.*$" for name in _frame().columns}
    text = BY_UNIT
    for name, other in names.items():
        text = text.replace(f"    {name}:", f'    "{other}":')
        for mark in (" [", ", ", ": "):
            for end in ("]", ",", " <", "}"):
                text = text.replace(f"{mark}{name}{end}", f'{mark}"{other}"{end}')
    text = text.replace('where: "^delay.*$" < 40', "where: '`^delay.*$` < 40'")
    frame = _frame()
    expected = _run(plan(load_text(BY_UNIT, form="yaml")), frame)
    found = _run(plan(load_text(text, form="yaml")), frame.rename(names))
    assert expected == found


def test_what_looks_like_others_is_not_shown() -> None:
    """Readers would take it for the cell of everything else."""
    frame = _frame().with_columns(pl.lit("\uff4fthers").alias("dest"))
    found = _run(plan(load_text(BY_UNIT, form="yaml")), frame)
    assert [] == found["found"]
    assert [("UA", "others"), ("AA", "others"), ("others", "others")] == [
        cell for cell, _ in found["sums"]
    ]


def test_rows_that_vanish_between_the_readings_are_noticed(tmp_path: Path) -> None:
    """Where their number is public, it is so both times (DPQL505)."""
    text = BY_ROW.replace("at_most: 5000", "exactly: 900")
    text = text.replace("unit: row", "unit: row, neighbours: replace_one")
    text = text.replace("nulls: drop", "nulls: {as: 0}")
    path = tmp_path / "rows.csv"
    frame = _frame()
    frame.write_csv(path)
    made = plan(load_text(text, form="yaml"))
    assert run(made, {"rows": path}, bits=SeededBits(7)).results
    with pytest.raises(RunFault) as caught:
        run(
            made,
            {"rows": path},
            bits=SeededBits(7),
            before_draw=lambda: frame.head(800).write_csv(path),
        )
    assert "DPQL505" == caught.value.diagnostics[0].code
