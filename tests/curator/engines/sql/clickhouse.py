"""A further dialect in one file: ClickHouse, to show what a dialect takes.

It is no engine of dpql: there is no source of it, and no name in a ledger. Where `chdb`
is installed (half a gigabyte), the tests of SQL run on it, too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dpql.curator.engines.sql.dialect import FEW_DIGITS, Dialect, Kind

SETTINGS = {
    "cast_keep_nullable": 1,
    "precise_float_parsing": 1,
    "prefer_column_name_to_alias": 1,
}
"""What a session must say so that casts keep nulls and texts are the nearest double."""

_CYCLE, _FIRST = 146_097, 25_567
"""Days of 400 years, as many as there are dates, and from 1900 to 1970."""

_KINDS = {
    **dict.fromkeys(("Int8", "Int16", "Int32", "UInt8", "UInt16"), Kind.SMALL),
    **dict.fromkeys(("Int64", "UInt32"), Kind.WHOLE),
    **dict.fromkeys(("Int128", "UInt64"), Kind.WIDE),
    **dict.fromkeys(("Float32", "Float64"), Kind.REAL),
    "Bool": Kind.FLAG,
    "String": Kind.WORD,
    **dict.fromkeys(("Date", "Date32"), Kind.DAY),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ClickhouseDialect(Dialect):
    """SQL of ClickHouse; its sums of integers wrap around without a word."""

    name: str = "clickhouse"
    real: str = "Nullable(Float64)"
    text: str = "Nullable(String)"
    divide: str = "DIV"
    limb: int | None = 21
    bits: str = "bitAnd(bitShiftRight({0}, {1}), {2})"

    def named(self, name: str) -> str:
        """Return an identifier; backslashes are read."""
        return '"' + name.replace("\\", "\\\\").replace('"', '\\"') + '"'

    def literal(self, text: str) -> str | None:
        """Return a text as bytes, for backslashes are read."""
        return f"unhex('{text.encode().hex()}')"

    def is_number(self, cell: str) -> str:
        """Return where a double is no NaN, which differs from itself here."""
        return f"NOT isNaN({cell})"

    def code(self, word: str, keys: Sequence[str]) -> str:
        """Return the code, found in a list."""
        listed = ", ".join(filter(None, map(self.literal, keys)))
        return f"(NULLIF(CAST(indexOf([{listed}], {word}) AS BIGINT), 0) - 1)"

    def wide(self, cell: str) -> str:
        """Return an integer of any size; a decimal fails beside some bounds."""
        return Dialect.wide(self, f"CAST({cell} AS Nullable(Int256))")

    def decimal(self, cell: str, kind: Kind) -> str:
        """Return the nearest double: of many digits it is that of their text."""
        if kind is not Kind.FIXED:
            cell = f"CAST({cell} AS Nullable(String))"
        return f"CAST({cell} AS Nullable(Float64))"

    def days(self, cell: str) -> str:
        """Return the days from 1970-01-01; no date here lies outside 1900 to 2299."""
        return f"CAST(toInt32({cell}) AS BIGINT)"

    def months(self, days: str) -> str:
        """Return the months from year 0 on; dates repeat after 400 years."""
        near = f"(positiveModulo({days} + {_FIRST}, {_CYCLE}) - {_FIRST})"
        date = f"toDate32({near})"
        cycles = f"intDiv({days} - {near}, {_CYCLE})"
        return (
            f"CAST(12 * toYear({date}) + toMonth({date}) - 1 + 4800 * {cycles} "
            "AS BIGINT)"
        )

    def seconds(self, cell: str, kind: Kind) -> str:
        """Return the whole seconds since 1970."""
        del kind
        micros = f"toUnixTimestamp64Micro({cell})"
        return f"intDiv({micros} - positiveModulo({micros}, 1000000), 1000000)"


def kind_of(dtype: str) -> Kind | None:
    """Return what a type of ClickHouse holds; None where SQL must not read it."""
    plain = dtype.removeprefix("Nullable(").removesuffix(")")
    if plain.startswith("Decimal("):
        digits, scale = map(int, plain[len("Decimal(") :].rstrip(")").split(","))
        if scale == 0:
            return Kind.WIDE
        return Kind.FIXED if digits <= FEW_DIGITS else Kind.LONG
    if plain.startswith("DateTime64("):
        return Kind.INSTANT if "'" in plain else Kind.CLOCK
    return _KINDS.get(plain)


CLICKHOUSE = ClickhouseDialect()
