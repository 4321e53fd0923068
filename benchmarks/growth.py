"""How costs grow: with rows, keys, values released, entries of a ledger, statistics.

Run by hand: `make bench-growth`, or `python benchmarks/growth.py [TABLE ...]`, with
`--largest ROWS` for the largest table of rows. Each size runs once in a process of its
own. A line shows its processor seconds, what each unit of the size costs more than in
the line before (in nanoseconds, microseconds or milliseconds: about the same down a
column where growth is linear), and the peak of memory.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

import run as ten
import values

PIECE = 2_500_000
PER_PERSON = 5
TABLE_ROWS = 1_000_000
REPEATED = 100_000
REGIONS = 50
FEW = f"[{', '.join(f'r{number}' for number in range(REGIONS))}]"
SUMMED = {
    "visits": "count: rows\n    by: [region]",
    "wages": "sum: wage\n    by: [region]",
}


@dataclass(frozen=True, slots=True)
class Table:
    """A table of the sizes that grow: what is prepared, and what is measured."""

    name: str
    unit: str
    sizes: tuple[int, ...]
    prepare: Callable[[Path, int], None]
    work: Callable[[Path, int], Callable[[], object]] | str
    """What is done in a process, or the command of `values` that is run."""
    scale: tuple[float, str] = (1e9, "ns")


def spec_text(rows: int, keys: str, statistics: dict[str, str], unit: str) -> str:
    """Return a spec of so many rows at most, by such keys."""
    columns = f"""
    person: {{type: id}}
    region: {{type: category, keys: {keys}}}
    wage: {{type: decimal, bounds: [0, 20000], step: 0.01, nulls: {{as: 0}}}}
