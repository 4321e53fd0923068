"""Cost of privacy on work that nobody tuned for, each case beside plain polars.

Run by hand: `make bench-wide`, or `python benchmarks/wide.py --help`. A case is a line:
its name, what holds the rows, the statistics, and the same without privacy. Each runs
in fresh processes, dpql and plain polars in turns, so that a busy machine slows both.
All figures are ratios of one run: wall time, processor time, peak memory.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import polars as pl
import run as ten
from polars import col

Plain = Callable[[pl.LazyFrame], list[pl.LazyFrame]]

COLUMNS = f"""
    person: {{type: id}}
    member: {{type: id}}
    token: {{type: id}}
    region: {{type: category, keys: [{", ".join(ten.REGIONS)}]}}
    shop: {{type: category, keys: [{", ".join(ten.SHOPS)}]}}
    age: {{type: integer, bounds: [16, 100], nulls: {{as: 16}}}}
    hours: {{type: integer, bounds: [0, 80], nulls: {{as: 0}}}}
    wage: {{type: decimal, bounds: [0, 20000], step: 0.01, nulls: {{as: 0}}}}
    score: {{type: float, bounds: [-50, 150], nulls: {{as: 50}}}}
    signal: {{type: float, bounds: [-50, 150], nulls: {{as: 50}}}}
"""
"""``member`` are ids by Zipf's law, ``signal`` has nulls and NaN."""

ROW_GROUP = 10_000_000
FILES = 100
SUFFIX = {"csv": ".csv", "folder": ""}
STORED = {"frame": "pyarrow", "table": "pyarrow"}
"""Holders in memory, and the file that they are read from."""
PER_PERSON = 5


def one(rows: pl.LazyFrame) -> list[pl.LazyFrame]:
    """Sum one column."""
    return [rows.select(col("score").sum())]


def integers(rows: pl.LazyFrame) -> list[pl.LazyFrame]:
    """Read integers only."""
    adult = (col("age") >= 18) & (col("age") < 65)
    flat = adult.sum().alias("adults"), col("age").sum(), col("hours").mean()
    return [rows.select(flat)]


def floats(rows: pl.LazyFrame) -> list[pl.LazyFrame]:
    """Read floats, some of them null or NaN."""
    number = col("signal").fill_nan(None)
    return [
        rows.select(number.mean(), number.var().alias("spread"), col("score").sum())
    ]


def three(rows: pl.LazyFrame) -> list[pl.LazyFrame]:
    """Group by few keys."""
    flat = rows.select(col("wage").sum(), col("age").mean())
    return [flat, rows.group_by("region").agg(pl.len())]


def shops(rows: pl.LazyFrame) -> list[pl.LazyFrame]:
    """Group by 30,000 keys."""
    return [rows.group_by("shop").agg(pl.len(), col("wage").sum())]


def units(rows: pl.LazyFrame) -> list[pl.LazyFrame]:
    """Group by few keys, nobody's rows bounded."""
    return [rows.group_by("region").agg(pl.len(), col("wage").sum())]


def twenty(rows: pl.LazyFrame) -> list[pl.LazyFrame]:
    """Compute 18 statistics of all rows, and two by 30,000 keys."""
    flat = [
        ((col("age") >= age) * col("wage")).sum().alias(f"wages{age}")
        for age in range(20, 38)
    ]
    return [rows.select(flat), *shops(rows)]


def ten_plain(rows: pl.LazyFrame) -> list[pl.LazyFrame]:
    """Do the ten statistics of the other benchmark."""
    return ten.queries(rows)


ONE = {"scores": "sum: score"}
INTEGERS = {
    "adults": "count: rows\n    where: age >= 18 and age < 65",
    "ages": "sum: age",
    "hours": "mean: hours",
}
FLOATS = {"mean": "mean: signal", "spread": "variance: signal", "scores": "sum: score"}
THREE = {"wages": "sum: wage", "ages": "mean: age", "places": "histogram: region"}
SHOPS = {
    "visits": "count: rows\n    by: [shop]",
    "wages": "sum: wage\n    by: [shop]",
}
TWENTY = SHOPS | {
    f"wages{age}": f"sum: wage\n    where: age >= {age}" for age in range(20, 38)
}
UNITS = {
    "visits": "count: rows\n    by: [region]",
    "wages": "sum: wage\n    by: [region]",
}


@dataclass(frozen=True, slots=True)
class Case:
    """What is measured: a holder of rows, statistics, and the same without privacy.

    ``unit`` is a column of ids, or nothing where each row is a unit; ``share`` of the
    rows is taken; ``ceiling`` rows are declared, or as many as there are. ``goal`` is
    the largest ratio of wall time and of memory that is aimed at.
    """

    name: str
    holder: str
    statistics: dict[str, str]
    plain: Plain
    unit: str = ""
    share: float = 1
    ceiling: int = 0
    goal: tuple[float, float] = (1.25, 1.3)


