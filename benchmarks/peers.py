"""Other libraries beside plain polars: a sum, a mean and counts by 50 keys of one file.

Run by hand: `make bench-peers`, or `python benchmarks/peers.py [ROWS] [ROUNDS]`. Each
library is installed into an environment of its own, kept in `.venv-peers` for the next
time, and runs in fresh processes, in turns with dpql and plain polars. All read the
same Parquet file with pyarrow, but for dpql and polars, which read it themselves; that
is part of the time. None of the peers is asked for more than it offers: their epsilons
are alike, their guarantees are not.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

REGIONS = [f"region{number:02d}" for number in range(50)]
AGES, WAGES, EPSILON = (16, 100), (0.0, 20000.0), 1 / 3
PEERS = {
    "opendp": ("opendp",),
    "diffprivlib": ("diffprivlib", "scikit-learn<1.6"),
    "pydp": ("python-dp",),
}
"""What is measured, and what it is made of where it is installed from."""

ENVIRONMENTS = Path(__file__).parents[1] / ".venv-peers"


def columns(path: str) -> tuple[Any, Any, Any]:
    """Return ages and wages as arrays, regions as a list of texts."""
    import pyarrow.parquet as pq

    table = pq.read_table(path)
    ages, wages = (table.column(name).to_numpy() for name in ("age", "wage"))
    return ages.astype(float), wages.copy(), table.column("region").to_pylist()


def polars(path: str) -> None:
    """Ask plain polars."""
    import polars as pl

    rows = pl.scan_parquet(path)
    flat = rows.select(pl.col("wage").sum(), pl.col("age").mean())
    counts = rows.group_by("region").agg(pl.len())
    pl.collect_all([flat, counts], engine="streaming")


def dpql(path: str) -> None:
    """Ask dpql, which plans first."""
    import run as ten

    from dpql.curator import run
    from dpql.language import load_text
    from dpql.planner import plan

    count = f"rows: {{exactly: {Path(path).stem}}}"
    text = ten.spec_of(count, "replace_one", "unit: row", COLUMNS, ASKED)
    run(plan(load_text(text, form="yaml")), {"rows": path})


COLUMNS = f"""
    region: {{type: category, keys: [{", ".join(REGIONS)}]}}
    age: {{type: integer, bounds: [16, 100], nulls: {{as: 16}}}}
    wage: {{type: decimal, bounds: [0, 20000], step: 0.01, nulls: {{as: 0}}}}
