"""Does the time of a run tell a hostile record? AUC of time with it and without it.

Run by hand: `python benchmarks/neighbours.py [CALLS] [RUNS] [ROWS] [RECORD ...]`. Every
table is run CALLS times within one process and RUNS times as a command, with the record
and without it, in random order; 0 leaves a way of running out. 0.500 means that time
tells nothing, 1.000 that it tells all; chance alone moves it by the number after ±, in
95 of 100 cases. One ordinary record more shows what the method itself sees.
"""

from __future__ import annotations

import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from itertools import count
from pathlib import Path

CALLS, RUNS, ROWS = 500, 200, 100_000
NAMES = ("person", "region", "age", "wage")
ORDINARY = (b"p17", b"north", b"40", b"12.5")
RECORDS: dict[str, tuple[bytes, ...]] = {
    "an ordinary record": ORDINARY,
    "no cell at all": (b"", b"", b"", b""),
    "NaN": (b"p17", b"north", b"40", b"nan"),
    "1e308": (b"p17", b"north", b"1e308", b"-1e308"),
    "text in a number": (b"p17", b"north", b"forty", b"twelve"),
    "a stray quote": (b"p17", b'"north', b'"40', b"12.5"),
    "a new key": (b"p17", b"atlantis", b"40", b"12.5"),
    "no UTF-8 in a key": (b"p17", b"n\xff", b"40", b"12.5"),
    "no UTF-8 in an id": (b"p\xff", b"north", b"40", b"12.5"),
    "no UTF-8 in a number": (b"p17", b"north", b"\xff", b"\xff"),
    "a cell of 1 MB": (b"p17", b"x" * 1_000_000, b"40", b"12.5"),
}
FORMS = ("parquet", "csv")
SPEC = """
dpql: 1
release: neighbours
purpose: A benchmark.
data:
  source: rows
  rows: {at_most: 1_000_000}
  columns:
    person: {type: id}
    region: {type: category, keys: [north, south]}
    age: {type: integer, bounds: [16, 100], nulls: drop}
    wage: {type: decimal, bounds: [0, 200], step: 0.5, nulls: {as: 1}}
privacy:
  unit: person
  contributes: {rows: 3, groups: 1}
  neighbours: add_remove
  epsilon: 1
  delta: 0
defaults: {alpha: 0.05, gamma: 1e-9, mechanism: geometric}
statistics:
  everyone: {count: rows, by: [region], spend: {share: 1}}
  wages: {mean: wage, where: age >= 18, by: [region], spend: {share: 1}}
"""


def written(path: Path, records: Sequence[tuple[bytes, ...]]) -> Path:
    """Write the records as text, whatever bytes they hold."""
    if path.suffix == ".csv":
        lines = [b",".join(record) for record in records]
        path.write_bytes(b"\n".join([",".join(NAMES).encode(), *lines, b""]))
        return path
    import pyarrow as pa
    import pyarrow.parquet as pq

    cells = [pa.array(c).view(pa.string()) for c in zip(*records, strict=True)]
    pq.write_table(pa.table(cells, names=list(NAMES)), path)
    return path


def tables(folder: Path, form: str, rows: int) -> dict[str, Path]:
    """Write the table without any of the records, called "", and with each of them."""
    base = [
        (b"p%d" % (row // 5), (b"north", b"south")[row % 2], b"%d" % (row % 90), b"7.5")
        for row in range(rows)
    ]
    middle = rows // 2
    made = {"": written(folder / f"base.{form}", base)}
    for number, (name, record) in enumerate(RECORDS.items()):
        more = [*base[:middle], record, *base[middle:]]
        made[name] = written(folder / f"{number}.{form}", more)
    return made


def calls(folder: Path) -> Callable[[Path], None]:
    """Return how a table is run within this process."""
    del folder
    from dpql.curator import run
    from dpql.language import load_text
    from dpql.planner import plan

    made = plan(load_text(SPEC, form="yaml"))
    return lambda path: run(made, {"rows": str(path)}) and None


def commands(folder: Path) -> Callable[[Path], None]:
    """Return how a table is run as a command."""
    dpql = [sys.executable, "-m", "dpql"]

    def command(*words: object) -> None:
        subprocess.run(
            [*dpql, *map(str, words)],
            check=True,
            cwd=folder,
            stdin=subprocess.DEVNULL,
            capture_output=True,
        )

    (folder / "rows.yaml").write_text(SPEC)
    command("keys", "new", "owner", "--no-passphrase")
    releases = count()
    how = ("--key", "owner", "--no-ledger", "--yes")
    return lambda path: command(
        "run", "rows.yaml", "--data", f"rows={path}", *how, "--out", next(releases)
    )


def difference(run: Callable[[Path], None], pair: Sequence[Path], times: int) -> float:
    """Return how often a run on the second table takes longer than one on the first."""
    order = [0, 1] * times
    random.shuffle(order)
    seconds: tuple[list[float], list[float]] = ([], [])
    for side in [0, 1, *order]:
        start = time.perf_counter()
        run(pair[side])
        seconds[side].append(time.perf_counter() - start)
    # The first run of each table, while everything is new, does not count.
    before, after = seconds[0][1:], seconds[1][1:]
    wins = sum((a > b) + (a == b) / 2 for a in after for b in before)
    return wins / times**2


def main(arguments: list[str]) -> None:
    """Print a table for each way of running."""
    given = [int(text.replace("_", "")) for text in arguments[:3]]
    counts = given + [CALLS, RUNS, ROWS][len(given) :]
    records = arguments[3:] or list(RECORDS)
    for name, ready, times in zip(
        ("calls", "commands"), (calls, commands), counts, strict=False
    ):
        if not times:
            continue
        chance = 1.96 * ((2 * times + 1) / (12 * times**2)) ** 0.5
        print(f"{times} {name} each, {counts[2]:,} rows, ± {chance:.3f}")
        with tempfile.TemporaryDirectory() as folder:
            run = ready(Path(folder))
            made = {form: tables(Path(folder), form, counts[2]) for form in FORMS}
            print(f"  {'':24}" + "".join(f"{form:>9}" for form in FORMS))
            for record in records:
                found = [
                    difference(run, [made[form][""], made[form][record]], times)
                    for form in FORMS
                ]
                row = "".join(f"{one:9.3f}" for one in found)
                print(f"  {record:24}{row}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
