"""The dialect of DuckDB."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from dpql.curator.engines.sql.dialect import FEW_DIGITS, Dialect, Kind

_KINDS = {
    **dict.fromkeys(
        ("TINYINT", "SMALLINT", "INTEGER", "UTINYINT", "USMALLINT"), Kind.SMALL
    ),
    **dict.fromkeys(("BIGINT", "UINTEGER"), Kind.WHOLE),
    **dict.fromkeys(("HUGEINT", "UBIGINT"), Kind.WIDE),
    **dict.fromkeys(("DOUBLE", "FLOAT"), Kind.REAL),
    "BOOLEAN": Kind.FLAG,
    "VARCHAR": Kind.WORD,
    "DATE": Kind.DAY,
    "TIMESTAMP": Kind.CLOCK,
    "TIMESTAMP WITH TIME ZONE": Kind.INSTANT,
}
_FEWEST_BINS = 4
"""With fewer, comparisons are as fast as arithmetic."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DuckdbDialect(Dialect):
    """SQL of DuckDB; its sums of 64-bit integers have 128 bits."""

    name: str = "duckdb"
    real: str = "DOUBLE"
    text: str = "VARCHAR"
    binary: str = '({0} COLLATE "binary")'
    divide: str = "//"

    def code(self, word: str, keys: Sequence[str]) -> str:
        """Return the code, by a function run once for each word of a dictionary."""
        words = ", ".join(filter(None, map(self.literal, keys)))
        return f"(NULLIF(list_position([{words}], {word}), 0) - 1)"

    def wide(self, cell: str) -> str:
        """Return an integer of any size; its type must not decide that of a bound."""
        return Dialect.wide(self, f"CAST({cell} AS HUGEINT)")

    def decimal(self, cell: str, kind: Kind) -> str:
        """Return the nearest double: of many digits it is that of their text."""
        if kind is not Kind.FIXED:
            cell = f"CAST({cell} AS VARCHAR)"
        return f"CAST({cell} AS DOUBLE)"

    def nearest(self, cell: str) -> str:
        """Return the nearest integer; the floor of the least decimal may be too far."""
        rest = f"({cell} % 1)"
        up = f"CASE WHEN {rest} >= 0.5 THEN 1 WHEN {rest} < -0.5 THEN -1 ELSE 0 END"
        return f"({self.wide(f'({cell} - {rest})')} + {up})"

    def seconds(self, cell: str, kind: Kind) -> str:
        """Return the whole seconds since 1970; an infinite timestamp has none."""
        del kind
        number = f"epoch_us({cell})"
        rest = f"(({number} % 1000000 + 1000000) % 1000000)"
        floor = f"(({number} - {rest}) // 1000000)"
        return f"CASE WHEN isfinite({cell}) THEN {floor} END"

    def reached(self, cell: str, starts: Sequence[int] | Sequence[float]) -> str:
        """Return the index by arithmetic, where that finds every bin exactly."""
        found = progression(starts)
        if found is None:
            return Dialect.reached(self, cell, starts)
        first, width, scale = map(self.double, found)
        near = f"FLOOR(({cell} - {first}) * {scale})"
        last = len(starts) - 1
        return (
            f"CAST(CASE WHEN {cell} < {near} * {width} + {first} THEN {near} - 1 "
            f"WHEN {near} > {last} THEN {last} ELSE {near} END AS INTEGER)"
        )


def progression(
    starts: Sequence[int] | Sequence[float],
) -> tuple[float, float, float] | None:
    """Return first, width and scale where arithmetic finds every start exactly.

    floor((x - first) * scale) never falls as x grows, for each operation is monotone.
    So it is right, or one too high, on all of a bin if it is at the first double of the
    bin and at the last before the next; one comparison with the start, which is exact
    by this check, mends it. Whatever lies beyond the last start is of the last bin.
    """
    if len(starts) < _FEWEST_BINS or any(isinstance(one, int) for one in starts):
        return None
    first, width = starts[0], starts[1] - starts[0]
    scale = 1 / width
    if not 0 < scale < float("inf"):
        return None
    for index, (start, stop) in enumerate(pairwise(starts)):
        last = float(np.nextafter(stop, -np.inf))
        low, high = ((x - first) * scale // 1 for x in (start, last))
        exact = index * width + first == start
        if not (exact and low == index and high in (index, index + 1)):
            return None
    index = len(starts) - 1
    exact = index * width + first == starts[-1]
    return (
        (first, width, scale)
        if exact and (starts[-1] - first) * scale // 1 == index
        else None
    )


def kind_of(dtype: str) -> Kind | None:
    """Return what a type of DuckDB holds; None where SQL must not read it."""
    if dtype.startswith("ENUM"):
        return Kind.WORD
    if dtype.startswith("DECIMAL("):
        digits, scale = map(int, dtype[len("DECIMAL(") : -1].split(","))
        if scale == 0:
            return Kind.WIDE
        return Kind.FIXED if digits <= FEW_DIGITS else Kind.LONG
    return _KINDS.get(dtype)


DUCKDB = DuckdbDialect()