"""
ASKED = {"wages": "sum: wage", "ages": "mean: age", "places": "histogram: region"}


def opendp(path: str) -> None:
    """Ask OpenDP: sized data, Laplace noise."""
    import opendp.prelude as dp

    dp.enable_features("contrib")
    ages, wages, regions = columns(path)
    number = dp.vector_domain(dp.atom_domain(T=float, nan=False), size=len(ages))
    numbers = number, dp.symmetric_distance()
    words = dp.vector_domain(dp.atom_domain(T=str)), dp.symmetric_distance()
    laplace = dp.m.then_laplace
    chains = (
        (numbers >> dp.t.then_clamp(WAGES) >> dp.t.then_sum(), 2e4, wages),
        (
            numbers >> dp.t.then_clamp(tuple(map(float, AGES))) >> dp.t.then_mean(),
            1e-3,
            ages,
        ),
        (words >> dp.t.then_count_by_categories(REGIONS), 1.0, regions),
    )
    for chain, scale, data in chains:
        (chain >> laplace(scale=scale / EPSILON))(data)


def diffprivlib(path: str) -> None:
    """Ask diffprivlib."""
    import numpy as np
    from diffprivlib import tools

    ages, wages, regions = columns(path)
    tools.sum(wages, epsilon=EPSILON, bounds=WAGES)
    tools.mean(ages, epsilon=EPSILON, bounds=AGES)
    codes = {region: code for code, region in enumerate(REGIONS)}
    found = np.array([codes[region] for region in regions])
    tools.histogram(found, epsilon=EPSILON, bins=len(REGIONS), range=(0, len(REGIONS)))


def pydp(path: str) -> None:
    """Ask PyDP."""
    from collections import Counter

    from pydp.algorithms.laplacian import BoundedMean, BoundedSum, Count

    ages, wages, regions = columns(path)
    lower, upper = map(int, WAGES)
    bounds = {"lower_bound": lower, "upper_bound": upper, "dtype": "float"}
    BoundedSum(EPSILON, **bounds).quick_result(wages.tolist())
    lower, upper = AGES
    bounds = {"lower_bound": lower, "upper_bound": upper, "dtype": "float"}
    BoundedMean(EPSILON, **bounds).quick_result(ages.tolist())
    for count in Counter(regions).values():
        Count(EPSILON, dtype="int").quick_result([1] * count)


CALLS: dict[str, Callable[[str], None]] = {
    "polars": polars,
    "dpql": dpql,
    "opendp": opendp,
    "diffprivlib": diffprivlib,
    "pydp": pydp,
}


def work(name: str, path: str) -> None:
    """Measure one in this process; print wall, processor seconds and megabytes."""
    # The first call imports what it needs; a process that serves does so once.
    small = str(Path(path).with_name("1000.parquet"))
    CALLS[name](small)
    idle = resource.getrusage(resource.RUSAGE_SELF)
    start = time.perf_counter()
    CALLS[name](path)
    seconds = time.perf_counter() - start
    after = resource.getrusage(resource.RUSAGE_SELF)
    cpu = after.ru_utime + after.ru_stime - idle.ru_utime - idle.ru_stime
    print(json.dumps([seconds, cpu, after.ru_maxrss / 1024]))


def environment(name: str, packages: tuple[str, ...]) -> str:
    """Return the Python of a library's own environment, made if it is not there."""
    folder = ENVIRONMENTS / name
    python = folder / "bin" / "python"
    if not (folder / "ready").exists():
        subprocess.run([sys.executable, "-m", "venv", "--clear", folder], check=True)
        wanted = (*packages, "pyarrow", "numpy")
        subprocess.run([python, "-m", "pip", "install", "-q", *wanted], check=True)
        (folder / "ready").touch()
    return str(python)


def generate(path: Path, rows: int) -> None:
    """Write invented rows."""
    import wide

    frame = wide.invented(rows, seed=1)
    frame.select("region", "age", "wage").write_parquet(path)


def main(rows: int = 1_000_000, rounds: int = 3) -> None:
    """Print the least times and the median peaks, as ratios to plain polars."""
    pythons = {"polars": sys.executable, "dpql": sys.executable}
    pythons |= {name: environment(name, packages) for name, packages in PEERS.items()}
    found: dict[str, list[list[float]]] = {name: [] for name in pythons}
    with tempfile.TemporaryDirectory() as scratch:
        path = Path(scratch) / f"{rows}.parquet"
        generate(path, rows)
        generate(path.with_name("1000.parquet"), 1000)
        for _ in range(rounds):
            for name, python in pythons.items():
                call = [python, __file__, "--work", name, str(path)]
                done = subprocess.run(call, check=True, capture_output=True, text=True)
                found[name].append(json.loads(done.stdout.splitlines()[-1]))
    print(f"{rows:,} rows{'wall':>12}{'cpu':>8}{'peak':>8}")
    best = {name: summary(some) for name, some in found.items()}
    for name, figures in best.items():
        ratios = (a / b for a, b in zip(figures, best["polars"], strict=True))
        print(f"{name:14}" + "".join(f"{ratio:8.2f}" for ratio in ratios))


def summary(some: list[list[float]]) -> tuple[float, float, float]:
    """Return the least times and the median peak."""
    walls, cpus, peaks = zip(*some, strict=True)
    return min(walls), min(cpus), median(peaks)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--work"]:
        work(*sys.argv[2:])
    else:
        main(*(int(text.replace("_", "")) for text in sys.argv[1:]))
