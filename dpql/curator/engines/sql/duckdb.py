"""The dialect of DuckDB."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dpql.curator.engines.sql.dialect import FEW_DIGITS, Dialect, Kind
from dpql.curator.sources.duckdb_sql import key_code, words

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


@dataclass(frozen=True, slots=True, kw_only=True)
class DuckdbDialect(Dialect):
    """SQL of DuckDB; its sums of 64-bit integers have 128 bits."""

    name: str = "duckdb"
    real: str = "DOUBLE"
    text: str = "VARCHAR"
    divide: str = "//"

    def words(self, cell: str) -> str:
        """Return text that is compared byte by byte, whatever its collation."""
        return words(cell)

    def code(self, word: str, keys: Sequence[str]) -> str:
        """Return the code as a source does."""
        return key_code(word, keys)

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