CASES = (
    Case("one", "pyarrow", ONE, one, goal=(1.5, 1.25)),
    Case("integers", "pyarrow", INTEGERS, integers, goal=(1.5, 1.25)),
    Case("floats", "pyarrow", FLOATS, floats, goal=(1.5, 1.25)),
    Case("three-pyarrow", "pyarrow", THREE, three, goal=(1.25, 1.25)),
    Case("three-polars", "polars", THREE, three, goal=(1.4, 1.25)),
    Case("three-duckdb", "duckdb", THREE, three, goal=(1.4, 1.25)),
    Case("three-pandas", "pandas", THREE, three, goal=(1.25, 1.25)),
    Case("three-folder", "folder", THREE, three, goal=(1.4, 1.25)),
    Case("three-one-group", "one-group", THREE, three, goal=(1.4, 1.25)),
    Case("shops", "pyarrow", SHOPS, shops, goal=(1.5, 1.25)),
    Case("twenty", "pyarrow", TWENTY, twenty, goal=(1.5, 1.25)),
    Case("three-csv", "csv", THREE, three, share=0.3, goal=(1.4, 1.25)),
    Case("three-frame", "frame", THREE, three, goal=(1.5, 1.25)),
    Case("three-table", "table", THREE, three, goal=(1.5, 1.25)),
    Case("ten-pyarrow", "pyarrow", ten.STATISTICS, ten_plain),
    Case("ten-polars", "polars", ten.STATISTICS, ten_plain),
    Case("ten-duckdb", "duckdb", ten.STATISTICS, ten_plain),
    Case("unit-integer", "pyarrow", UNITS, units, unit="person", goal=(5, 2.5)),
    Case("unit-zipf", "pyarrow", UNITS, units, unit="member", goal=(5, 2.5)),
    Case("unit-text", "pyarrow", UNITS, units, unit="token", goal=(7, 2.5)),
    Case(
        *("unit-ceiling", "pyarrow", UNITS, units),
        unit="person",
        ceiling=10**9,
        goal=(7, 2.5),
    ),
    Case(
        *("unit-ten", "pyarrow", ten.UNIT_STATISTICS, ten_plain),
        unit="person",
        goal=(4.2, 2.5),
    ),
)


def spec_text(case: Case, rows: int) -> str:
    """Return the spec of a case."""
    private = f"rows: {{at_most: {case.ceiling or rows}}}", "add_remove"
    public = f"rows: {{exactly: {rows}}}", "replace_one"
    count, neighbours = private if case.unit else public
    bounds = "\n  contributes: {rows: 3, groups: 2}" if case.unit else ""
    return ten.spec_of(
        count,
        neighbours,
        f"unit: {case.unit or 'row'}{bounds}",
        COLUMNS,
        case.statistics,
    )


