"""Cost of privacy in the data path, as ratios to plain polars in one interleaved run.

Run by hand: `make bench`, or `python benchmarks/run.py [ROWS] [ROUNDS] [LARGE]`. Every
contestant runs in a process of its own, in turns, so that a busy machine slows all of
them alike and each has its own peak of memory. Plain polars computes the same ten
statistics without privacy, in the fastest form that was found. LARGE rows, or as many
as the disk allows, show that memory stays bounded; 0 leaves them out.
"""

from __future__ import annotations

import json
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

ROWS, ROUNDS, LARGE = 10_000_000, 5, 100_000_000
ROW_BYTES = 32
PIECE = 2_500_000
REGIONS = [f"region{i:02d}" for i in range(50)]
SHOPS = [f"shop{i:05d}" for i in range(30_000)]
EDGES = (16, 25, 35, 45, 55, 65, 100)
CONTESTANTS = ("plain", "row", "unit")

COLUMNS = f"""
    person: {{type: id}}
    region: {{type: category, keys: [{", ".join(REGIONS)}]}}
    shop: {{type: category, keys: [{", ".join(SHOPS)}]}}
    age: {{type: integer, bounds: [16, 100], nulls: {{as: 16}}}}
    wage: {{type: decimal, bounds: [0, 20000], step: 0.01, nulls: {{as: 0}}}}
    score: {{type: float, bounds: [-50, 150], nulls: {{as: 50}}}}
"""
STATISTICS = {
    "adults": "count: rows\n    where: age >= 18 and age < 65",
    "wages": "sum: wage",
    "scores": "sum: score",
    "mean_age": "mean: age",
    "mean_wage": "mean: wage\n    where: age >= 18 and age < 65",
    "spread": "variance: wage",
    "together": "covariance: [age, wage]",
    "ages": f"histogram: age\n    bins: [{', '.join(map(str, EDGES))}]",
    "by_region": "mean: wage\n    by: [region]",
    "by_shop": "count: rows\n    by: [shop]",
}


UNIT_STATISTICS = STATISTICS | {"together": "sum: age"}
"""There is no covariance of a private number of rows: a sum takes its place."""


def spec_text(rows: int, *, unit: bool) -> str:
    """Return the spec of the ten statistics, of rows or of units with several rows."""
    if unit:
        bounds = "unit: person\n  contributes: {rows: 3, groups: 2}"
        count = f"rows: {{at_most: {rows}}}"
        return spec_of(count, "add_remove", bounds, COLUMNS, UNIT_STATISTICS)
    count = f"rows: {{exactly: {rows}}}"
    return spec_of(count, "replace_one", "unit: row", COLUMNS, STATISTICS)


def spec_of(
    count: str, neighbours: str, unit: str, columns: str, statistics: dict[str, str]
) -> str:
    """Return a spec of equal shares of the statistics."""
    parts = "".join(
        f"  {name}:\n    {text}\n    spend: {{share: 1}}\n"
        for name, text in statistics.items()
    )
    return (
        "dpql: 1\nrelease: bench\npurpose: A benchmark.\ndata:\n  source: rows\n"
        f"  {count}\n  columns:{columns}privacy:\n  {unit}\n"
        f"  neighbours: {neighbours}\n  epsilon: 1\n  delta: 0\n"
        "defaults: {alpha: 0.05, gamma: 1e-9, mechanism: geometric}\n"
        f"statistics:\n{parts}"
    )


