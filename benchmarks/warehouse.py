"""Cost of privacy in DuckDB, PostgreSQL and Spark, beside SQL as an analyst writes it.

Run by hand: `python benchmarks/warehouse.py duckdb|spark [ROWS] [ROUNDS]`, for a
server `python benchmarks/warehouse.py postgres ROWS ROUNDS URL POSTMASTER_PID`.
Processor seconds of this process and of the database, contestants in turns. Plain SQL
clamps and treats nulls and NaN as the plan does, in two statements. Where units have
several rows, plain SQL bounds the rows of one statistic by a window in random order.
"""

from __future__ import annotations

import os
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import polars as pl

import dpql
from dpql.curator.compilation import compile_program
from dpql.curator.engines import engine_for, engine_named

REGIONS = [f"region{number:02d}" for number in range(20)]
EDGES = (16, 25, 35, 45, 55, 65, 100)
BINS = [f"{edge}" for edge in range(-20, 81, 2)]
COLUMNS = f"""
    person: {{type: id}}
    region: {{type: category, keys: [{", ".join(REGIONS)}]}}
    kind: {{type: category, keys: [a, b, c]}}
    age: {{type: integer, bounds: [16, 100], nulls: drop}}
    wage: {{type: decimal, bounds: [0, 20000], step: 0.01, nulls: {{as: 0}}}}
    score: {{type: float, bounds: [-20, 80], nulls: drop}}
"""
STATISTICS = {
    "people": "count: rows",
    "adults": "count: rows\n    where: age >= 18 and age < 65",
    "wages": "sum: wage",
    "mean_age": "mean: age",
    "mean_score": "mean: score\n    by: [kind]",
    "spread_score": "variance: score",
    "spread_wage": "variance: wage",
    "ages": f"histogram: age\n    bins: [{', '.join(map(str, EDGES))}]",
    "scores": f"histogram: score\n    bins: [{', '.join(BINS)}]",
    "by_region": "mean: wage\n    by: [region]",
}
SQL_TYPES = {
    "duckdb": ("DOUBLE", "INTEGER"),
    "postgres": ("DOUBLE PRECISION", "INTEGER"),
    "spark": ("DOUBLE", "INT"),
}

Ask = Callable[[str], object]


def plan_of(rows: int, unit: str) -> Any:
    """Return the plan of the ten statistics."""
    bounds = "\n  contributes: {rows: 2, groups: 2}" if unit == "person" else ""
    parts = "".join(
        f"  {name}:\n    {text}\n    spend: {{share: 1}}\n"
        for name, text in STATISTICS.items()
    )
    text = (
        "dpql: 1\nrelease: bench\npurpose: A benchmark.\ndata:\n  source: rows\n"
        f"  rows: {{at_most: {rows}}}\n  columns:{COLUMNS}privacy:\n"
        f"  unit: {unit}{bounds}\n  neighbours: add_remove\n  epsilon: 1\n  delta: 0\n"
        "defaults: {alpha: 0.05, gamma: 1e-9, mechanism: geometric}\n"
        f"statistics:\n{parts}report: {{signer: bench}}\n"
    )
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "bench.yaml"
        path.write_text(text)
        return dpql.plan(dpql.load(path))


