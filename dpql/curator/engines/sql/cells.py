"""Canonical cells in SQL: each column is read once, in the first subquery.

    cells    canonical columns, each under an alias: x0, x1 ...
    then     what is computed of these and needed more than once: y0, y1 ...

Numbers are integers of 64 bits, or doubles that are never NaN; keys are codes. A cell
that has no such form is null, as in `dpql.curator.sources.canonical`.
"""

from __future__ import annotations

from dpql.curator.columns import CanonicalColumn, Content, Form, canonical_columns
from dpql.curator.engines.sql.dialect import (
    Kind,
    as_integer,
    choice,
    clamped,
    of_known_years,
)
from dpql.curator.engines.sql.table import Table
from dpql.curator.grid import FARTHEST
from dpql.model.spec import Data

_INSTANTS = (Kind.CLOCK, Kind.INSTANT)
_DAY = 86_400
_INTEGERS = (Kind.SMALL, Kind.WHOLE)


class Cells:
    """The columns of a table that a statement reads, and what it makes of them."""

    def __init__(self, data: Data, table: Table) -> None:
        self.data = data
        self.sql = table.dialect
        self._table = table
        self._columns = {column.name: column for column in canonical_columns(data)}
        self._read: dict[str, str] = {}
        self._made: dict[str, str] = {}

    def read(self, expression: str) -> str:
        """Return the alias of what is read from the table."""
        return self._read.setdefault(expression, f"x{len(self._read)}")

    def made(self, expression: str) -> str:
        """Return the alias of what is computed of aliases."""
        return self._made.setdefault(expression, f"y{len(self._made)}")

    def text(self) -> tuple[str, str]:
        """Return the subqueries that make all aliases, and the name of the last."""
        fence = self.sql.fence
        read = ",\n    ".join(f"{x} AS {alias}" for x, alias in self._read.items())
        found = f"WITH cells AS (SELECT\n    {read or '1 AS one'}\n"
        found += f"  FROM {self._table.sql_name}{fence})"
        last = "cells"
        for made, alias in self._made.items():
            name = f"with_{alias}"
            found += f",\n{name} AS (SELECT *,\n    {made} AS {alias}\n"
            found += f"  FROM {last}{fence})"
            last = name
        return found, last

    def kind(self, name: str) -> Kind:
        """Return what the stored type of a column holds."""
        return self._table.kinds[name]

    def is_real(self, name: str) -> bool:
        """Tell whether the canonical cells of a declared column are doubles."""
        return self._columns[name].form is Form.REAL

    def cell(self, name: str) -> str:  # noqa: PLR0911  one per content
        """Return the canonical cell of a declared column.

        Integers of 64 bits may lie beyond the farthest: comparisons allow for it.
        """
        column = self._columns[name]
        stored, kind = self.sql.named(name), self._table.kinds[name]
        match column.content:
            case Content.WHOLE:
                return self._whole(stored, kind)
            case Content.REAL:
                return self.read(self._real(stored, kind))
            case Content.CODE:
                code = self._code(column, stored, kind)
                return self.read(self._with_others(code, column, stored, kind))
            case Content.NUMERIC_CODE:
                code = self._numeric_code(column, stored, kind)
                return self.read(self._with_others(code, column, stored, kind))
            case Content.TRUTH:
                return self.read(self._truth(stored, kind))
            case Content.ID:
                return self.read(self._id(stored, kind))
            case _:
                return self._instant(column, stored, kind)

    def inside(self, name: str, lower: float, upper: float, fill: float | None) -> str:
        """Return the cell of a real column within bounds; the fill where it is null.

        Of floats only those that are not below the upper bound may be NaN.
        """
        kind = self._table.kinds[name]
        low, high = self.sql.double(lower), self.sql.double(upper)
        if kind is not Kind.REAL:
            number = clamped(self.cell(name), low, high)
            return number if fill is None else self._filled(number, fill)
        stored = self.sql.named(name)
        real = f"CAST({stored} AS {self.sql.real})"
        missing = "" if fill is None else f" ELSE {self.sql.double(fill)}"
        return self.read(
            f"CASE WHEN {stored} BETWEEN {low} AND {high} THEN {real} "
            f"WHEN {stored} < {low} THEN {low} "
            f"WHEN {self.sql.is_number(stored)} THEN {high}{missing} END"
        )

    def _filled(self, number: str, fill: float) -> str:
        return f"COALESCE({number}, {self.sql.double(fill)})"

    def _real(self, stored: str, kind: Kind) -> str:
        real = f"CAST({stored} AS {self.sql.real})"
        match kind:
            case Kind.REAL:
                return f"CASE WHEN {self.sql.is_number(stored)} THEN {real} END"
            case Kind.SMALL | Kind.WHOLE:
                return real
            case Kind.FLAG:
                one, none = self.sql.double(1.0), self.sql.double(0.0)
                return (
                    f"CASE WHEN {stored} THEN {one} WHEN NOT {stored} THEN {none} END"
                )
            case _:
                return self.sql.decimal(stored, kind)

    def _whole(self, stored: str, kind: Kind) -> str:
        match kind:
            case Kind.SMALL | Kind.WHOLE:
                return self.read(as_integer(stored))
            case Kind.WIDE:
                return self.read(self.sql.wide(stored))
            case Kind.FLAG:
                return self.read(self._truth(stored, kind))
            case Kind.FIXED | Kind.LONG:
                return self.read(self.sql.nearest(stored))
        # A double less its floor is exact; a double plus a half need not be.
        ends = (self.sql.double(sign * float(FARTHEST)) for sign in (-1, 1))
        number = self.read(clamped(self._real(stored, kind), *ends))
        up = f"CASE WHEN {number} - FLOOR({number}) >= 0.5 THEN 1 ELSE 0 END"
        return self.made(f"({self.sql.floor(number)} + {up})")

    def _truth(self, stored: str, kind: Kind) -> str:
        if kind is Kind.FLAG:
            found = f"WHEN {stored} THEN 1 WHEN NOT {stored} THEN 0"
        else:
            found = f"WHEN {stored} = 1 THEN 1 WHEN {stored} = 0 THEN 0"
        return as_integer(f"CASE {found} END")

    def _code(self, column: CanonicalColumn, stored: str, kind: Kind) -> str:
        if kind is Kind.WORD:
            return self.sql.code(self.sql.words(stored), column.keys)
        codes = {key: code for code, key in enumerate(column.keys)}
        if kind is Kind.FLAG:
            found = [
                f"WHEN {test} THEN {codes[word]}"
                for word, test in (("true", stored), ("false", f"NOT {stored}"))
                if word in codes
            ]
            return f"CASE {' '.join(found)} END" if found else choice(stored, [])
        return choice(stored, [(k, c) for k, c in codes.items() if _is_whole(k)])

    def _numeric_code(self, column: CanonicalColumn, stored: str, kind: Kind) -> str:
        keys = [(int(key), code) for code, key in enumerate(column.keys)]
        known = [(key, code) for key, code in keys if abs(key) < FARTHEST]
        if kind is Kind.REAL:
            exact = [(float(key), code) for key, code in known if key == float(key)]
            return choice(stored, [(self.sql.double(x), code) for x, code in exact])
        number = stored if kind in _INTEGERS else self.sql.wide(stored)
        return choice(number, known)

    def _with_others(
        self, code: str, column: CanonicalColumn, stored: str, kind: Kind
    ) -> str:
        if not column.others:
            return code
        there = f"{stored} IS NOT NULL"
        if kind is Kind.REAL:
            there += f" AND {self.sql.is_number(stored)}"
        return f"COALESCE({code}, CASE WHEN {there} THEN {len(column.keys)} END)"

    def _id(self, stored: str, kind: Kind) -> str:
        if kind in _INTEGERS:
            return stored
        return self.sql.word_id(stored)

    def _instant(self, column: CanonicalColumn, stored: str, kind: Kind) -> str:
        if kind is Kind.DAY:
            days = self.read(self.sql.days(stored))
            return (
                days
                if column.content is Content.DATE
                else self.made(f"{days} * {_DAY}")
            )
        seconds = self.read(self.sql.seconds(stored, kind))
        if kind is Kind.INSTANT and column.zone:
            seconds = self.made(f"{seconds} + ({column.zone})")
        seconds = self.made(of_known_years(seconds))
        if column.content is Content.TIME:
            return seconds
        return self.made(floor_divided(seconds, _DAY, self.sql.divide))


def floor_divided(number: str, by: int, divide: str) -> str:
    """Return the floor of a quotient; databases cut quotients off towards 0.

    The number must leave room for the divisor within 64 bits.
    """
    if by == 1:
        return number
    return (
        f"(CASE WHEN {number} >= 0 THEN {number} {divide} {by} "
        f"ELSE -(({by} - 1 - {number}) {divide} {by}) END)"
    )


def _is_whole(key: str) -> bool:
    """Tell whether a key is the text of an integer of 64 bits."""
    if not key.removeprefix("-").isdecimal() or len(key) > len(str(-(1 << 63))):
        return False
    return str(int(key)) == key and -(1 << 63) <= int(key) < 1 << 63
