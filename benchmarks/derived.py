"""Cost of derived columns and of dates in csv, each beside plain polars.

Run by hand: `python benchmarks/derived.py [ROWS] [ROUNDS]`. Both run in one process, in
turns, so that a busy machine slows both. Figures are processor time, start-up left out,
and their ratio: the median of the rounds. Plain polars clamps to the same bounds, since
a cell beyond them counts as them. In the cases that are held `alone`, only the column
is computed, of batches in memory; the others are whole runs, which also read, check and
sum.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import polars as pl
from polars import col

from dpql.curator import run
from dpql.curator.compilation import compile_program
from dpql.curator.engines.derived_columns import DerivedColumns
from dpql.curator.engines.memory import keep_memory
from dpql.language import load_text
from dpql.model.plan import Plan
from dpql.planner import plan

ROWS, ROUNDS, BATCH = 2_000_000, 9, 1 << 17

SPEC = """\
dpql: 1
release: derived
purpose: What a derived column costs.
data:
  source: rows
  rows: {{at_most: {rows}}}
  columns:
    left:    {{type: integer, bounds: [-60, 240], nulls: {{as: 0}}}}
    arrived: {{type: integer, bounds: [-60, 240], nulls: {{as: 0}}}}
    miles:   {{type: float, bounds: [0, 5_000], nulls: {{as: 0}}}}
    flown:   {{type: date, bounds: [2013-01-01, 2013-12-31], nulls: drop}}
    clock:   {{type: time, bounds: [2013-01-01, 2013-12-31], step: hour, nulls: drop}}
  derived:
    gained:   left - arrived
    product:  left * arrived + abs(left)
    weighted: round(miles, 1) * left
    parts:    left // 7
    late:     left > 15 and left > arrived
    month:    month(flown)
    hour:     hour(clock)
privacy: {{unit: row, epsilon: 1}}
statistics:
  asked: {{{asked}, spend: {{share: 1}}}}
"""


def clipped(name: str, lower: int = -60, upper: int = 240) -> pl.Expr:
    """Return a column within its bounds."""
    return col(name).clip(lower, upper)


@dataclass(frozen=True, slots=True)
class Case:
    """What is asked, and the same of polars; ``held`` says where the rows are."""

    name: str
    held: str
    asked: str
    plain: Callable[[pl.LazyFrame], pl.LazyFrame]
    goal: float


def _sum(value: pl.Expr) -> Callable[[pl.LazyFrame], pl.LazyFrame]:
    return lambda rows: rows.select(value.sum())


def _column(value: pl.Expr) -> Callable[[pl.LazyFrame], pl.LazyFrame]:
    return lambda rows: rows.with_columns(value.alias("derived"))


def _by(value: pl.Expr) -> Callable[[pl.LazyFrame], pl.LazyFrame]:
    return lambda rows: rows.group_by(value).len()


GAINED = clipped("left") - clipped("arrived")
PRODUCT = clipped("left") * clipped("arrived") + clipped("left").abs()
WEIGHTED = clipped("miles", 0, 5_000).round() * clipped("left")
PARTS = clipped("left") // 7
LATE = (col("left") > 15) & (col("left") > col("arrived"))
DAY = col("flown").str.to_date("%Y-%m-%d", strict=False)
CLOCK = col("clock").str.to_datetime("%Y-%m-%d %H:%M:%S", strict=False)

CASES = (
    Case("difference", "alone", "sum: gained", _column(GAINED), 1.3),
    Case("product", "alone", "sum: product", _column(PRODUCT), 1.3),
    Case("quotient", "alone", "sum: parts", _column(PARTS), 1.3),
    Case("rounded", "alone", "sum: weighted", _column(WEIGHTED), 1.3),
    Case("difference", "frame", "sum: gained", _sum(GAINED), 3),
    Case("difference", "parquet", "sum: gained", _sum(GAINED), 3),
    Case("difference", "csv", "sum: gained", _sum(GAINED), 2.5),
    Case("condition", "parquet", "count: rows, where: late", _sum(LATE), 5),
    Case("dates", "csv", "count: rows, by: [month]", _by(DAY.dt.month()), 1.5),
    Case("times", "csv", "count: rows, by: [hour]", _by(CLOCK.dt.hour()), 1.5),
)


def invented(rows: int) -> pl.DataFrame:
    """Return rows of flights."""
    draw = np.random.default_rng(1)
    second = np.datetime64("2013-01-01") + draw.integers(0, 365 * 86_400, rows).astype(
        "timedelta64[s]"
    )
    return pl.DataFrame(
        {
            "left": draw.integers(-70, 250, rows),
            "arrived": draw.integers(-70, 250, rows),
            "miles": draw.random(rows) * 5_100,
            "flown": np.datetime_as_string(second, unit="D"),
            "clock": pl.Series(second.astype("datetime64[ms]")).dt.strftime(
                "%Y-%m-%d %H:%M:%S"
            ),
        }
    )


def contestants(
    case: Case, held: dict[str, Any], rows: int
) -> tuple[Callable[[], Any], Callable[[], Any]]:
    """Return the run of a case, and plain polars."""
    source = held["frame" if case.held == "alone" else case.held]
    made: Plan = plan(load_text(SPEC.format(rows=rows, asked=case.asked), form="yaml"))

    if case.held == "alone":
        names = [column.name for column in compile_program(made).columns]
        batches = list(source.select(names).iter_slices(BATCH))
        derive = DerivedColumns(compile_program(made))
        return (
            lambda: [derive(batch) for batch in batches],
            lambda: [case.plain(batch.lazy()).collect() for batch in batches],
        )

    def plain() -> Any:
        match case.held:
            case "frame":
                found = source.lazy()
            case "parquet":
                found = pl.scan_parquet(source)
            case _:
                found = pl.scan_csv(source)
        return case.plain(found).collect(engine="streaming")

    return lambda: run(made, {"rows": source}), plain


def seconds(call: Callable[[], Any]) -> float:
    """Return the processor time of a call."""
    start = time.process_time()
    call()
    return time.process_time() - start


def main(rows: int, rounds: int) -> None:
    """Print a line for each case."""
    print(f"{'case':12}{'held':10}{'plain ms':>9}{'dpql ms':>9}{'ratio':>7}{'goal':>6}")
    keep_memory()
    with tempfile.TemporaryDirectory() as scratch:
        frame, folder = invented(rows), Path(scratch)
        frame.write_parquet(folder / "rows.parquet")
        frame.write_csv(folder / "rows.csv")
        held = {
            "frame": frame,
            "parquet": str(folder / "rows.parquet"),
            "csv": str(folder / "rows.csv"),
        }
        for case in CASES:
            private, plain = contestants(case, held, rows)
            seconds(private), seconds(plain)
            found = [(seconds(plain), seconds(private)) for _ in range(rounds)]
            first, second = (median(side) for side in zip(*found, strict=True))
            print(
                f"{case.name:12}{case.held:10}{first * 1000:9.1f}{second * 1000:9.1f}"
                f"{median(b / a for a, b in found):7.2f}{case.goal:6.1f}",
                flush=True,
            )


if __name__ == "__main__":
    given = [int(word.replace("_", "")) for word in sys.argv[1:]]
    main(*(given + [ROWS, ROUNDS][len(given) :]))
