"""Tables of Spark: names, views, versions, what they are to a ledger, silence."""

from __future__ import annotations

import logging
import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import polars as pl
import pytest
from spec_text import spec_text

from dpql.curator.sources.spark import (
    is_frame,
    is_session,
    require_ansi,
    silenced,
    table_at,
    table_of,
    with_url,
)
from dpql.errors import RunFault

pytestmark = pytest.mark.filterwarnings("ignore:PySpark does not yet:FutureWarning")


def _refused(session: Any, name: str) -> str:
    with pytest.raises(RunFault) as caught:
        table_of(session, name, "wages")
    return str(caught.value)


@pytest.mark.parametrize(
    ("location", "url", "expected"),
    [
        ("spark:a.b.c", "sc://h:1", "spark:sc://h:1#a.b.c"),
        ("spark:a.b.c", None, "spark:a.b.c"),
        ("spark:sc://other#a.b", "sc://h:1", "spark:sc://other#a.b"),
        ("spark:local[2]#parquet.`/a#b`", "x", "spark:local[2]#parquet.`/a#b`"),
        ("spark:parquet.`/a#b`", "local[2]", "spark:local[2]#parquet.`/a#b`"),
        ("spark:localities", "local", "spark:local#localities"),
        ("rows.csv", "sc://h:1", "rows.csv"),
    ],
)
def test_a_url_is_put_where_there_is_none(
    location: str, url: str | None, expected: str
) -> None:
    """What a location says itself wins."""
    assert expected == with_url(location, url)


def test_tables_have_one_identity(spark_session: Any, connect_session: Any) -> None:
    """By any spelling, through classic and Connect; views are refused by themselves."""
    spark_session.sql("CREATE TABLE Wages USING parquet AS SELECT 1 AS x, 'a' AS k")
    spark_session.sql("CREATE VIEW default.seen AS SELECT * FROM Wages")
    spark_session.range(2).createOrReplaceTempView("passing")
    names = "Wages", "default.`WAGES`", "spark_catalog.default.wages"
    for session in (spark_session, connect_session):
        found = [table_of(session, name, "wages") for name in names]
        assert {"spark:spark_catalog.default.wages"} == {x.identity for x in found}
        assert [(1, "a")] == [tuple(row) for row in found[0].frame.collect()]
        assert "DPQL502" in _refused(session, "default.seen")
        assert 1 == table_of(session, "view:default.seen", "wages").frame.count()
        for name in ("none", "none.of.these", "x; DROP TABLE y", "", "`", "csv.`/etc`"):
            assert "DPQL501" in _refused(session, name)
    assert "DPQL502" in _refused(spark_session, "passing")
    assert table_of(spark_session, "view:passing", "wages").identity is None
    assert 2 == table_at("spark:view:passing", "wages").frame.count()


def test_files_are_named_as_other_sources_name_them(
    spark_session: Any, tmp_path: Path
) -> None:
    """So that a folder has one budget, whoever reads it."""
    (tmp_path / "a").mkdir()
    pl.DataFrame({"x": [1, 2]}).write_parquet(tmp_path / "a" / "1.parquet")
    found = table_of(spark_session, f"parquet.`{tmp_path}/a`", "wages")
    assert f"{tmp_path}/a" == found.identity
    assert 2 == found.frame.count()
    assert "DPQL501" in _refused(spark_session, "parquet.`/none/there`")


def test_text_is_no_table(spark_session: Any, tmp_path: Path) -> None:
    """Spark would take the types of its columns from its rows."""
    (tmp_path / "a.csv").write_text("x\n1\n")
    for form in ("csv", "json", "text", "xml", "binaryFile"):
        assert "DPQL501" in _refused(spark_session, f"{form}.`{tmp_path}/a.csv`")


class _Versioned:
    """A session with tables of a format that has versions."""

    def __init__(self, form: str, versions: list[Any]) -> None:
        self.asked: list[str] = []
        self._versions = versions
        self._form = form
        self.conf = SimpleNamespace(get=lambda _: "true")
        self.catalog = SimpleNamespace(
            getTable=lambda name: SimpleNamespace(
                catalog="lake",
                namespace=["s"],
                name=name,
                tableType="MANAGED",
                isTemporary=False,
            )
        )

    def sql(self, text: str) -> Any:
        self.asked.append(text)
        if text.startswith("DESCRIBE TABLE"):
            rows: list[Any] = [("x", "int", None), ("Provider", self._form, "")]
        else:
            rows = self._versions
        return SimpleNamespace(collect=lambda: rows, columns=["x"])

    def table(self, name: str) -> Any:
        self.asked.append(name)
        return SimpleNamespace(columns=["x"])


