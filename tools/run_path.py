"""Prints through how many modules a run passes, and how often it changes module.

    python tools/run_path.py

A run reads a spec of ten statistics, plans it, and executes it on a file of 200 rows. A
call from one module of dpql into another is a change of module; libraries in between
do not count. What is imported or made once, by a run before, does not count either.
"""

from __future__ import annotations

import random
import sys
import tempfile
import threading
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import dpql

ROOT = Path(dpql.__file__).parent
ROWS = 200
SPEC = """\
dpql: 1
release: path
purpose: Ten statistics of a small file.
data:
  source: rows
  rows: {at_most: 1_000}
  columns:
    person: {type: id}
    region: {type: category, keys: [north, east, south, west]}
    age:    {type: integer, bounds: [16, 100], nulls: drop}
    wage:   {type: decimal, bounds: [0, 20_000], step: 0.01, nulls: {as: 0}}
privacy:
  unit: person
  contributes: {rows: 3, groups: 1}
  neighbours: add_remove
  epsilon: 1
  delta: 0
defaults: {alpha: 0.05, gamma: 1e-9}
statistics:
  everyone: {count: rows, spend: {share: 1}}
  regions:  {count: rows, by: [region], spend: {share: 1}}
  grown:    {count: rows, where: age >= 18, spend: {share: 1}}
  wages:    {sum: wage, spend: {share: 1}}
  mean_age: {mean: age, spend: {share: 1}}
  by_age:   {mean: wage, by: [region], spend: {share: 1}}
  spread:   {variance: age, spend: {share: 1}}
  unequal:  {variance: wage, by: [region], spend: {share: 1}}
  ages:     {histogram: age, bins: [16, 18, 65, 100], spend: {share: 1}}
  pay:      {histogram: wage, bins: [0, 1_000, 20_000], spend: {share: 1}}
"""


class RunPath:
    """The modules of dpql that calls reach, and the calls from one into another."""

    def __init__(self) -> None:
        self.modules: set[str] = set()
        self.changes: Counter[tuple[str, str]] = Counter()

    def watch(self, task: Callable[[], object]) -> None:
        """Do the task, with all its threads, and note every call of a function."""
        threading.setprofile(self._called)
        sys.setprofile(self._called)
        try:
            task()
        finally:
            sys.setprofile(None)
            threading.setprofile(None)

    def _called(self, frame: FrameType, event: str, _: Any) -> None:
        module = _module(frame) if event == "call" else None
        if module is None:
            return
        self.modules.add(module)
        caller = frame.f_back
        while caller is not None and _module(caller) is None:
            caller = caller.f_back
        before = None if caller is None else _module(caller)
        if before is not None and before != module:
            self.changes[before, module] += 1


def _module(frame: FrameType) -> str | None:
    """Return the module that a frame belongs to, if it is one of dpql."""
    path = Path(frame.f_code.co_filename)
    if not path.is_relative_to(ROOT):
        return None
    return ".".join(path.relative_to(ROOT.parent).with_suffix("").parts)


def _write(folder: Path) -> None:
    rng = random.Random(1)
    lines = ["person,region,age,wage"]
    for _ in range(ROWS):
        region = rng.choice(["north", "east", "south", "west"])
        wage = rng.randrange(2_000_000) / 100
        lines.append(f"{rng.randrange(100)},{region},{rng.randrange(16, 90)},{wage}")
    (folder / "rows.csv").write_text("\n".join(lines) + "\n")
    (folder / "spec.yaml").write_text(SPEC)


def main() -> None:
    """Print the figures."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        _write(folder)
        rows = folder / "rows.parquet"

        import polars as pl

        pl.read_csv(folder / "rows.csv").write_parquet(rows)

        def run() -> None:
            made = dpql.plan(dpql.load(folder / "spec.yaml"))
            dpql.run(made, {"rows": rows})

        run()
        path = RunPath()
        path.watch(run)
    inside = {
        pair: count
        for pair, count in path.changes.items()
        if all(module.startswith("dpql.curator") for module in pair)
    }
    print(f"modules of dpql that a run passes: {len(path.modules)}")
    print(f"changes of module in all: {path.changes.total()}")
    print(f"changes of module inside the curator: {sum(inside.values())}")
    for (before, after), count in sorted(inside.items(), key=lambda x: -x[1])[:30]:
        print(f"{count:6}  {before} -> {after}")


if __name__ == "__main__":
    main()
