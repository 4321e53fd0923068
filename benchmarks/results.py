"""Writes benchmarks/RESULTS.md: all figures of one run, with versions and commands.

Run by hand on a quiet machine: `make bench-results`, or `python benchmarks/results.py`.
`--quick` takes a tenth of the rows, to see that all of it works.
"""

from __future__ import annotations

import os
import platform
import subprocess
import sys
import time
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

HERE = Path(__file__).parent
PACKAGES = ("dpql", "polars", "pyarrow", "numpy", "duckdb")
SECTIONS: tuple[tuple[str, str, str, str], ...] = (
    (
        "Ten statistics beside plain polars",
        "Goals at row level: 1.25 by wall and processor, 1.3 by memory.",
        "run.py 10_000_000 3 0",
        "run.py 1_000_000 1 0",
    ),
    (
        "Work that nobody tuned for",
        "Ratios to plain polars, and the goals for them.",
        "wide.py --rows 10_000_000 --rounds 2",
        "wide.py --rows 1_000_000 --rounds 1",
    ),
    (
        "Released values, whole commands",
        "Goals for 60,000 values: 6 times the processor time of 6 values, 700 MB.",
        "values.py 6 60_000",
        "values.py 6 6_000",
    ),
    (
        "Growth",
        "Linear where the third column does not grow.",
        "growth.py --largest 30_000_000",
        "growth.py rows unit-rows ledger statistics --largest 3_000_000",
    ),
    (
        "DuckDB beside SQL as an analyst writes it",
        "Goals: 1.5 times by `--engine duckdb`, 1.7 as Arrow, units 2 times.",
        "warehouse.py duckdb 10_000_000 5",
        "warehouse.py duckdb 1_000_000 2",
    ),
    (
        "Spark beside SQL as an analyst writes it",
        "Goals: rows 1.3 times, units 2 times.",
        "warehouse.py spark 5_000_000 3",
        "warehouse.py spark 500_000 1",
    ),
    (
        "Start-up",
        "Processor seconds of whole commands.",
        "startup.py",
        "startup.py",
    ),
)


def printed(command: str) -> tuple[str, float]:
    """Return what a benchmark prints, and the seconds that it took."""
    start = time.monotonic()
    name, *options = command.split()
    done = subprocess.run(
        [sys.executable, str(HERE / name), *options],
        check=True,
        stdout=subprocess.PIPE,
        text=True,
        cwd=HERE.parent,
    )
    return done.stdout.rstrip(), time.monotonic() - start


def head() -> str:
    """Return the first paragraph: when, on what, with which versions."""
    packages = ", ".join(f"{name} {version(name)}" for name in PACKAGES)
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") >> 30
    return (
        "# Results of the benchmarks\n\n"
        "Written by `make bench-results`; not by hand.\n"
        f"One run, {datetime.now(UTC):%Y-%m-%d}, on {os.cpu_count()} cores of "
        f"{platform.machine()} and {memory} GB; Python {platform.python_version()}, "
        f"{packages}.\n"
        "Each contestant runs in a process of its own, in turns with plain polars.\n"
    )


def main(arguments: list[str]) -> None:
    """Run all sections; a run that is broken off leaves those that are done."""
    quick = "--quick" in arguments
    page = head()
    for title, note, whole, small in SECTIONS:
        command = small if quick else whole
        print(f"{command} ...", end=" ", flush=True)
        text, seconds = printed(command)
        print(f"{seconds:.0f} s", flush=True)
        page += f"\n## {title}\n\n{note}\n\n"
        page += f"```text\n$ python benchmarks/{command}\n{text}\n```\n"
        (HERE / "RESULTS.md").write_text(page)


if __name__ == "__main__":
    main(sys.argv[1:])
