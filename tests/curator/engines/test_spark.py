"""The engine of Spark: units whole in a partition, the same survivors and integers."""

from __future__ import annotations

import logging
import traceback
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow.parquet as pq
import pytest
from curator_plans import COLUMNS, known_plan, known_unit_plan
from exact_sums import SALT, exact_sums, same
from spec_text import make_spec
from tables import arrow
from typed_tables import FRAMES, columns_of, table, units_plan

from dpql.curator import run
from dpql.curator.engines import engine_for, spark
from dpql.errors import RunFault
from dpql.model.plan import Plan
from dpql.planner import plan

# pyspark says so of pandas 3, which it needs for none of this.
pytestmark = pytest.mark.filterwarnings("ignore:PySpark does not yet:FutureWarning")

CANARY = "Zebedee-7141-canary"


def _written(session: Any, frame: pl.DataFrame, folder: Path) -> Any:
    path = folder / f"{len(list(folder.iterdir()))}.parquet"
    pq.write_table(frame.to_arrow(), path, row_group_size=50)
    return session.read.parquet(str(path))


def _agrees(made: Plan, session: Any, frame: pl.DataFrame, folder: Path) -> Any:
    """Assert that partitions add up to what the polars engine sums of the whole."""
    some = columns_of(made, frame)
    found = exact_sums(made, _written(session, some, folder), engine=spark)
    same(made, exact_sums(made, some), found)
    return found


def test_units_are_bounded_as_in_one_place(spark_session: Any, tmp_path: Path) -> None:
    """Within bounds and beyond them: the same rows survive, for the same salt."""
    frame = table("doubles", 12)
    _agrees(units_plan(), spark_session, frame, tmp_path)
    found = _agrees(units_plan(1, 1), spark_session, frame, tmp_path)
    shuffled = columns_of(
        units_plan(1, 1), frame.sample(fraction=1, shuffle=True, seed=3)
    )
    written = _written(spark_session, shuffled, tmp_path).repartition(5)
    made = units_plan(1, 1)
    same(made, found, exact_sums(made, written, engine=spark))
    other = exact_sums(made, written, engine=spark, salt=bytes(32))
    assert other.moments != found.moments


def test_connect_is_the_same(connect_session: Any, tmp_path: Path) -> None:
    """Units and rows, through a server that speaks Spark Connect."""
    _agrees(units_plan(1, 1), connect_session, table("decimals"), tmp_path)
    _agrees(known_plan(5 * FRAMES), connect_session, table("doubles", 5), tmp_path)


def test_known_rows_are_counted_with_those_of_nobody(
    spark_session: Any, tmp_path: Path
) -> None:
    """Rows without an id are spread, take no part, and count where n is public."""
    frame = table("doubles", 5)
    made = known_unit_plan(5 * FRAMES)
    found = _agrees(made, spark_session, frame, tmp_path)
    assert 5 * FRAMES == found.rows


