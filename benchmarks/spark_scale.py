"""How the cost of privacy grows in Spark: processor time and memory by number of rows.

Run by hand: `python benchmarks/spark_scale.py ROWS [ROWS ...]`. Rows are made by Spark
and written as Parquet below TMPDIR; those of `warehouse.py`, ten to a person, in
partitions of about a million. One run of each plan, in a local Spark of two cores,
after one of a million rows that warms it up. Memory is the most that the JVM and all
Python processes hold at one time, as far as looks four times a second tell.
"""

from __future__ import annotations

import os
import sys
import tempfile
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from warehouse import plan_of, summed, tree

_MIB = 1 << 20
_ROWS_OF_A_PARTITION = 1_000_000
_COLUMNS = (
    "pmod(xxhash64(id, 1), {people}) AS person",
    "concat('region', lpad(string(pmod(xxhash64(id, 2), 20)), 2, '0')) AS region",
    "element_at(array('a', 'b', 'c'), int(pmod(id, 3) + 1)) AS kind",
    "CASE WHEN pmod(id, 33) > 0 THEN int(pmod(xxhash64(id, 3), 95) + 10) END AS age",
    "CASE WHEN pmod(id, 31) > 0 THEN round(exp(7.5D + randn(4)), 2) END AS wage",
    "if(pmod(id, 50) > 0, 30D + 25D * randn(5), double('NaN')) AS score",
)


def started() -> Any:
    """Return a local session of two cores."""
    from pyspark.sql import SparkSession

    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder = SparkSession.builder.master("local[2]")
    for name, value in {
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.memory": "2g",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.log.level": "OFF",
        "spark.local.dir": tempfile.gettempdir(),
    }.items():
        builder = builder.config(name, value)
    return builder.getOrCreate()


def processes() -> Iterator[tuple[str, int]]:
    """Yield the name and the resident MiB of this process and of all below it."""
    parents: dict[int, int] = {}
    found: dict[int, tuple[str, int]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                head, _, tail = (entry / "stat").read_text().rpartition(")")
                pages = int((entry / "statm").read_text().split()[1])
            except OSError:
                continue
            parents[int(entry.name)] = int(tail.split()[1])
            size = pages * os.sysconf("SC_PAGE_SIZE") // _MIB
            found[int(entry.name)] = head.partition("(")[2], size
    for pid, one in found.items():
        above = pid
        while above not in (0, os.getpid()):
            above = parents.get(above, 0)
        if above:
            yield one


@contextmanager
def watched(most: dict[str, int]) -> Iterator[None]:
    """Keep the most memory of the JVM and of Python's processes together."""
    done = threading.Event()

    def look() -> None:
        while not done.wait(0.25):
            now = {"java": 0, "python": 0}
            for name, size in processes():
                now["java" if "java" in name else "python"] += size
            for kind, size in now.items():
                most[kind] = max(most.get(kind, 0), size)

    thread = threading.Thread(target=look)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()


def measured(name: str, rows: int, run: Callable[[], object]) -> None:
    """Print what one run takes."""
    most: dict[str, int] = {}
    with watched(most):
        wall, before = time.perf_counter(), tree(os.getpid())
        run()
        spent, wall = tree(os.getpid()) - before, time.perf_counter() - wall
    each = spent / rows * 1e6
    memory = f"{most.get('java', 0):>6} {most.get('python', 0):>8}"
    print(f"{rows:>12,} {name:<6} {wall:>8.1f} {spent:>8.1f} {each:>10.2f} {memory}")
    sys.stdout.flush()


def compare(session: Any, folder: Path, rows: int, *, shown: bool) -> None:
    """Make rows, and sum them by both plans."""
    parts = max(2, rows // _ROWS_OF_A_PARTITION)
    session.conf.set("spark.sql.shuffle.partitions", parts)
    path = str(folder / f"{rows}.parquet")
    columns = [column.format(people=rows // 10) for column in _COLUMNS]
    session.range(0, rows, 1, parts).selectExpr(*columns).write.parquet(path)
    data = session.read.parquet(path)
    for name, unit in (("rows", "row"), ("units", "person")):
        run = summed(plan_of(rows, unit), data, "spark")
        if shown:
            measured(name, rows, run)
        else:
            run()


def main() -> None:
    """Measure the numbers of rows that are asked for."""
    warnings.simplefilter("ignore")
    session = started()
    heads = f"{'rows':>12} {'plan':<6} {'wall s':>8} {'cpu s':>8} {'cpu s/10^6':>10}"
    print(f"{heads} {'JVM MB':>6} {'Python MB':>9}")
    with tempfile.TemporaryDirectory() as folder:
        compare(session, Path(folder), 1_000_000, shown=False)
        for rows in map(int, sys.argv[1:]):
            compare(session, Path(folder), rows, shown=True)


if __name__ == "__main__":
    main()
