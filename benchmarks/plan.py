"""Planning time against the number of statistics; it should grow in proportion.

Run ``python benchmarks/plan.py``. Each line: statistics, seconds to plan, microseconds
a statistic, seconds to read the plan back with its audit, size of the plan.
"""

from __future__ import annotations

import time
from dataclasses import replace
from fractions import Fraction

from dpql.model.spec import (
    AccuracyTarget,
    CategoryColumn,
    Contributes,
    Data,
    FillNulls,
    IdColumn,
    MechanismName,
    Neighbours,
    NumberColumn,
    NumberType,
    Privacy,
    RowsAtMost,
    Share,
    Spec,
    Statistic,
)
from dpql.planner import plan, read

SIZES = (125, 250, 500, 1000)
KINDS = (
    "count",
    "sum",
    "mean",
    "variance",
    "histogram",
)


def statistic(index: int, *, priced: bool) -> Statistic:
    """Return the statistic of that number: kinds and mechanisms take turns."""
    kind = KINDS[index % len(KINDS)]
    ratio = kind in ("mean", "variance")
    columns = {"count": (), "histogram": ("g",)}
    target = AccuracyTarget(within=Fraction(300_000_000 + index, 1000))
    return Statistic(
        name=f"s{index}",
        kind=kind,
        columns=columns.get(kind, ("x",)),
        edges=(),
        where=None,
        by=("g",) if index % 2 and kind != "histogram" else (),
        at_least=900_000 if ratio else None,
        mechanism=MechanismName.SNAPPING if index % 3 else MechanismName.GEOMETRIC,
        alpha=Fraction(1, 20),
        gamma=Fraction(1, 10**9),
        spend=target if priced else Share(weight=Fraction(index + 1)),
    )


def spec(count: int, *, priced: bool) -> Spec:
    """Return a spec of so many statistics."""
    statistics = tuple(statistic(index, priced=priced) for index in range(count))
    if priced:
        # A target suits its statistic's own unit: rows, sums, means, squares.
        scale = {
            "count": Fraction(1, 10),
            "sum": Fraction(1000),
            "mean": Fraction(1, 1000),
            "variance": Fraction(1, 3),
            "histogram": Fraction(1, 10),
        }
        statistics = tuple(
            replace(
                ask,
                spend=AccuracyTarget(within=ask.spend.within * scale[ask.kind]),
            )
            for ask in statistics
            if isinstance(ask.spend, AccuracyTarget)
        )
    x = NumberColumn(
        name="x",
        type=NumberType.DECIMAL,
        lower=Fraction(0),
        upper=Fraction(20_000),
        step=Fraction(1, 100),
        unit="EUR",
        nulls=FillNulls(value=Fraction(0)),
    )
    g = CategoryColumn(name="g", keys=tuple(f"k{i}" for i in range(50)))
    return Spec(
        release="benchmark",
        purpose="Time planning.",
        data=Data(
            source="rows",
            rows=RowsAtMost(count=10**6),
            columns=(IdColumn(name="p"), x, g),
        ),
        privacy=Privacy(
            unit="p",
            contributes=Contributes(rows=2, groups=2),
            neighbours=Neighbours.ADD_REMOVE,
            epsilon=Fraction(1000),
            delta=Fraction(0),
        ),
        statistics=statistics,
        signer=None,
    )


def main() -> None:
    """Print the tables: shares only, and accuracy targets only."""
    for title, priced in (("shares", False), ("accuracy targets", True)):
        print(f"{title}\n statistics   plan s   µs each   read s     MB")
        for count in SIZES:
            asked = spec(count, priced=priced)
            start = time.perf_counter()
            made = plan(asked)
            planned = time.perf_counter()
            data = made.to_json()
            written = time.perf_counter()
            read(data)
            seen = time.perf_counter()
            took = planned - start
            print(
                f" {count:10d} {took:8.2f} {took / count * 1e6:9.0f}"
                f" {seen - written:8.2f} {len(data) / 1e6:6.2f}"
            )


if __name__ == "__main__":
    main()