def test_one_unit_may_have_nearly_all_rows(spark_session: Any, tmp_path: Path) -> None:
    """A skewed unit is one partition; its share of the sums is what it may give."""
    made = plan(
        make_spec(
            {
                "who": "{type: id}",
                "kind": "{type: category, keys: [a, b]}",
                "city": "{type: id}",
            },
            {
                "n": {"count": "rows", "by": "[kind]", "spend": "{share: 1}"},
                "d": {"distinct": "city", "spend": "{share: 1}"},
            },
            unit="who",
            contributes="{rows: 2, groups: 2}",
        )
    )
    rows = 20_000
    who = ["one"] * rows + [f"p{number}" for number in range(300)] + [None] * 500
    kinds, cities = ["a", "b"] * (len(who) // 2), [f"c{x}" for x in range(len(who))]
    frame = pl.DataFrame({"who": who, "kind": kinds, "city": cities})
    found = _agrees(made, spark_session, frame, tmp_path)
    assert [2 + 150, 2 + 150] == list(found.moments[0]["n"])
    assert [302] == list(found.moments[1]["d"])


def test_equal_rows_survive_by_their_number(spark_session: Any, tmp_path: Path) -> None:
    """Five copies of six rows: two cells and two rows of each, whatever the salt."""
    made = plan(
        make_spec(
            {"person": "{type: id}", **{x: COLUMNS[x] for x in ("region", "kind")}},
            {"cross": {"count": "rows", "by": "[region, kind]", "spend": "{share: 1}"}},
            unit="person",
            contributes="{rows: 2, groups: 2}",
        )
    )
    rows = [("u", r, k) for r in ("north", "日本", "1") for k in "ab" for _ in range(5)]
    frame = pl.DataFrame(rows, schema=["person", "region", "kind"], orient="row")
    written = _written(spark_session, frame, tmp_path).repartition(4)
    for salt in (SALT, bytes(32), b"x" * 32):
        cells = exact_sums(made, written, engine=spark, salt=salt).moments[0]["n"]
        assert [2, 2] == [x for x in cells if x]


@pytest.mark.parametrize("unit", ["row", "who"])
def test_text_is_read_where_sql_would_not(
    unit: str, spark_session: Any, tmp_path: Path
) -> None:
    """Text columns of numbers go to the polars engine, partition by partition."""
    made = plan(
        make_spec(
            {"who": "{type: id}", "x": "{type: float, bounds: [0, 9], nulls: drop}"},
            {
                "sum": {"sum": "x", "spend": "{share: 1}"},
                "middle": {"median": "x", "spend": "{share: 1}"},
            },
            unit=unit,
            contributes=None if unit == "row" else "{rows: 1, groups: 1}",
        )
    )
    texts = ["1", "2.5", "1d", " 1", "nan", "x", "", None, "1e400", "0x10"]
    who = [0.0, -0.0, 1.5, float("nan"), None, 2.0, 3.0, 4.0, 5.0, 5.0]
    _agrees(made, spark_session, pl.DataFrame({"who": who, "x": texts}), tmp_path)


def test_collations_join_neither_ids_nor_keys(spark_session: Any) -> None:
    """Two ids that a collation takes for one stay two people."""
    frame = spark_session.sql(
        "SELECT CAST(w AS STRING COLLATE UTF8_LCASE) AS who, "
        "CAST(k AS STRING COLLATE UTF8_LCASE) AS kind "
        "FROM VALUES ('p', 'a'), ('P', 'A'), ('p', 'a'), ('q', 'b') AS t(w, k)"
    )
    assert 2 == frame.select("who").distinct().count()
    for unit in ("row", "who"):
        made = plan(
            make_spec(
                {"who": "{type: id}", "kind": "{type: category, keys: [a, A, b]}"},
                {"n": {"count": "rows", "by": "[kind]", "spend": "{share: 1}"}},
                unit=unit,
                contributes=None if unit == "row" else "{rows: 1, groups: 1}",
            )
        )
        found = exact_sums(made, frame, engine=spark).moments[0]["n"]
        assert [2 if unit == "row" else 1, 1, 1] == list(found)


@pytest.mark.parametrize("unit", ["row", "who"])
def test_text_that_is_no_utf8_is_told_apart(
    unit: str, spark_session: Any, tmp_path: Path
) -> None:
    """Spark holds any bytes as text: ids of them are people, and keys are bytes."""
    made = plan(
        make_spec(
            {"who": "{type: id}", "kind": "{type: category, keys: [a, b]}"},
            {
                "n": {"count": "rows", "by": "[kind]", "spend": "{share: 1}"},
                "all": {"count": "rows", "spend": "{share: 1}"},
            },
            unit=unit,
            contributes=None if unit == "row" else "{rows: 1, groups: 1}",
        )
    )
    who = [b"\xff", b"\xfe", b"\xff", b"\xc3", b"", None, b"\xff\xff"]
    kind = [b"a", b"a", b"a", b"a\xff", b"b", b"b", b"b"]
    stored = arrow(pl.DataFrame({"who": who, "kind": kind}))
    path = tmp_path / "raw.parquet"
    pq.write_table(stored, path)
    found = exact_sums(made, spark_session.read.parquet(str(path)), engine=spark)
    same(made, exact_sums(made, stored), found)
    assert [[3, 3] if unit == "row" else [2, 1]] == [list(found.moments[0]["n"])]


def test_the_engine_follows_from_the_data(spark_session: Any) -> None:
    """A location, a DataFrame, a session and a name; nothing else is Spark's."""
    frame = spark_session.range(3)
    for data in ("spark:a.b", Path("spark:x"), frame, (spark_session, "t")):
        assert "spark" == engine_for(data)
    for data in ("duckdb:a#b", "rows.csv", pl.DataFrame(), None, ("x", "y"), ()):
        assert "polars" == engine_for(data)
    made = plan(make_spec({"x": "{type: integer, bounds: [0, 9], nulls: drop}"}, _SUM))
    released = run(made, {"rows": frame.withColumnRenamed("id", "x")})
    assert "spark" == released.engine


_SUM = {"n": {"sum": "x", "spend": "{share: 1}"}}


@pytest.mark.parametrize("unit", ["row", "who"])
@pytest.mark.parametrize("session", ["spark_session", "connect_session"])
def test_errors_quote_no_cell(  # noqa: PLR0917  fixtures
    unit: str,
    session: str,
    request: pytest.FixtureRequest,
    tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
    caplog: pytest.LogCaptureFixture,
) -> None:
    """What Spark says of a failing row ends at the wall; its loggers are silent."""
    made = plan(
        make_spec(
            {"who": "{type: id}", "x": "{type: integer, bounds: [0, 9], nulls: drop}"},
            _SUM,
            unit=unit,
            contributes=None if unit == "row" else "{rows: 1, groups: 1}",
        )
    )
    cells = pl.DataFrame({"who": ["p", "q"], "w": ["1", CANARY]})
    stored = _written(request.getfixturevalue(session), cells, tmp_path)
    failing = stored.selectExpr("who", "CAST(w AS BIGINT) AS x")
    capfd.readouterr()
    with caplog.at_level(logging.DEBUG), pytest.raises(RunFault) as caught:
        run(made, {"rows": failing})
    error = caught.value
    assert ["DPQL510"] == [one.code for one in error.diagnostics]
    assert (None, None) == (error.__cause__, error.__context__)
    assert CANARY not in "".join(traceback.format_exception(error))
    assert CANARY not in "".join([*capfd.readouterr(), caplog.text])


def test_no_view_of_ours_is_left(spark_session: Any, tmp_path: Path) -> None:
    """What SQL is asked through is dropped again, and a setting is what it was."""
    passes = spark_session.conf.get("spark.sql.analyzer.maxIterations")
    _agrees(known_plan(5 * FRAMES), spark_session, table("small", 5), tmp_path)
    views = [x.name for x in spark_session.catalog.listTables() if x.isTemporary]
    assert [] == [name for name in views if name.startswith("dpql")]
    assert passes == spark_session.conf.get("spark.sql.analyzer.maxIterations")