def generate(path: Path, rows: int) -> None:
    """Write a parquet file of invented rows, five per person."""
    import numpy as np
    import polars as pl

    rng = np.random.default_rng(1)
    names = ("person", "region", "shop", "age", "wage", "score")

    def piece(count: int) -> pl.DataFrame:
        columns = (
            rng.integers(0, rows // 5, count),
            np.array(REGIONS)[rng.integers(0, len(REGIONS), count)],
            np.array(SHOPS)[rng.integers(0, len(SHOPS), count)],
            rng.integers(10, 110, count),
            np.round(rng.gamma(2, 1500, count), 2),
            rng.normal(50, 20, count),
        )
        return pl.DataFrame(dict(zip(names, columns, strict=True)))

    path.mkdir()
    for number, first in enumerate(range(0, rows, PIECE)):
        count = min(PIECE, rows - first)
        piece(count).write_parquet(path / f"{number:04d}.parquet")


def plain(path: str) -> Callable[[], Any]:
    """Return the ten statistics without privacy, in one lazy call."""
    import polars as pl

    made = queries(pl.scan_parquet(path))
    return lambda: pl.collect_all(made, engine="streaming")


def queries(rows: Any) -> list[Any]:
    """Return the ten statistics of a lazy frame without privacy."""
    import polars as pl

    age, wage = pl.col("age"), pl.col("wage")
    adult = (age >= 18) & (age < 65)
    flat = rows.select(
        adult.sum().alias("adults"),
        wage.sum().alias("wages"),
        pl.col("score").sum().alias("scores"),
        age.mean().alias("mean_age"),
        wage.filter(adult).mean().alias("mean_wage"),
        wage.var().alias("spread"),
        pl.cov(age, wage).alias("together"),
        *((age >= edge).sum().alias(f"age{edge}") for edge in EDGES),
    )
    return [
        flat,
        rows.group_by("region").agg(wage.mean()),
        rows.group_by("shop").agg(pl.len()),
    ]


def private(path: str, rows: int, *, unit: bool) -> Callable[[], Any]:
    """Return the same with privacy: rows added up, noise drawn."""
    import pyarrow.parquet  # noqa: F401  start-up is not measured

    import dpql.mechanisms.vector  # noqa: F401  the same
    from dpql.curator import run
    from dpql.curator.engines import engine_named
    from dpql.language import load_text
    from dpql.planner import plan

    engine_named("polars")
    made = plan(load_text(spec_text(rows, unit=unit), form="yaml"))
    return lambda: run(made, {"rows": path})


def work(name: str, path: str, rows: int) -> None:
    """Measure one contestant in this process, and print seconds and megabytes."""
    import polars as pl

    call = plain(path) if name == "plain" else private(path, rows, unit=name == "unit")
    pl.scan_parquet(path).select(pl.len()).collect(engine="streaming")
    idle = resource.getrusage(resource.RUSAGE_SELF)
    start = time.perf_counter()
    call()
    seconds = time.perf_counter() - start
    after = resource.getrusage(resource.RUSAGE_SELF)
    cpu = sum(
        getattr(after, kind) - getattr(idle, kind) for kind in ("ru_utime", "ru_stime")
    )
    print(json.dumps([seconds, cpu, after.ru_maxrss / 1024]))


def apart(*arguments: object) -> str:
    """Return what this file prints in a process of its own.

    This process must stay small: the peak of a child starts at that of its parent.
    """
    done = subprocess.run(
        [sys.executable, __file__, *map(str, arguments)],
        check=True,
        capture_output=True,
        text=True,
    )
    return done.stdout


def measured(name: str, path: Path, rows: int) -> tuple[float, float, float]:
    """Return seconds, processor seconds and peak megabytes of a fresh process."""
    seconds, cpu, peak = json.loads(apart("--work", name, path, rows))
    return seconds, cpu, peak


def compare(path: Path, rows: int, rounds: int) -> None:
    """Print the least times and the median peaks of some rounds, and their ratios.

    What disturbs a run makes it longer, so the least time is the truest; how much
    memory it takes depends on how threads happen to meet, for more or for less.
    """
    found: dict[str, list[tuple[float, float, float]]] = {n: [] for n in CONTESTANTS}
    for _ in range(rounds):
        for name in CONTESTANTS:
            found[name].append(measured(name, path, rows))
    best: dict[str, tuple[float, float, float]] = {}
    for name, figures in found.items():
        walls, cpus, peaks = zip(*figures, strict=True)
        best[name] = min(walls), min(cpus), median(peaks)
    print(f"{rows:,} rows, ten statistics, {rounds} interleaved rounds")
    print(
        f"{'':8}{'wall s':>9}{'cpu s':>9}{'peak MB':>9}{'wall':>9}{'cpu':>7}{'peak':>7}"
    )
    for name in CONTESTANTS:
        ratios = [a / b for a, b in zip(best[name], best["plain"], strict=True)]
        wall, cpu, peak = best[name]
        print(
            f"{name:8}{wall:9.3f}{cpu:9.3f}{peak:9.0f}"
            f"{ratios[0]:8.2f}x{ratios[1]:6.2f}x{ratios[2]:6.2f}x"
        )


def main(arguments: list[str]) -> None:
    """Generate the data in a scratch folder, compare, and show the large run."""
    given = [int(text.replace("_", "")) for text in arguments]
    rows, rounds, large = given + [ROWS, ROUNDS, LARGE][len(given) :]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows"
        apart("--generate", path, rows)
        compare(path, rows, rounds)
        large = min(large, shutil.disk_usage(folder).free // (2 * ROW_BYTES))
        if large:
            path = Path(folder) / "large"
            apart("--generate", path, large)
            for name in CONTESTANTS:
                seconds, cpu, peak = measured(name, path, large)
                print(
                    f"{large:,} rows, {name}: {seconds:.1f} s, {cpu:.1f} s of "
                    f"processor, peak {peak:.0f} MB"
                )


if __name__ == "__main__":
    if sys.argv[1:2] == ["--work"]:
        work(sys.argv[2], sys.argv[3], int(sys.argv[4]))
    elif sys.argv[1:2] == ["--generate"]:
        generate(Path(sys.argv[2]), int(sys.argv[3]))
    else:
        main(sys.argv[1:])
