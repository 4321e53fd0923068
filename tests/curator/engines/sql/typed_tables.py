"""Many small frames as one table of a database, so that one plan checks them all.

The number of a frame is a declared category, every statistic is by it. A database has a
type for each column, so there is a table for each set of types.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from decimal import Decimal
from functools import cache
from typing import Any, TypeVar

import polars as pl
from curator_plans import ALL_FILLED, COLUMNS, KNOWN, ROWS, _shared
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from spec_text import make_spec

from dpql.model.plan import Plan
from dpql.planner import plan

T = TypeVar("T")

FRAMES = 12
"""Frames of a table."""

NUMBERS = [name for name in COLUMNS if name not in ("region", "kind")]
_KEYS = "[" + ", ".join(f'"{number}"' for number in range(FRAMES)) + "]"
FRAME = {"frame": f"{{type: category, keys: {_KEYS}}}"}

_FLOATS = st.one_of(
    st.sampled_from([0.0, -0.0, 0.1, 0.5, 1.5, 2.5, 12.34, 17.5, 18.0, 100.0]),
    st.sampled_from([149.99999999999997, 19999.995, 20000.0, 0.49999999999999994]),
    st.sampled_from([5e-324, -5e-324, 2.2e-308, 1e308, -1e308, 1e-300, 2.0**53 + 2]),
    st.sampled_from([1.7976931348623157e308, math.nan, math.inf, -math.inf]),
    st.floats(),
    st.floats(-60, 160),
)
_INTEGERS = st.one_of(
    st.sampled_from([-(2**63), 2**63 - 1, 0, 1, -1, 3, 16, 17, 18, 64, 65, 100, 101]),
    st.sampled_from([2**62, 2**62 + 1, -(2**62) - 1, 2**60, 10**18]),
    st.integers(-5, 120),
)


def _decimals(digits: int, scale: int) -> st.SearchStrategy[Decimal]:
    most = 10**digits - 1
    edges = [most, -most, 5 * 10**scale // 10, -5 * 10**scale // 10, 0, 1, -1]
    number = st.one_of(
        st.integers(-most, most),
        st.integers(-5 * 10**scale, 120 * 10**scale),
        st.sampled_from(edges),
    )
    inside = number.map(lambda x: max(-most, min(most, x)))
    return inside.map(lambda x: Decimal(f"{x}e-{scale}"))


TYPES: Mapping[str, tuple[Any, st.SearchStrategy[Any]]] = {
    "double": (pl.Float64, _FLOATS),
    "float": (pl.Float32, st.floats(width=32) | st.floats(-60, 160, width=32)),
    "bigint": (pl.Int64, _INTEGERS),
    "int": (pl.Int32, st.integers(-(2**31), 2**31 - 1) | st.integers(-5, 120)),
    "smallint": (pl.Int16, st.integers(-(2**15), 2**15 - 1) | st.integers(-5, 120)),
    "boolean": (pl.Boolean, st.booleans()),
    "decimal(38,0)": (pl.Decimal(38, 0), _decimals(38, 0)),
    "decimal(38,4)": (pl.Decimal(38, 4), _decimals(38, 4)),
    "decimal(38,20)": (pl.Decimal(38, 20), _decimals(38, 20)),
    "decimal(12,2)": (pl.Decimal(12, 2), _decimals(12, 2)),
}
"""Name of a type -> the type of polars, and cells."""

TYPE_SETS: Mapping[str, Mapping[str, str]] = {
    "doubles": dict.fromkeys(NUMBERS, "double"),
    "bigints": dict.fromkeys(NUMBERS, "bigint"),
    "decimals": dict(
        zip(
            NUMBERS,
            [
                *("decimal(38,0)", "decimal(38,4)", "decimal(12,2)"),
                *("decimal(38,20)", "decimal(38,4)", "decimal(38,0)"),
            ],
            strict=True,
        )
    ),
    "small": dict(
        zip(
            NUMBERS,
            ("smallint", "boolean", "float", "float", "boolean", "int"),
            strict=True,
        )
    ),
}
WORDS = [
    "north",
    "élan",
    "日本",
    "1",
    "a",
    "b",
    "A",
    "",
    "NORTH",
    "nor\\th",
    "o'x",
    "x",
]


def drawn(strategy: st.SearchStrategy[T], count: int) -> list[T]:
    """Return so many examples, the same ones every time."""
    found: list[T] = []

    @settings(
        max_examples=count,
        derandomize=True,
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(strategy)
    def collect(one: T) -> None:
        found.append(one)

    collect()
    return found


def _row(types: Mapping[str, str]) -> st.SearchStrategy[tuple[Any, ...]]:
    words = st.none() | st.sampled_from(WORDS)
    kinds = st.none() | st.sampled_from(["a", "b", "A", "c"])
    units = st.none() | st.integers(0, 2)
    numbers = (st.none() | TYPES[types[name]][1] for name in NUMBERS)
    return st.tuples(units, words, kinds, *numbers)


@cache
def table(type_set: str, size: int | None = None) -> pl.DataFrame:
    """Return a table of frames, each of up to a dozen rows, or of so many."""
    types = TYPE_SETS[type_set]
    least, most = (0, 12) if size is None else (size, size)
    frames = drawn(st.lists(_row(types), min_size=least, max_size=most), 4 * FRAMES)
    # Hypothesis begins with the simplest.
    rows = [
        (f"{number}:{unit}" if unit is not None else None, str(number), *cells)
        for number, frame in enumerate(frames[-FRAMES:])
        for unit, *cells in frame
    ]
    schema = {
        **dict.fromkeys(["person", "frame", "region", "kind"], pl.String),
        **{name: TYPES[types[name]][0] for name in NUMBERS},
    }
    return pl.DataFrame(rows, schema=schema, orient="row")


def _by_frame(statistics: Mapping[str, Any]) -> dict[str, dict[str, str]]:
    return {
        name: {**one, "by": f"[frame, {one['by'].strip('[]')}]"}
        if "by" in one
        else {**one, "by": "[frame]"}
        for name, one in statistics.items()
    }


@cache
def rows_plan() -> Plan:
    """Return a plan of all statistics by frame, where each row is a unit."""
    statistics = _shared(_by_frame(ROWS))
    return plan(make_spec({**FRAME, **COLUMNS}, statistics, epsilon="10"))


@cache
def units_plan(rows: int = 20, groups: int = 20) -> Plan:
    """Return the same plan where units have several rows."""
    return plan(
        make_spec(
            {"person": "{type: id}", **FRAME, **COLUMNS},
            _shared(_by_frame(ROWS)),
            unit="person",
            contributes=f"{{rows: {rows}, groups: {groups}}}",
            epsilon="10",
        )
    )


@cache
def known_rows_plan(count: int) -> Plan:
    """Return a plan of the statistics of a public number of rows."""
    return plan(
        make_spec(
            ALL_FILLED,
            _shared(KNOWN),
            rows=f"{{exactly: {count}}}",
            neighbours="replace_one",
            epsilon="10",
        )
    )


def columns_of(made: Plan, frame: pl.DataFrame) -> pl.DataFrame:
    """Return the columns of a frame that a plan declares."""
    return frame.select([column.name for column in made.spec.data.columns])


Writer = Callable[[pl.DataFrame], Any]
"""Writes a frame into a new table, and returns what a run is given."""
