"""A table that a database reads for us, and which of its types SQL may read.

Types decide, before any row: text is never read as a number, a date or a truth, nor a
float as a key, since SQL would fail on a cell or take it for another than sources do.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from dpql.curator.columns import CanonicalColumn, Content, canonical_columns
from dpql.curator.engines.sql.dialect import Dialect, Kind
from dpql.errors import Diagnostic, RunFault
from dpql.model.spec import Data

_WHOLE = (Kind.SMALL, Kind.WHOLE, Kind.WIDE)
_NUMBERS = (*_WHOLE, Kind.REAL, Kind.FIXED, Kind.LONG, Kind.FLAG)
_READABLE: Mapping[Content, tuple[Kind, ...]] = {
    Content.WHOLE: _NUMBERS,
    Content.REAL: _NUMBERS,
    Content.CODE: (Kind.SMALL, Kind.WHOLE, Kind.FLAG, Kind.WORD),
    Content.NUMERIC_CODE: (*_WHOLE, Kind.REAL),
    Content.TRUTH: (*_WHOLE, Kind.FLAG),
    Content.DATE: (Kind.DAY, Kind.CLOCK, Kind.INSTANT),
    Content.TIME: (Kind.DAY, Kind.CLOCK, Kind.INSTANT),
    Content.ID: (Kind.SMALL, Kind.WHOLE, Kind.WORD),
}

Rows = Sequence[Sequence[Any]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """A table in a database.

    Attributes:
        sql_name: its name in SQL.
        kinds: what the stored type of each declared column holds.
        dialect: how its database writes SQL.
        ask: returns the rows of an answer.
        end: ends what was begun to read it.
    """

    sql_name: str
    kinds: Mapping[str, Kind]
    dialect: Dialect
    ask: Callable[[str], Rows] = field(repr=False)
    end: Callable[[], object] = field(default=tuple, repr=False)


def checked_kinds(
    types: Mapping[str, tuple[str, Kind | None]], data: Data, engine: str
) -> dict[str, Kind]:
    """Return what each declared column holds.

    Args:
        types: the name of each column's type, and what it holds.
        data: the declaration.
        engine: the engine that would read them.

    Raises:
        RunFault: DPQL504, by column and type.
    """
    columns = canonical_columns(data)
    faults = [
        Diagnostic(
            "DPQL504",
            f"column `{column.name}` is of type {dtype.partition('(')[0].lower()}, "
            f"which the engine `{engine}` does not read as "
            f"{_what(column)}",
            hint="leave the engine out: then rows are read, and of text, too"
            if engine != "spark"
            else "cast the column in a table or DataFrame of your own",
        )
        for column in columns
        for dtype, kind in [types[column.name]]
        if kind not in _READABLE[column.content]
    ]
    if faults:
        raise RunFault(faults)
    return {name: kind for name, (_, kind) in types.items() if kind is not None}


def not_read(engine: str, what: str, source: str) -> RunFault:
    """Return the fault of data that another engine reads."""
    return RunFault.of(
        "DPQL502",
        f"the engine `{engine}` does not read the data of `{source}`",
        hint=f"it reads {what}; leave `--engine` out for other data",
    )


def _what(column: CanonicalColumn) -> str:
    return f"a {column.content.value}" if column.content is not Content.ID else "an id"


NATURAL: Mapping[Content, Kind] = {
    Content.WHOLE: Kind.WHOLE,
    Content.REAL: Kind.REAL,
    Content.CODE: Kind.WORD,
    Content.NUMERIC_CODE: Kind.WHOLE,
    Content.TRUTH: Kind.FLAG,
    Content.DATE: Kind.DAY,
    Content.TIME: Kind.CLOCK,
    Content.ID: Kind.WORD,
}
"""What a table most likely holds, for a reader of SQL before there is one."""


def imagined_table(data: Data, dialect: Dialect) -> Table:
    """Return a table as its declaration suggests; nobody can ask it anything."""

    def ask(_: str) -> Rows:
        raise AssertionError("there is no such table")

    return Table(
        sql_name=dialect.named(data.source),
        kinds={x.name: NATURAL[x.content] for x in canonical_columns(data)},
        dialect=dialect,
        ask=ask,
    )
