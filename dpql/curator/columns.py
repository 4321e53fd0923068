"""The four canonical forms of a cell; whatever has no such form is null.

    WHOLE   the nearest integer, ties up, in 64 bits; dates, times and booleans, too
    REAL    the nearest double; infinities stay, NaN is null
    CODE    the number of a word among the declared keys, counted from 0
    ID      an integer of 64 bits, or bytes: equal ids, and no others, have equal cells

Sources make canonical cells, and engines meet no others: no text, no NaN, no type that
nobody declared. The form of a column follows from its declaration. Only for an id the
stored types decide between integers and bytes, once for the whole source.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import assert_never

from dpql.curator.grid import is_whole
from dpql.model.spec import (
    BooleanColumn,
    CategoryColumn,
    Column,
    Data,
    DateColumn,
    IdColumn,
    NumberColumn,
    PrivateColumn,
    TimeColumn,
)

LONGEST_CELL = 1 << 19
"""Bytes of the longest text of PostgreSQL, which cannot send a gigabyte of one row."""

_WIDTHS = (8, 16, 32)


class Form(Enum):
    """What the cells of a canonical column are."""

    WHOLE = "whole"
    REAL = "real"
    CODE = "code"
    ID = "id"


class Content(Enum):
    """What stored cells are read as, to be brought into a form.

    A numeric code is that of a key which is a whole number; a truth is 0 or 1, a date
    the days since 1970-01-01, a time the seconds since then on the column's clock.
    """

    WHOLE = "whole number"
    REAL = "real number"
    CODE = "key"
    NUMERIC_CODE = "numeric key"
    TRUTH = "boolean"
    DATE = "date"
    TIME = "time"
    ID = "id"


_FORMS = {
    Content.REAL: Form.REAL,
    Content.CODE: Form.CODE,
    Content.NUMERIC_CODE: Form.CODE,
    Content.ID: Form.ID,
}
_SHOWN_KEYS = 12
"""Keys that are printed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CanonicalColumn:
    """A declared column in canonical form; ``keys`` are those of a CODE.

    With ``others`` the code after the last key is that of every cell which is no key,
    and not null. ``zone`` is that of a date or time column: seconds east of Greenwich.
    """

    name: str
    content: Content
    keys: tuple[str, ...] = ()
    others: bool = False
    zone: int = 0

    def __str__(self) -> str:
        if self.form is not Form.CODE:
            return f"{self.name} ({self.content.value})"
        keys = ", ".join(self.keys[:_SHOWN_KEYS])
        more = ", ..." if len(self.keys) > _SHOWN_KEYS else ""
        more += ", and others" if self.others else ""
        return f"{self.name} ({len(self.keys)} keys: {keys}{more})"

    @property
    def codes(self) -> int:
        """How many codes there are."""
        return len(self.keys) + self.others

    @property
    def form(self) -> Form:
        """The form of the cells."""
        return _FORMS.get(self.content, Form.WHOLE)

    @property
    def is_number(self) -> bool:
        """Whether the cells are numbers."""
        return self.form in (Form.WHOLE, Form.REAL)


def canonical_column(column: Column) -> CanonicalColumn:
    """Return the form that a declared column takes."""
    match column:
        case NumberColumn():
            content = Content.WHOLE if is_whole(column) else Content.REAL
            return CanonicalColumn(name=column.name, content=content)
        case CategoryColumn(declared=keys, others=others):
            content = Content.NUMERIC_CODE if column.numeric else Content.CODE
            return CanonicalColumn(
                name=column.name, content=content, keys=keys, others=others
            )
        case IdColumn() | PrivateColumn():
            return CanonicalColumn(name=column.name, content=Content.ID)
        case BooleanColumn():
            return CanonicalColumn(name=column.name, content=Content.TRUTH)
        case DateColumn():
            return CanonicalColumn(name=column.name, content=Content.DATE)
        case TimeColumn():
            return CanonicalColumn(
                name=column.name, content=Content.TIME, zone=60 * column.zone
            )
        case _:
            assert_never(column)


def canonical_columns(data: Data) -> tuple[CanonicalColumn, ...]:
    """Return the declared columns in canonical form, in their order."""
    return tuple(canonical_column(column) for column in data.columns)


def code_bits(keys: int) -> int:
    """Return the width of the integers that hold the codes of so many keys."""
    return next(bits for bits in _WIDTHS if keys <= 1 << bits)
