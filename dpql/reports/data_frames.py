"""A release as a polars frame: values as doubles, keys as text.

These are released values; rows never get here.
"""

from __future__ import annotations

import io
import sys
from fractions import Fraction
from typing import Any

import polars as pl

from dpql.model.many_values import ManyValues
from dpql.model.release import Outcome, Result
from dpql.model.release_tables import (
    NUMBERS,
    STATISTIC,
    TIDY_FROM,
    all_key_columns,
    key_columns,
    noisy_value,
    note_of,
)
from dpql.model.release_text import (
    COLUMNS,
    cell_labels,
    has_intervals,
    stated_accuracy,
)

_DOUBLES = ("value", "noisy", "lower", "upper", "accuracy", "alpha")


def outcome_frame(outcome: Outcome) -> pl.DataFrame:
    """Return one row per value of every statistic, columns as in the csv."""
    if outcome.plan.version < TIDY_FROM:
        return _older_frame(outcome)
    columns = STATISTIC, *all_key_columns(outcome.plan.steps), *NUMBERS
    frames = [
        result_frame(result).with_columns(pl.lit(result.name).alias(STATISTIC))
        for result in outcome.results
    ]
    return pl.concat(frames, how="diagonal").select(columns)


def result_frame(result: Result) -> pl.DataFrame:
    """Return one row per value, with a column for every key."""
    numbers = _numbers(result)
    cells = ManyValues.of(result.values).cells
    keys = {
        name: [cell[index] for cell in cells]
        for index, name in enumerate(key_columns(result.step))
    }
    return pl.DataFrame({**keys, **numbers}, schema=_schema((*keys, *numbers)))


def parquet_bytes(outcome: Outcome) -> bytes:
    """Return the frame of all values as a parquet file."""
    target = io.BytesIO()
    outcome_frame(outcome).write_parquet(target)
    return target.getvalue()


def _older_frame(outcome: Outcome) -> pl.DataFrame:
    """Return the frame of a release of formats 1 to 3."""
    frames = []
    for result in outcome.results:
        count = len(result.values)
        numbers = _numbers(result)
        del numbers["noisy"], numbers["note"]
        cells = {
            "statistic": [result.name] * count,
            "cell": list(cell_labels(outcome.plan, result)),
            **numbers,
            "exact": [str(value.value) for value in result.values],
        }
        frames.append(pl.DataFrame(cells, schema=_schema(COLUMNS)))
    return pl.concat(frames)


def _schema(columns: tuple[str, ...]) -> dict[str, Any]:
    return {name: pl.Float64 if name in _DOUBLES else pl.String for name in columns}


def _numbers(result: Result) -> dict[str, list[Any]]:
    many, known = ManyValues.of(result.values), has_intervals(result)
    count, each = len(many), many.each
    if result.step.names_only:
        return {name: [None] * count for name in NUMBERS}
    return {
        "value": list(each(lambda value: _double(value.value))),
        "noisy": list(each(lambda value: _optional(noisy_value(result, value)))),
        "lower": list(each(lambda value: _double(value.lower) if known else None)),
        "upper": list(each(lambda value: _double(value.upper) if known else None)),
        "accuracy": [_optional(stated_accuracy(result))] * count,
        "alpha": [_double(result.alpha)] * count,
        "unit": [result.unit] * count,
        "note": list(each(lambda value: note_of(result.step, value) or None)),
    }


def _optional(number: Fraction | None) -> float | None:
    return None if number is None else _double(number)


def _double(x: Fraction) -> float:
    """Return the nearest double; beyond the largest double, that one."""
    try:
        return x.numerator / x.denominator
    except OverflowError:
        return sys.float_info.max if x > 0 else -sys.float_info.max