def frame_of(rows: int) -> pl.DataFrame:
    """Return rows, ten to a person, with some nulls and some cells beyond bounds."""
    rng = np.random.default_rng(3)
    score = rng.normal(30, 25, rows)
    score[rng.random(rows) < 0.02] = np.nan
    frame = pl.DataFrame(
        {
            "person": rng.integers(0, max(rows // 10, 1), rows),
            "region": np.array(REGIONS)[rng.integers(0, len(REGIONS), rows)],
            "kind": np.array(["a", "b", "c"])[rng.integers(0, 3, rows)],
            "age": rng.integers(10, 105, rows).astype(np.int32),
            "wage": np.round(rng.lognormal(7.5, 1, rows), 2),
            "score": score,
        }
    )
    some = pl.Series(rng.random(rows) < 0.03)
    return frame.with_columns(
        age=pl.when(~some).then("age"), wage=pl.when(~some).then("wage")
    )


def natural(engine: str, table: str) -> list[str]:
    """Return the statistics as an analyst writes them, clamped."""
    real, _ = SQL_TYPES[engine]
    nan = f"CAST('NaN' AS {real})"
    score = (
        f"CASE WHEN score = {nan} THEN NULL ELSE LEAST(GREATEST(score, -20), 80) END"
        if engine == "postgres"
        else "CASE WHEN isnan(score) THEN NULL ELSE LEAST(GREATEST(score, -20), 80) END"
    )
    wage = "COALESCE(LEAST(GREATEST(wage, 0), 20000), 0)"
    age = "LEAST(GREATEST(age, 16), 100)"
    bands = " ".join(
        f"WHEN {age} < {edge} THEN {index}" for index, edge in enumerate(EDGES[1:-1])
    )
    joint = (
        f"SELECT region, kind, CASE WHEN age IS NULL THEN NULL {bands} ELSE 5 END, "
        f"COUNT(*), COUNT(CASE WHEN age >= 18 AND age < 65 THEN 1 END), SUM({wage}), "
        f"COUNT(age), SUM({age}), COUNT({score}), SUM({score}), "
        f"SUM(({score}) * ({score})), SUM({wage} * {wage}) "
        f"FROM {table} GROUP BY 1, 2, 3"
    )
    scores = f"FLOOR((({score}) + 20) / 2)"
    return [joint, f"SELECT {scores}, COUNT(*) FROM {table} GROUP BY 1"]


def bounded(table: str, random: str) -> list[str]:
    """Return a mean of two random rows of each person."""
    order = f"ROW_NUMBER() OVER (PARTITION BY person ORDER BY {random})"
    kept = f"SELECT wage, {order} AS n FROM {table}"
    total = "COUNT(*), SUM(LEAST(GREATEST(wage, 0), 20000))"
    return [f"SELECT {total} FROM ({kept}) t WHERE n <= 2"]


def tree(pid: int) -> float:
    """Return the processor seconds of a process and of all below it."""
    parents: dict[int, list[tuple[int, int]]] = {}
    own = 0
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            spent = sum(map(int, fields[11:15]))
            parents.setdefault(int(fields[1]), []).append((int(entry.name), spent))
            own += spent if int(entry.name) == pid else 0
    ticks, waiting = own, [pid]
    while waiting:
        for child, spent in parents.get(waiting.pop(), []):
            ticks += spent
            waiting.append(child)
    return ticks / os.sysconf("SC_CLK_TCK")


def summed(plan: Any, data: object, engine: str) -> Callable[[], object]:
    """Return what opens the data and sums them, as a run does."""
    program = compile_program(plan)
    module = engine_named(engine)
    assert module is not None

    def run() -> object:
        source = module.open_source(data, plan.spec.data)
        return module.sums(program, source, salt=b"s" * 32, tick=None)

    return run


def contestants(  # noqa: PLR0917  one database
    name: str, rows: int, data: object, ask: Ask, table: str, random: str
) -> Iterator[tuple[str, str, Callable[[], object]]]:
    """Yield kind of plan, name and work of all that is compared."""
    by_rows, by_units = plan_of(rows, "row"), plan_of(rows, "person")

    def plain(texts: list[str]) -> Callable[[], object]:
        return lambda: [ask(text) for text in texts]

    follows = engine_for(data)
    yield "rows", "plain SQL", plain(natural(name, table))
    yield "rows", f"engine {name}", summed(by_rows, data, name)
    if follows != name:
        yield "rows", "read as Arrow", summed(by_rows, data, follows)
    yield "units", "plain SQL, one statistic", plain(bounded(table, random))
    yield "units", "dpql, ten statistics", summed(by_units, data, follows)


def duckdb_contestants(rows: int, folder: Path) -> Any:
    """Return the contestants on a table of a DuckDB file."""
    import duckdb

    path = folder / "rows.duckdb"
    with duckdb.connect(path) as connection:
        connection.register("given", frame_of(rows).to_arrow())
        connection.execute("CREATE TABLE rows AS FROM given")
    connection = duckdb.connect(path, read_only=True)

    def ask(text: str) -> object:
        return connection.cursor().execute(text).fetchall()

    data = f"duckdb:{path}#rows"
    found = list(contestants("duckdb", rows, data, ask, "rows", "hash(rowid)"))
    parquet = folder / "rows.parquet"
    connection.execute(f"COPY rows TO '{parquet}'")
    for kind, unit in (("rows", "row"), ("units", "person")):
        for label, one in {
            "relation of the table": connection.sql("FROM rows"),
            "Parquet file": str(parquet),
            "relation of that file": connection.sql(f"FROM '{parquet}'"),
        }.items():
            found.append((kind, label, summed(plan_of(rows, unit), one, "polars")))
    return found, os.getpid()


def postgres_contestants(rows: int, folder: Path) -> Any:
    """Return the contestants on a table of a server."""
    import adbc_driver_postgresql.dbapi as adbc

    del folder
    url, postmaster = sys.argv[4], int(sys.argv[5])
    with adbc.connect(url) as connection, connection.cursor() as cursor:
        cursor.execute("DROP TABLE IF EXISTS bench_rows")
        cursor.adbc_ingest("bench_rows", frame_of(rows).to_arrow())
        connection.commit()
    opened = adbc.connect(url, autocommit=True)
    with opened.cursor() as cursor:
        cursor.execute("VACUUM ANALYZE bench_rows")

    def ask(text: str) -> object:
        with opened.cursor() as cursor:
            cursor.execute("SET max_parallel_workers_per_gather = 0")
            cursor.execute("SET jit = off")
            cursor.execute(text)
            return cursor.fetchall()

    found = contestants(
        "postgres", rows, f"{url}#bench_rows", ask, "bench_rows", "random()"
    )
    return found, postmaster


def spark_contestants(rows: int, folder: Path) -> Any:
    """Return the contestants on Parquet files that a local Spark reads."""
    from pyspark.sql import SparkSession

    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder = SparkSession.builder.master("local[2]")
    for name, value in {
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.memory": "3g",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.log.level": "OFF",
        "spark.sql.shuffle.partitions": "8",
    }.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    path = folder / "rows.parquet"
    frame_of(rows).write_parquet(path, row_group_size=500_000)
    data = session.read.parquet(str(path))
    data.createOrReplaceTempView("bench_rows")

    def ask(text: str) -> object:
        return session.sql(text).collect()

    return contestants("spark", rows, data, ask, "bench_rows", "rand()"), os.getpid()


ALL = {
    "duckdb": duckdb_contestants,
    "postgres": postgres_contestants,
    "spark": spark_contestants,
}


def main() -> None:
    """Measure one database."""
    warnings.simplefilter("ignore")
    name = sys.argv[1]
    rows = int(sys.argv[2]) if len(sys.argv) > 2 else 2_000_000
    rounds = int(sys.argv[3]) if len(sys.argv) > 3 else 5
    with tempfile.TemporaryDirectory() as folder:
        found, pid = ALL[name](rows, Path(folder))
        work = list(found)
        spent: dict[tuple[str, str], list[float]] = {}
        for turn in range(rounds + 1):
            for kind, label, run in work if turn % 2 else reversed(work):
                before = tree(pid) + (tree(os.getpid()) if pid != os.getpid() else 0)
                run()
                after = tree(pid) + (tree(os.getpid()) if pid != os.getpid() else 0)
                if turn:
                    # The first round warms up.
                    spent.setdefault((kind, label), []).append(after - before)
    print(f"{name}, {rows:,} rows, medians of {rounds} rounds, processor seconds")
    plain = {kind: median(x) for (kind, label), x in spent.items() if "plain" in label}
    for (kind, label), seconds in spent.items():
        ratio = median(seconds) / plain[kind]
        print(f"  {kind:<6} {label:<26} {median(seconds):6.2f}  {ratio:5.2f} x")


if __name__ == "__main__":
    main()
