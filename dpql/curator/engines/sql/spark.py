"""The dialect of Spark, whose sums of integers fail where they leave 64 bits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dpql.curator.engines.sql.dialect import FEW_DIGITS, Dialect, Kind

_KINDS = {
    **dict.fromkeys(("tinyint", "smallint", "int"), Kind.SMALL),
    "bigint": Kind.WHOLE,
    **dict.fromkeys(("double", "float"), Kind.REAL),
    "boolean": Kind.FLAG,
    "date": Kind.DAY,
    "timestamp": Kind.INSTANT,
    "timestamp_ntz": Kind.CLOCK,
}
_TEXTS = ("string", "varchar(", "char(")


@dataclass(frozen=True, slots=True, kw_only=True)
class SparkDialect(Dialect):
    """SQL of Spark from 4.0 under ANSI; 2^42 rows overflow no sum of a limb."""

    name: str = "spark"
    mark: str = "`"
    real: str = "DOUBLE"
    text: str = "STRING"
    binary: str = "({0} COLLATE UTF8_BINARY)"
    divide: str = "DIV"
    limb: int | None = 21

    def literal(self, text: str) -> str | None:
        """Return a text as bytes, for Spark reads backslashes in literals."""
        return f"CAST(X'{text.encode().hex()}' AS STRING)"

    def code(self, word: str, keys: Sequence[str]) -> str:
        """Return the code, found in a list; comparisons of a CASE take longer."""
        listed = ", ".join(filter(None, map(self.literal, keys)))
        return f"(NULLIF(array_position(array({listed}), {word}), 0) - 1)"

    def day_number(self, cell: str) -> str:
        """Return the days from 1970-01-01 to a date."""
        return f"CAST(unix_date({cell}) AS BIGINT)"

    def seconds(self, cell: str, kind: Kind) -> str:
        """Return the whole seconds since 1970 of an instant, or of a wall clock."""
        if kind is Kind.INSTANT:
            micros = f"unix_micros({cell})"
            rest = f"pmod({micros}, 1000000)"
            return f"(({micros} - {rest}) DIV 1000000)"
        clock = (
            f"hour({cell}) * 3600 + minute({cell}) * 60 + CAST(second({cell}) AS INT)"
        )
        return f"(CAST(unix_date(CAST({cell} AS DATE)) AS BIGINT) * 86400 + {clock})"

    def months(self, days: str) -> str:
        """Return the months from year 0 on of days since 1970-01-01."""
        date = f"date_add(DATE'1970-01-01', CAST({days} AS INT))"
        return f"CAST(12 * year({date}) + month({date}) - 1 AS BIGINT)"


def kind_of(dtype: str) -> Kind | None:
    """Return what a type of Spark holds; None where SQL must not read it."""
    if dtype.startswith(_TEXTS):
        return Kind.WORD
    if dtype.startswith("decimal("):
        digits, scale = map(int, dtype[len("decimal(") : -1].split(","))
        if scale == 0:
            return Kind.WIDE
        return Kind.FIXED if digits <= FEW_DIGITS else Kind.LONG
    return _KINDS.get(dtype)


SPARK = SparkDialect()
