"""A release as a polars frame: values as doubles, with the exact text beside.

These are released values; rows never get here.
"""

from __future__ import annotations

import io
import sys
from fractions import Fraction
from typing import Any

import polars as pl

from dpql.model.release import Outcome, Result
from dpql.model.release_text import (
    COLUMNS,
    cell_labels,
    has_intervals,
    stated_accuracy,
)

_SCHEMA: dict[str, Any] = {
    name: pl.Float64
    if name in ("value", "lower", "upper", "accuracy", "alpha")
    else pl.String
    for name in COLUMNS
}


def outcome_frame(outcome: Outcome) -> pl.DataFrame:
    """Return one row per value of every statistic, columns as in the csv."""
    frames = [
        pl.DataFrame(
            {
                "statistic": [result.name] * len(result.values),
                "cell": list(cell_labels(outcome.plan, result)),
                **_numbers(result),
            },
            schema=_SCHEMA,
        )
        for result in outcome.results
    ]
    return pl.concat(frames)


def result_frame(result: Result) -> pl.DataFrame:
    """Return one row per value, with a column for every heading.

    A group's heading that is also the name of another column gets the prefix ``by_``.
    """
    numbers = _numbers(result)
    keys: dict[str, list[str]] = {}
    groups = len(result.step.by)
    for index, heading in enumerate(result.headings):
        others = (*numbers, *result.headings[groups:])
        taken = heading in others if index < groups else heading in numbers
        name = f"by_{heading}" if taken else heading
        keys[name] = [value.cell[index] for value in result.values]
    schema = dict.fromkeys(keys, pl.String) | {n: _SCHEMA[n] for n in numbers}
    return pl.DataFrame({**keys, **numbers}, schema=schema)


def parquet_bytes(outcome: Outcome) -> bytes:
    """Return the frame of all values as a parquet file."""
    target = io.BytesIO()
    outcome_frame(outcome).write_parquet(target)
    return target.getvalue()


def _numbers(result: Result) -> dict[str, list[Any]]:
    count, known = len(result.values), has_intervals(result)
    return {
        "value": [_double(value.value) for value in result.values],
        "lower": [_double(value.lower) if known else None for value in result.values],
        "upper": [_double(value.upper) if known else None for value in result.values],
        "accuracy": [_optional(stated_accuracy(result))] * count,
        "alpha": [_double(result.alpha)] * count,
        "unit": [result.unit] * count,
        "exact": [str(value.value) for value in result.values],
    }


def _optional(number: Fraction | None) -> float | None:
    return None if number is None else _double(number)


def _double(x: Fraction) -> float:
    """Return the nearest double; beyond the largest double, that one."""
    try:
        return x.numerator / x.denominator
    except OverflowError:
        return sys.float_info.max if x > 0 else -sys.float_info.max
