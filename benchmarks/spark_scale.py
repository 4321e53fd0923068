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
from collections.abc import Callable
from pathlib import Path
from typing import Any

from warehouse import plan_of, summed

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


class Watch:
    """What this process and all below it spend and hold, looked at every 0.25 s.

    Spark ends workers that nobody waits for, so what each has spent is kept.
    """

    def __init__(self) -> None:
        self._done = threading.Event()
        self._before = self._spent()
        self._last = dict(self._before)
        self.most = {"java": 0, "python": 0}
        self._thread = threading.Thread(target=self._look)
        self._thread.start()

    def end(self) -> float:
        """Return the processor seconds that were spent meanwhile."""
        self._done.set()
        self._thread.join()
        self._last |= self._spent()
        ticks = sum(x - self._before.get(pid, 0) for pid, x in self._last.items())
        return ticks / os.sysconf("SC_CLK_TCK")

    def _look(self) -> None:
        while not self._done.wait(0.25):
            now = {"java": 0, "python": 0}
            for pid, (name, size, ticks) in _processes().items():
                now["java" if "java" in name else "python"] += size
                self._last[pid] = ticks
            self.most = {kind: max(size, now[kind]) for kind, size in self.most.items()}

    @staticmethod
    def _spent() -> dict[int, int]:
        return {pid: ticks for pid, (_, _, ticks) in _processes().items()}


def _processes() -> dict[int, tuple[str, int, int]]:
    """Return names, resident MiB and ticks of this process and of all below it."""
    parents: dict[int, int] = {}
    found: dict[int, tuple[str, int, int]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                head, _, tail = (entry / "stat").read_text().rpartition(")")
                pages = int((entry / "statm").read_text().split()[1])
            except OSError:
                continue
            fields, pid = tail.split(), int(entry.name)
            parents[pid] = int(fields[1])
            size = pages * os.sysconf("SC_PAGE_SIZE") // _MIB
            name = head.partition("(")[2]
            found[pid] = name, size, int(fields[11]) + int(fields[12])
    return {pid: one for pid, one in found.items() if _is_ours(pid, parents)}


def _is_ours(pid: int, parents: dict[int, int]) -> bool:
    while pid not in (0, os.getpid()):
        pid = parents.get(pid, 0)
    return pid != 0


def measured(name: str, rows: int, run: Callable[[], object]) -> None:
    """Print what one run takes."""
    watch, start = Watch(), time.perf_counter()
    run()
    wall, spent = time.perf_counter() - start, watch.end()
    each = spent / rows * 1e6
    memory = f"{watch.most['java']:>6} {watch.most['python']:>9}"
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
