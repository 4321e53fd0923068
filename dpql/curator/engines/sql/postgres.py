"""The dialect of PostgreSQL, where both overflow and underflow of a double fail."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dpql.curator.columns import LONGEST_CELL
from dpql.curator.engines.sql.dialect import Dialect, Kind

KINDS = {
    **dict.fromkeys(("int2", "int4"), Kind.SMALL),
    "int8": Kind.WHOLE,
    **dict.fromkeys(("float4", "float8"), Kind.REAL),
    "numeric": Kind.LONG,
    "bool": Kind.FLAG,
    **dict.fromkeys(
        ("text", "varchar", "bpchar", "char", "name", "uuid", "citext", "enum"),
        Kind.WORD,
    ),
    "date": Kind.DAY,
    "timestamp": Kind.CLOCK,
    "timestamptz": Kind.INSTANT,
}
"""What the types hold that the source reads."""

_LEAST, _MOST = "2.4703282292062329e-324", "1.797693134862315808e308"
"""Decimals of a smaller size are 0 as a double, and larger ones infinite."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PostgresDialect(Dialect):
    """SQL of PostgreSQL from 13; its sums of 64-bit integers are NUMERIC."""

    name: str = "postgres"
    binary: str = '({0} COLLATE "C")'
    fence: str = " OFFSET 0"
    answer: str = "CAST({0} AS TEXT)"

    def literal(self, text: str) -> str | None:
        """Return a text; it is the same whatever the server makes of backslashes."""
        if "\0" in text:
            return None
        quoted = Dialect.literal(self, text)
        return f"E{quoted}".replace("\\", "\\\\") if "\\" in text else quoted

    def word_id(self, cell: str) -> str:
        """Return an id that is text; none where it is empty, or too long to be read."""
        word = self.words(cell)
        fits = f"OCTET_LENGTH({word}) BETWEEN 1 AND {LONGEST_CELL}"
        return f"CASE WHEN {fits} THEN {word} END"

    def wide(self, cell: str) -> str:
        """Return a NUMERIC as an integer; NaN is null."""
        return Dialect.wide(self, f"NULLIF({cell}, 'NaN')")

    def decimal(self, cell: str, kind: Kind) -> str:
        """Return the nearest double; the cast fails beyond doubles on either side."""
        del kind
        real = self.real
        return (
            f"CASE WHEN ABS({cell}) < {_LEAST} THEN 0 "
            f"WHEN ABS({cell}) < {_MOST} THEN CAST({cell} AS {real}) "
            f"WHEN {cell} = 'NaN' THEN NULL "
            f"WHEN {cell} > 0 THEN CAST('inf' AS {real}) "
            f"WHEN {cell} < 0 THEN CAST('-inf' AS {real}) END"
        )

    def seconds(self, cell: str, kind: Kind) -> str:
        """Return the whole seconds since 1970; an infinite timestamp has none."""
        first, last = "'0001-01-01'", "'10000-01-01'"
        if kind is Kind.INSTANT:
            first, last = "'0001-01-02Z'", "'9999-12-31Z'"
        floor = f"EXTRACT(EPOCH FROM date_trunc('second', {cell}))"
        inside = f"{cell} >= {first} AND {cell} < {last}"
        return f"CASE WHEN {inside} THEN CAST({floor} AS BIGINT) END"

    def product(self, above: str, scale: float) -> str:
        """Return the product; a small number is 0 before it could underflow."""
        found = Dialect.product(self, above, scale)
        if scale >= 1:
            return found
        small = self.double(0.25 / scale)
        return f"CASE WHEN {above} < {small} THEN {self.double(0.0)} ELSE {found} END"

    def reached(self, cell: str, starts: Sequence[int] | Sequence[float]) -> str:
        """Return the index by a function that searches a list."""
        whole = isinstance(starts[0], int)
        kind = "BIGINT" if whole else self.real
        listed = ",".join(map(repr, starts))
        found = f"width_bucket({cell}, '{{{listed}}}'::{kind}[])"
        return f"GREATEST({found} - 1, 0)"


POSTGRES = PostgresDialect()
