"""Cost of a release by the number of its values: the whole commands, on 1,000 rows.

Run by hand: `make bench-wide`, or `python benchmarks/values.py [VALUES ...]`. Every
command is a process of its own. Shown are the least processor time of some rounds, its
ratio to that of the first number of values, and the median of the peaks of memory; for
counts, of which many are alike, and for sums, which nearly all differ.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from statistics import median

ROWS, ROUNDS, KEYS = 1_000, 3, 1_000
VALUES = (6, 60_000, 1_000_000)
COMMANDS: dict[str, tuple[str, ...]] = {
    "run": (
        *("run", "spec.yaml", "--data", "visits=visits.csv", "--key", "steward"),
        *("--yes", "--again", "--out", "release"),
    ),
    "verify": (
        *("verify", "release", "--trust", "allowed_signers"),
        *("--ledger", "ledger.sqlite"),
    ),
    "show": ("show", "release"),
}


ASKED = {"counts": "count: rows", "sums": "sum: spent"}


def spec_text(values: int, asked: str) -> str:
    """Return the spec of a statistic by two columns with so many cells."""
    regions = ", ".join(f"r{number}" for number in range(min(values, KEYS)))
    shops = ", ".join(f"s{number}" for number in range(-(-values // KEYS)))
    return (
        "dpql: 1\nrelease: bench\npurpose: A benchmark.\ndata:\n  source: visits\n"
        f"  rows: {{at_most: {ROWS}}}\n  columns:\n"
        f"    region: {{type: category, keys: [{regions}]}}\n"
        f"    shop: {{type: category, keys: [{shops}]}}\n"
        "    spent: {type: decimal, bounds: [0, 500], step: 0.01, nulls: {as: 0}}\n"
        "privacy:\n  unit: row\n  neighbours: add_remove\n  epsilon: 1\n  delta: 0\n"
        "defaults: {alpha: 0.05, gamma: 1e-9, mechanism: geometric}\n"
        f"statistics:\n  visits:\n    {ASKED[asked]}\n    by: [region, shop]\n"
        "    spend: {share: 1}\n"
    )


def prepare(folder: Path, values: int, asked: str = "counts") -> None:
    """Write spec and rows, and make a key and a ledger."""
    folder.mkdir()
    (folder / "spec.yaml").write_text(spec_text(values, asked))
    rows = "".join(f"r{n % KEYS},s{n % 50},{n % 499}.25\n" for n in range(ROWS))
    (folder / "visits.csv").write_text(f"region,shop,spent\n{rows}")
    for command in (
        ("keys", "new", "steward", "--no-passphrase"),
        ("keys", "trust", "steward", "steward@example.org", "--role", "release"),
        ("ledger", "open", "visits", "--epsilon", "1000", "--unit", "row"),
    ):
        used(folder, *command)


def used(folder: Path, *arguments: str) -> tuple[float, float]:
    """Run a command; return its processor seconds and its peak of megabytes."""
    with (folder / "printed").open("w+") as printed:
        child = subprocess.Popen(
            [sys.executable, "-m", "dpql", *arguments],
            cwd=folder,
            env={**os.environ, "XDG_STATE_HOME": str(folder / "state")},
            stdout=printed,
            stderr=printed,
        )
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        if child.returncode:
            printed.seek(0)
            raise SystemExit(printed.read())
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def main(arguments: list[str]) -> None:
    """Measure the numbers of values in turns, and print a line for each command."""
    numbers = [int(text.replace("_", "")) for text in arguments] or list(VALUES)
    print(f"{'':8}{'command':9}{'values':>11}{'cpu s':>9}{'ratio':>9}{'peak MB':>9}")
    for asked in ASKED:
        for line in lines(asked, numbers):
            print(line, flush=True)


def lines(asked: str, numbers: list[int]) -> Iterator[str]:
    """Yield a line for each command and number of values."""
    found: dict[tuple[str, int], list[tuple[float, float]]] = {}
    with tempfile.TemporaryDirectory() as name:
        for values in numbers:
            prepare(Path(name, str(values)), values, asked)
        for _ in range(ROUNDS):
            for values in numbers:
                folder = Path(name, str(values))
                shutil.rmtree(folder / "release", ignore_errors=True)
                for command, words in COMMANDS.items():
                    figures = used(folder, *words)
                    found.setdefault((command, values), []).append(figures)
    for command in COMMANDS:
        least = min(cpu for cpu, _ in found[command, numbers[0]])
        for values in numbers:
            cpus, peaks = zip(*found[command, values], strict=True)
            yield (
                f"{asked:8}{command:9}{values:>11,}{min(cpus):>9.2f}"
                f"{min(cpus) / least:>8.1f}x{median(peaks):>9.0f}"
            )


if __name__ == "__main__":
    main(sys.argv[1:])