"""
    bounds = "\n  contributes: {rows: 3, groups: 2}" if unit != "row" else ""
    return ten.spec_of(
        f"rows: {{at_most: {rows}}}",
        "add_remove",
        f"unit: {unit}{bounds}",
        columns,
        statistics,
    )


def write_rows(
    folder: Path, rows: int, keys: int = REGIONS, *, before: str = "r"
) -> None:
    """Write invented rows, five of each person."""
    import numpy as np
    import polars as pl

    rng = np.random.default_rng(1)
    words = pl.Series([f"{before}{number}" for number in range(keys)])
    path = folder / "rows"
    path.mkdir()
    for number, first in enumerate(range(0, rows, PIECE)):
        count = min(PIECE, rows - first)
        pl.DataFrame(
            {
                "person": rng.integers(0, max(1, rows // PER_PERSON), count),
                "region": words.gather(rng.integers(0, keys, count)),
                "wage": np.round(rng.gamma(2, 1500, count), 2),
            }
        ).write_parquet(path / f"{number:04}.parquet")


def private(folder: Path, text: str | None) -> Callable[[], object]:
    """Return the planning of a spec, or of that in the folder, and its run there."""
    import pyarrow.parquet  # noqa: F401  start-up is not measured

    import dpql.mechanisms.vector  # noqa: F401  the same
    from dpql.curator import run
    from dpql.curator.engines import engine_named
    from dpql.language import load, load_text
    from dpql.planner import plan

    engine_named("polars")

    def once() -> object:
        path = folder / "spec.yaml"
        spec = load(path) if text is None else load_text(text, form="yaml")
        return run(plan(spec), {"rows": str(folder / "rows")})

    return once


def of_rows(unit: str) -> Callable[[Path, int], Callable[[], object]]:
    """Return the two statistics by 50 keys of so many rows."""
    return lambda folder, rows: private(folder, spec_text(rows, FEW, SUMMED, unit))


def write_keys(folder: Path, keys: int, *, listed: bool = False) -> None:
    """Write a spec of a count by a range of keys, or by those of a file, and rows."""
    write_rows(folder, TABLE_ROWS, keys, before="r" if listed else "")
    words = "".join(f"r{number}\n" for number in range(keys))
    (folder / "keys.txt").write_text(words)
    found = "{file: keys.txt}" if listed else f"0..{keys - 1}"
    count = {"visits": SUMMED["visits"]}
    text = spec_text(TABLE_ROWS, found, count, "row")
    (folder / "spec.yaml").write_text(text)


def of_keys(folder: Path, _: int) -> Callable[[], object]:
    """Return the planning and the run of the spec in the folder."""
    return private(folder, None)


def of_statistics(folder: Path, count: int) -> Callable[[], object]:
    """Return so many means, each of other rows."""
    means = {
        f"wages{number}": f"sum: wage\n    where: wage < {number + 1}"
        for number in range(count)
    }
    return private(folder, spec_text(REPEATED, FEW, means, "row"))


def write_ledger(folder: Path, entries: int) -> None:
    """Write a ledger of runs that were reserved and cancelled."""
    from dpql.ledger import open_ledger
    from dpql.ledger.entry import Cancelled, Entry
    from dpql.model.spec import Neighbours

    ledger = open_ledger(str(folder / "ledger.sqlite"), create=True)
    ledger.open_account(
        "rows", cap=Fraction(10**6), unit=None, neighbours=Neighbours.ADD_REMOVE
    )
    made = planned()
    ledger.cancel(reserved(ledger, made))
    with ledger.store.session(write=True) as session:
        *_, first, second = session.rows("rows")
        held = [entry_of(first.body), entry_of(second.body)]
        last = held[-1]
        for number in range((entries - last.seq) // 2):
            seq = last.seq + 1
            for one in (held[0], replace(held[1], event=Cancelled(run=seq))):
                last = Entry(
                    dataset=one.dataset,
                    seq=last.seq + 1,
                    previous=last.digest,
                    event=one.event,
                )
                session.append(last)
            del number


def entry_of(body: Any) -> Any:
    """Return an entry from its bytes."""
    from dpql.ledger.entry import Entry
    from dpql.model.codec import decode, parse

    data = body if isinstance(body, bytes) else body.encode()
    return decode(Entry, parse(data, limit=len(data)))


def planned() -> Any:
    """Return a small plan."""
    from dpql.language import load_text
    from dpql.planner import plan

    text = spec_text(REPEATED, FEW, {"visits": "count: rows"}, "row")
    return plan(load_text(text, form="yaml"))


def reserved(ledger: Any, made: Any) -> Any:
    """Return what a debit holds back."""
    return ledger.reserve("rows", made)


def debit(folder: Path, _: int) -> Callable[[], object]:
    """Return a debit by a process that has not read the ledger yet."""
    from dpql.ledger import open_ledger

    made = planned()

    def once() -> object:
        ledger = open_ledger(str(folder / "ledger.sqlite"))
        return ledger.begin_draw(reserved(ledger, made))

    return once


def released(folder: Path, count: int) -> None:
    """Release so many values, to be verified and shown."""
    values.prepare(folder, count)
    values.used(folder, *values.COMMANDS["run"])


TABLES = (
    Table(
        "rows",
        "row",
        (1_000_000, 3_000_000, 10_000_000, 30_000_000, 100_000_000),
        write_rows,
        of_rows("row"),
    ),
    Table(
        "unit-rows",
        "row",
        (1_000_000, 3_000_000, 10_000_000, 30_000_000, 100_000_000),
        write_rows,
        of_rows("person"),
    ),
    Table(
        "keys",
        "key",
        (10, 1_000, 100_000, 1_000_000),
        write_keys,
        of_keys,
        (1e6, "us"),
    ),
    Table(
        "key-files",
        "key",
        (10, 1_000, 10_000, 100_000),
        partial(write_keys, listed=True),
        of_keys,
        (1e6, "us"),
    ),
    *(
        Table(
            name,
            "value",
            (10, 1_000, 10_000, 100_000, 1_000_000),
            values.prepare if name == "run" else released,
            name,
            (1e6, "us"),
        )
        for name in values.COMMANDS
    ),
    Table(
        "ledger", "entry", (10, 100, 1_000, 10_000), write_ledger, debit, (1e3, "ms")
    ),
    Table(
        "statistics",
        "statistic",
        (1, 10, 100, 1_000),
        lambda folder, _: write_rows(folder, REPEATED),
        of_statistics,
        (1e3, "ms"),
    ),
)


def work(table: Table, folder: Path, size: int) -> None:
    """Measure one size in this process; print processor seconds and megabytes."""
    if isinstance(table.work, str):
        seconds, peak = values.used(folder, *values.COMMANDS[table.work])
        print(json.dumps([seconds, peak]))
        return
    call = table.work(folder, size)
    start = time.process_time()
    call()
    seconds = time.process_time() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps([seconds, peak]))


def apart(*arguments: object) -> str:
    """Return what this file prints in a process of its own."""
    done = subprocess.run(
        [sys.executable, __file__, *map(str, arguments)],
        check=True,
        stdout=subprocess.PIPE,
        text=True,
    )
    return done.stdout


def lines(table: Table, largest: int) -> Iterator[str]:
    """Yield the lines of a table, each as soon as it is measured."""
    factor, name = table.scale
    more = f"{name} per {table.unit} more"
    yield f"{table.name:<12}{'size':>13}{'cpu s':>10}{more:>24}{'peak MB':>10}"
    before: tuple[int, float] | None = None
    for size in table.sizes:
        if table.unit == "row" and size > largest:
            continue
        with tempfile.TemporaryDirectory() as scratch:
            folder = Path(scratch, "growth")
            if not isinstance(table.work, str):
                folder.mkdir()
            apart("--prepare", table.name, folder, size)
            seconds, peak = json.loads(apart("--work", table.name, folder, size))
        each = ""
        if before is not None:
            each = f"{factor * (seconds - before[1]) / (size - before[0]):.2f}"
        before = size, seconds
        yield f"{'':<12}{size:>13,}{seconds:>10.3f}{each:>24}{peak:>10.0f}"


def main() -> None:
    """Print the tables that are asked for, or all."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("tables", nargs="*", help=", ".join(x.name for x in TABLES))
    parser.add_argument(
        "--largest",
        type=lambda text: int(text.replace("_", "")),
        default=100_000_000,
        help="rows of the largest table",
    )
    options = parser.parse_args()
    for table in TABLES:
        if not options.tables or table.name in options.tables:
            for line in lines(table, options.largest):
                print(line, flush=True)
            print(flush=True)


if __name__ == "__main__":
    if sys.argv[1:2] in (["--work"], ["--prepare"]):
        step, name, path, count = sys.argv[1:]
        (chosen,) = (table for table in TABLES if table.name == name)
        if step == "--prepare":
            chosen.prepare(Path(path), int(count))
        else:
            work(chosen, Path(path), int(count))
    else:
        main()
