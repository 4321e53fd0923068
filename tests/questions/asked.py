"""Eighteen questions of an analyst of flights, each a short spec, and their answers.

The columns are those of the public data `nycflights13`. An answer is computed from the
rows without dpql, so that a release can be held against it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction

import polars as pl
from polars import col

Cell = tuple[str, ...]
Answers = dict[Cell, Fraction]

CARRIERS = (
    *("9E", "AA", "AS", "B6", "DL", "EV", "F9", "FL"),
    *("HA", "MQ", "OO", "UA", "US", "VX", "WN", "YV"),
)
ORIGINS = ("EWR", "JFK", "LGA")
NAMES = {"AA": "American", "B6": "JetBlue", "DL": "Delta", "UA": "United"}

DECLARED = {
    "carrier": f"{{type: category, keys: [{', '.join(CARRIERS)}]}}",
    "origin": f"{{type: category, keys: [{', '.join(ORIGINS)}]}}",
    "tailnum": "{type: id}",
    "month": "{type: category, keys: 1..12}",
    "hour": "{type: integer, bounds: [0, 24], nulls: drop}",
    "time_hour": "{type: time, bounds: [2013-01-01, 2013-12-31 23:00], step: hour, "
    'zone: "-05:00", nulls: drop}',
    "arr_delay": "{type: integer, bounds: [-60, 240], unit: min, nulls: drop}",
    "dep_delay": "{type: integer, bounds: [-60, 240], unit: min, nulls: drop}",
    "air_time": "{type: integer, bounds: [1, 700], unit: min, nulls: drop}",
    "distance": "{type: integer, bounds: [1, 5_000], unit: mile, nulls: drop}",
}
ROW = "{unit: row, epsilon: 400}"
PLANE = "{unit: tailnum, contributes: {rows: 1_000, groups: 16}, epsilon: 400}"


@dataclass(frozen=True, kw_only=True)
class Question:
    """What is asked, of which columns, and the true answer of each cell."""

    columns: tuple[str, ...]
    asked: str
    answer: Callable[[pl.DataFrame], Answers]
    derived: Mapping[str, str] | None = None
    privacy: str = ROW
    ranks: tuple[Fraction, ...] = ()
    most_epsilon: Fraction = Fraction(400)

    def spec(self, rows: int) -> str:
        """Return the spec, for at most so many rows."""
        lines = [
            "dpql: 1",
            "release: flights",
            "purpose: One of the questions that an analyst asked.",
            "data:",
            "  source: flights",
            f"  rows: {{at_most: {rows}}}",
            "  columns:",
            *(f"    {name}: {DECLARED[name]}" for name in self.columns),
        ]
        if self.derived:
            lines.append("  derived:")
            lines += [f"    {name}: {text}" for name, text in self.derived.items()]
        lines += [
            f"privacy: {self.privacy}",
            "defaults: {alpha: 1e-9}",
            "statistics:",
            f"  answer: {{{self.asked}}}",
        ]
        return "\n".join(lines) + "\n"


def clipped(name: str) -> pl.Expr:
    """Return a column within its declared bounds."""
    return col(name).cast(pl.Int64).clip(-60, 240)


def exact(value: object) -> Fraction:
    """Return a number of polars exactly."""
    return Fraction(value) if isinstance(value, int) else Fraction(float(value))  # type: ignore[arg-type]


def total(value: pl.Expr) -> Callable[[pl.DataFrame], Answers]:
    """Return what computes one number of all rows."""
    return lambda frame: {(): exact(frame.select(value).item())}


def grouped(value: pl.Expr, *by: pl.Expr) -> Callable[[pl.DataFrame], Answers]:
    """Return what computes a number of each group that has rows."""

    def answer(frame: pl.DataFrame) -> Answers:
        found = frame.group_by(by).agg(value.alias("answer")).rows()
        return {
            tuple(map(str, cell)): exact(number)
            for *cell, number in found
            if None not in cell and number is not None
        }

    return answer


def covariance(frame: pl.DataFrame) -> Answers:
    """Return the population covariance of both delays, where both are known."""
    x, y = clipped("dep_delay").alias("x"), clipped("arr_delay").alias("y")
    both = frame.select(x, y).drop_nulls()
    n, sums = both.height, both.sum().row(0)
    products = both.select(col("x") * col("y")).sum().item()
    return {(): Fraction(products, n) - Fraction(sums[0] * sums[1], n * n)}


def deviation(frame: pl.DataFrame) -> Answers:
    """Return the population deviation of the delay on arrival."""
    return {(): exact(frame.select(clipped("arr_delay").std(ddof=0)).item())}


def weighted(frame: pl.DataFrame) -> Answers:
    """Return the mean delay of miles, where both are known."""
    both = frame.select(clipped("arr_delay"), col("distance").cast(pl.Int64))
    both = both.drop_nulls()
    products = both.select(col("arr_delay") * col("distance")).sum().item()
    return {(): Fraction(products, both["distance"].sum())}


def ratio(frame: pl.DataFrame) -> Answers:
    """Return all miles over all minutes in the air, where both are known."""
    both = frame.select("distance", "air_time").cast(pl.Int64).drop_nulls()
    return {(): Fraction(both["distance"].sum(), both["air_time"].sum())}


def band(frame: pl.DataFrame) -> Answers:
    """Return the mean delay of three bands of distance."""
    found = {}
    for low, high, closed in (
        (1, 500, "left"),
        (500, 1000, "left"),
        (1000, 5000, "both"),
    ):
        rows = frame.filter(col("distance").is_between(low, high, closed=closed))  # type: ignore[arg-type]
        mark = "]" if closed == "both" else ")"
        mean = rows.select(clipped("arr_delay").mean()).item()
        found[f"[{low}, {high}{mark}",] = exact(mean)
    return found


LATE = clipped("arr_delay") > 15
LOCAL = col("time_hour").str.to_datetime("%Y-%m-%dT%H:%M:%SZ").dt.offset_by("-5h")
JUNE = LOCAL.dt.strftime("%Y-%m") == "2013-06"
HOURS = pl.concat_str(
    pl.lit("["),
    (col("hour") // 4 * 4).cast(pl.String),
    pl.lit(", "),
    (col("hour") // 4 * 4 + 4).cast(pl.String),
    pl.when(col("hour") >= 20).then(pl.lit("]")).otherwise(pl.lit(")")),
)
ROWS = pl.len()
SHARE = "spend: {share: 1}"

QUESTIONS: dict[str, Question] = {
    "mean delay by carrier": Question(
        columns=("carrier", "arr_delay"),
        asked=f"mean: arr_delay, by: [carrier], {SHARE}",
        answer=grouped(clipped("arr_delay").mean(), col("carrier")),
    ),
    "flights by month and origin": Question(
        columns=("month", "origin"),
        asked=f"count: rows, by: [month, origin], {SHARE}",
        answer=grouped(ROWS, col("month"), col("origin")),
    ),
    "late flights": Question(
        columns=("arr_delay",),
        asked=f"count: rows, where: arr_delay > 15, {SHARE}",
        answer=total(LATE.sum()),
    ),
    "histogram of hours by width": Question(
        columns=("hour",),
        asked=f"histogram: hour, width: 4, {SHARE}",
        answer=grouped(ROWS, HOURS),
    ),
    "total distance": Question(
        columns=("distance",),
        asked=f"sum: distance, {SHARE}",
        answer=total(col("distance").cast(pl.Int64).sum()),
    ),
    "an accuracy target": Question(
        columns=("carrier",),
        asked="count: rows, by: [carrier], spend: {accuracy: 25}",
        answer=grouped(ROWS, col("carrier")),
        most_epsilon=Fraction(1),
    ),
    "deviation of delays": Question(
        columns=("arr_delay",),
        asked=f"deviation: arr_delay, {SHARE}",
        answer=deviation,
    ),
    "proportion late by carrier": Question(
        columns=("carrier", "arr_delay"),
        asked=f"proportion: arr_delay > 15, by: [carrier], {SHARE}",
        answer=grouped(LATE.mean(), col("carrier")),
    ),
    "distinct planes": Question(
        columns=("tailnum",),
        asked=f"distinct: tailnum, {SHARE}",
        answer=total(col("tailnum").drop_nulls().n_unique()),
    ),
    "median and 90th percentile": Question(
        columns=("arr_delay",),
        asked=f"quantile: arr_delay, at: [1/2, 9/10], {SHARE}",
        answer=lambda _: {},
        ranks=(Fraction(1, 2), Fraction(9, 10)),
    ),
    "a date range": Question(
        columns=("time_hour",),
        asked='count: rows, where: "time_hour >= 2013-06-01 and time_hour < '
        f'2013-07-01", {SHARE}',
        answer=total(JUNE.sum()),
    ),
    "names of airlines": Question(
        columns=("carrier",),
        derived={
            "airline": '"map(carrier, {AA: American, B6: JetBlue, DL: Delta, '
            'UA: United}, else: other)"'
        },
        asked=f"count: rows, by: [airline], {SHARE}",
        answer=grouped(
            ROWS, col("carrier").replace_strict(NAMES, default="other").alias("airline")
        ),
    ),
    "ratio of distance to air time": Question(
        columns=("distance", "air_time"),
        asked=f"ratio: [distance, air_time], {SHARE}",
        answer=ratio,
    ),
    "covariance of delays": Question(
        columns=("dep_delay", "arr_delay"),
        asked=f"covariance: [dep_delay, arr_delay], {SHARE}",
        answer=covariance,
    ),
    "mean delay by band of distance": Question(
        columns=("distance", "arr_delay"),
        derived={"far": '"bands(distance, [1, 500, 1_000, 5_000])"'},
        asked=f"mean: arr_delay, by: [far], {SHARE}",
        answer=band,
    ),
    "flights that made up time": Question(
        columns=("dep_delay", "arr_delay"),
        asked=f"count: rows, where: arr_delay < dep_delay, {SHARE}",
        answer=total((col("arr_delay") < col("dep_delay")).sum()),
    ),
    "mean delay weighted by distance": Question(
        columns=("distance", "arr_delay"),
        derived={"delayed": "distance * arr_delay"},
        asked=f"ratio: [delayed, distance], {SHARE}",
        answer=weighted,
    ),
    "flights of protected planes": Question(
        columns=("tailnum", "month", "origin"),
        asked="count: rows, by: [month, origin], contributes: {rows: 15, groups: 36}, "
        f"{SHARE}",
        answer=lambda frame: grouped(ROWS, col("month"), col("origin"))(
            frame.drop_nulls("tailnum")
        ),
        privacy=PLANE,
    ),
}