def invented(rows: int, seed: int) -> pl.DataFrame:
    """Return invented rows of all columns."""
    rng = np.random.default_rng(seed)
    people = max(1, rows // PER_PERSON)
    person = rng.integers(0, people, rows)
    signal = pl.Series(rng.normal(50, 20, rows))
    gap = pl.Series(rng.random(rows))
    return pl.DataFrame(
        {
            "person": person,
            "member": rng.zipf(1.3, rows) % people,
            "token": pl.Series(person * 2654435761 % (1 << 40)).cast(pl.String) + "-id",
            "region": np.array(ten.REGIONS)[rng.integers(0, len(ten.REGIONS), rows)],
            "shop": np.array(ten.SHOPS)[rng.integers(0, len(ten.SHOPS), rows)],
            "age": rng.integers(10, 110, rows),
            "hours": rng.integers(0, 90, rows),
            "wage": np.round(rng.gamma(2, 1500, rows), 2),
            "score": rng.normal(50, 20, rows),
            "signal": pl.select(
                pl.when(gap > 0.05).then(
                    pl.when(gap > 0.1).then(signal).otherwise(float("nan"))
                )
            ).to_series(),
        }
    )


def write(holder: str, path: Path, rows: int) -> None:
    """Write the rows as the holder does."""
    frame = invented(rows, seed=1)
    match holder:
        case "pyarrow":
            import pyarrow.parquet as pq

            pq.write_table(frame.to_arrow(), path)
        case "one-group":
            frame.write_parquet(path, row_group_size=ROW_GROUP)
        case "polars":
            frame.write_parquet(path)
        case "duckdb":
            import duckdb

            duckdb.sql(f"COPY (FROM frame) TO '{path}' (FORMAT parquet)")
        case "pandas":
            frame.to_pandas().to_parquet(path)
        case "folder":
            path.mkdir()
            step = -(-rows // FILES)
            for start in range(0, rows, step):
                frame[start : start + step].write_parquet(path / f"{start:09}.parquet")
        case "csv":
            frame.write_csv(path)


def held(holder: str, path: Path) -> Any:
    """Return what both are handed: a path, or rows in memory."""
    match holder:
        case "frame":
            return pl.read_parquet(path).rechunk()
        case "table":
            import pyarrow.parquet as pq

            return pq.read_table(path)
        case _:
            return str(path)


def lazy(rows: Any, holder: str) -> Any:
    """Return the rows as polars takes them."""
    match holder:
        case "frame":
            return rows.lazy()
        case "table":
            return pl.DataFrame(rows).lazy()
        case "csv":
            return pl.scan_csv(rows)
        case _:
            return pl.scan_parquet(rows)


def private(case: Case, source: Any, rows: int) -> Callable[[], Any]:
    """Return the run of a case."""
    import pyarrow.parquet  # noqa: F401  start-up is not measured

    import dpql.mechanisms.vector  # noqa: F401  the same
    from dpql.curator import run
    from dpql.curator.engines import engine_named
    from dpql.language import load_text
    from dpql.planner import plan

    engine_named("polars")
    made = plan(load_text(spec_text(case, rows), form="yaml"))
    return lambda: run(made, {"rows": source})


def work(name: str, kind: str, path: str, rows: int) -> None:
    """Measure a case in this process; print wall, processor seconds and megabytes."""
    case = next(case for case in CASES if case.name == name)
    source = held(case.holder, Path(path))

    def plain() -> object:
        queries = case.plain(lazy(source, case.holder))
        return pl.collect_all(queries, engine="streaming")

    call = plain if kind == "plain" else private(case, source, rows)
    warm = pl.LazyFrame({"x": [1]}).select(pl.len())
    warm.collect(engine="streaming")
    idle = resource.getrusage(resource.RUSAGE_SELF)
    start = time.perf_counter()
    call()
    seconds = time.perf_counter() - start
    after = resource.getrusage(resource.RUSAGE_SELF)
    cpu = after.ru_utime + after.ru_stime - idle.ru_utime - idle.ru_stime
    print(json.dumps([seconds, cpu, after.ru_maxrss / 1024]))


def apart(python: str, *arguments: object) -> str:
    """Return what this file prints in a process of its own."""
    done = subprocess.run(
        [python, __file__, *map(str, arguments)],
        check=True,
        stdout=subprocess.PIPE,
        text=True,
    )
    return done.stdout


def measured(
    case: Case, path: Path, rows: int, rounds: int, also: Sequence[str]
) -> str:
    """Return the line of a case: least times and median peaks, as ratios to plain."""
    pythons = {"plain": sys.executable, "dpql": sys.executable}
    pythons |= {f"also{n}": python for n, python in enumerate(also)}
    found: dict[str, list[list[float]]] = {kind: [] for kind in pythons}
    for _ in range(rounds):
        for kind, python in pythons.items():
            figures = apart(python, "--work", case.name, kind, path, rows)
            found[kind].append(json.loads(figures))
    best = {
        kind: (
            min(x[0] for x in some),
            min(x[1] for x in some),
            median(x[2] for x in some),
        )
        for kind, some in found.items()
    }
    text = f"{case.name:16}{rows:>12,}{best['plain'][0]:8.2f}{best['plain'][1]:8.2f}"
    for kind in list(pythons)[1:]:
        ratios = (a / b for a, b in zip(best[kind], best["plain"], strict=True))
        text += "   " + "".join(f"{ratio:7.2f}" for ratio in ratios)
    return text + f"   {case.goal[0]:7.2f}{case.goal[1]:7.2f}"


def parsed() -> argparse.Namespace:
    """Return the options."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument(
        "--rows", type=lambda text: int(text.replace("_", "")), default=10_000_000
    )
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument(
        "--only", default="", help="cases whose name begins so, with commas"
    )
    parser.add_argument(
        "--data", type=Path, help="a folder that keeps the data for the next run"
    )
    parser.add_argument(
        "--also",
        action="append",
        default=[],
        metavar="PYTHON",
        help="measure the dpql of another environment too",
    )
    return parser.parse_args()


def chosen(only: str) -> Iterator[Case]:
    """Yield the cases whose names begin so."""
    beginnings = tuple(only.split(","))
    yield from (case for case in CASES if case.name.startswith(beginnings))


def main() -> None:
    """Write what is not there yet, and measure case by case."""
    options = parsed()
    kinds = "".join(f"   {name:^21}" for name in ["dpql", *options.also])
    print(f"{'':28}{'plain':^16}{kinds}   {'goal':^14}")
    columns = f"   {'wall':>7}{'cpu':>7}{'peak':>7}" * (1 + len(options.also))
    goals = f"   {'wall':>7}{'peak':>7}"
    print(
        f"{'case':16}{'rows':>12}{'wall s':>8}{'cpu s':>8}{columns}{goals}", flush=True
    )
    with tempfile.TemporaryDirectory() as scratch:
        folder = options.data or Path(scratch)
        folder.mkdir(exist_ok=True)
        for case in chosen(options.only):
            rows = int(options.rows * case.share)
            stored = STORED.get(case.holder, case.holder)
            path = folder / f"{stored}-{rows}{SUFFIX.get(stored, '.parquet')}"
            if not path.exists():
                apart(sys.executable, "--write", stored, path, rows)
            print(measured(case, path, rows, options.rounds, options.also), flush=True)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--work"]:
        name, kind, path, rows = sys.argv[2:]
        work(name, kind, path, int(rows))
    elif sys.argv[1:2] == ["--write"]:
        write(sys.argv[2], Path(sys.argv[3]), int(sys.argv[4]))
    else:
        main()
