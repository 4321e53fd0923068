"""Hypothesis frames full of what real columns hold and nobody expects."""

from __future__ import annotations

from typing import Any

import polars as pl
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

RELAXED = settings(
    max_examples=60,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
"""Fewer examples, in whatever time: each of them writes files."""

FLOATS = st.one_of(
    st.sampled_from(
        [
            0.0,
            -0.0,
            0.1,
            0.5,
            1.5,
            2.5,
            12.34,
            17.5,
            18.0,
            100.0,
            19999.995,
            20000.0,
            5e-324,
            2.2e-308,
            1e308,
            -1e308,
            1.7976931348623157e308,
            float("nan"),
            float("inf"),
            float("-inf"),
        ]
    ),
    st.floats(),
    st.floats(-60, 160),
)
INTEGERS = st.one_of(
    st.sampled_from([-(2**63), 2**63 - 1, 0, 1, -1, 3, 16, 17, 18, 64, 65, 100, 101]),
    st.integers(-(2**63), 2**63 - 1),
    st.integers(-5, 120),
)
TEXTS = st.one_of(
    st.sampled_from(
        [
            "",
            "0",
            "17",
            "17.5",
            "+3",
            "-3",
            "0.1",
            ".5",
            "5.",
            "1e3",
            "1E-3",
            "1e400",
            "inf",
            "-Infinity",
            "nan",
            "NaN",
            " 1",
            "1 ",
            "1_000",
            "0x10",
            "99999999999999999999",
            "9223372036854775807",
            "n/a",
            "\x00",
            "north",
            "élan",
            "1",
            "日本",
        ]
    ),
    st.integers(-(10**30), 10**30).map(str),
    st.floats(allow_nan=False).map(repr),
    st.text(max_size=5),
)
NUMBERS: list[tuple[Any, Any]] = [
    (pl.Float64, FLOATS),
    (pl.Int64, INTEGERS),
    (pl.String, TEXTS),
    (pl.Float32, st.floats(width=32)),
    (pl.Int8, st.integers(-128, 127)),
    (pl.UInt64, st.integers(0, 2**64 - 1)),
    (pl.Int128, st.integers(-(2**127), 2**127 - 1)),
    (pl.Boolean, st.booleans()),
    (pl.Null, st.none()),
]
WORDS: list[tuple[Any, Any]] = [
    (pl.String, st.sampled_from(["north", "élan", "日本", "1", "a", "b", "A", ""])),
    (pl.String, st.text(max_size=3)),
    (pl.Categorical, st.sampled_from(["north", "a", "b", "other"])),
    (pl.Int64, st.integers(0, 2)),
    (pl.Float64, st.sampled_from([1.0, 2.5, float("nan"), -0.0])),
]
UNITS: list[tuple[Any, Any]] = [
    (pl.Int64, st.integers(0, 4)),
    (pl.String, st.sampled_from(["p", "q", "", "\x00", "é"])),
    (pl.Float64, st.sampled_from([1.0, 2.0, float("nan")])),
]
CATEGORIES = ("region", "kind")


@st.composite
def frames(
    draw: st.DrawFn, names: list[str], *, size: int | None = None
) -> pl.DataFrame:
    """Draw a frame of the columns, of any types that are allowed."""
    count = draw(st.integers(0, 12)) if size is None else size
    columns = []
    for name in names:
        kinds = NUMBERS
        if name in CATEGORIES:
            kinds = WORDS
        elif name == "person":
            kinds = UNITS
        dtype, values = draw(st.sampled_from(kinds))
        cells = draw(
            st.lists(st.none() | values, min_size=count, max_size=count),
        )
        columns.append(pl.Series(name, cells, dtype=dtype))
    return pl.DataFrame(columns)