_PINNED = "SELECT * FROM `lake`.`s`.`t` VERSION AS OF 7"
_AS_IT_IS = "`lake`.`s`.`t`"


@pytest.mark.parametrize(
    ("form", "versions", "last"),
    [
        ("delta", [(7, "2026-11-19", "root", "WRITE")], _PINNED),
        ("iceberg", [(7,)], _PINNED),
        ("iceberg", [(None,)], _AS_IT_IS),
        ("delta", [], _AS_IT_IS),
        ("parquet", [], _AS_IT_IS),
    ],
)
def test_a_version_is_pinned_where_there_are_versions(
    form: str, versions: list[Any], last: str
) -> None:
    """All statements of a run read one state of a Delta or Iceberg table.

    There is no jar of either here, so the session is made up.
    """
    session = _Versioned(form, versions)
    assert "spark:lake.s.t" == table_of(session, "t", "wages").identity
    assert last == session.asked[-1]


def test_ansi_is_asserted(spark_session: Any) -> None:
    """Without it sums would wrap around."""
    require_ansi(spark_session, "wages")
    other = spark_session.newSession()
    other.conf.set("spark.sql.ansi.enabled", "false")
    with pytest.raises(RunFault, match="ANSI"):
        require_ansi(other, "wages")
    assert "ANSI" in _refused(other, "any")


def test_servers_that_do_not_answer_are_refused(spark_session: Any) -> None:
    """Nothing of the address is repeated, for it may hold a token."""
    assert is_session(spark_session)
    with pytest.raises(RunFault) as caught:
        table_at("spark:sc://127.0.0.1:1/;token=secret#t", "wages")
    assert "secret" not in str(caught.value)


SPEAKING = """
import sys, warnings
warnings.simplefilter("ignore")
from pyspark.sql import SparkSession
import dpql
from dpql.errors import RunFault

session = SparkSession.builder.master("local[1]").getOrCreate()
stored = session.read.parquet(sys.argv[1])
failing = stored.selectExpr("who", "CAST(w AS BIGINT) AS x")
print("begun", file=sys.stderr, flush=True)
try:
    dpql.run(dpql.plan(dpql.load(sys.argv[2])), {"rows": failing})
except RunFault as fault:
    print(fault.diagnostics[0].code)
"""


@pytest.mark.slow
@pytest.mark.parametrize("unit", ["row", "who"])
def test_java_prints_no_cell(unit: str, spark_url: str, tmp_path: Path) -> None:
    """A session of the owner's, with Spark's own settings, is silent in a run."""
    del spark_url
    cells = pl.DataFrame({"who": ["p", "q"], "w": ["1", "Zebedee-canary"]})
    cells.write_parquet(tmp_path / "rows.parquet")
    columns = {
        "who": "{type: id}",
        "x": "{type: integer, bounds: [0, 9], nulls: drop}",
    }
    asked = {"n": {"sum": "x", "spend": "{share: 1}"}}
    bound = None if unit == "row" else "{rows: 1, groups: 1}"
    text = spec_text(columns, asked, unit=unit, contributes=bound)
    (tmp_path / "rows.yaml").write_text(text)
    (tmp_path / "run.py").write_text(SPEAKING)
    files = (tmp_path / name for name in ("run.py", "rows.parquet", "rows.yaml"))
    done = subprocess.run(
        [sys.executable, *map(str, files)],
        cwd=tmp_path,
        env={**os.environ, "PYSPARK_PYTHON": sys.executable},
        capture_output=True,
        text=True,
        check=False,
    )
    assert "DPQL510\n" == done.stdout, done.stderr
    assert "canary" not in done.stderr
    assert "Exception" not in done.stderr.partition("begun")[2]


def test_things_of_spark_are_known(spark_session: Any, connect_session: Any) -> None:
    """By their modules, so that nothing is imported for others."""
    for session in (spark_session, connect_session):
        assert is_session(session)
        assert is_frame(session.range(1))
        assert not is_frame(session)
    assert not is_session(pl)
    assert not is_frame(pl.DataFrame())


def test_loggers_are_heard_again(spark_session: Any) -> None:
    """Several runs at once silence them, and the last restores them."""
    logger = logging.getLogger("SQLQueryContextLogger")
    family = logging.getLogger("py4j.clientserver")
    before = [(one.level, one.disabled) for one in (logger, family)]
    with silenced(spark_session), silenced(spark_session):
        assert logger.disabled
        assert not logging.getLogger("py4j.made.later").isEnabledFor(logging.ERROR)
    assert before == [(one.level, one.disabled) for one in (logger, family)]
