"""Declared columns among stored ones: where they stand, and whether their types fit.

All faults about columns are made here. They name columns and types, never cells.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, assert_never

import polars as pl

from dpql.errors import Diagnostic, RunFault
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

_ANY_CELLS = (pl.String, pl.Categorical, pl.Enum, pl.Boolean, pl.Null)
"""Types that can hold numbers, keys and ids alike."""

_TIMES = (pl.String, pl.Categorical, pl.Enum, pl.Null, pl.Date, pl.Datetime)
"""Types that can hold dates and times."""

_WHOLE_IDS = (
    *(pl.Int8, pl.Int16, pl.Int32, pl.Int64),
    *(pl.UInt8, pl.UInt16, pl.UInt32, pl.Null),
)


def find_columns(names: Sequence[str | None], data: Data) -> dict[str, int]:
    """Return the index of each declared column among the stored names.

    Raises:
        RunFault: DPQL503, a column is missing, or there twice.
    """
    found: dict[str, int] = {}
    twice: set[str] = set()
    for index, name in enumerate(names):
        if name is not None and found.setdefault(name, index) != index:
            twice.add(name)
    faults = [
        Diagnostic(
            "DPQL503",
            f"column `{column.name}` is there twice in the data of `{data.source}`"
            if column.name in twice
            else f"no column `{column.name}` in the data of `{data.source}`",
        )
        for column in data.columns
        if column.name not in found or column.name in twice
    ]
    if faults:
        raise RunFault(faults)
    return {column.name: found[column.name] for column in data.columns}


def check_types(types: Mapping[str, Sequence[Any]], data: Data) -> None:
    """Refuse types that cannot hold what is declared.

    Args:
        types: the stored types of each column: of polars, or the names of types that
            polars does not have.
        data: the declaration.

    Raises:
        RunFault: DPQL504, by column and type.
    """
    wrong = {
        column: dtype
        for column in data.columns
        for dtype in types[column.name]
        if not _can_hold(dtype, column)
    }
    if wrong:
        raise RunFault(
            Diagnostic(
                "DPQL504",
                f"column `{column.name}` is of type {_type_name(dtype)}, "
                f"which cannot hold {_contents(column)}",
            )
            for column, dtype in wrong.items()
        )


def is_whole_id(dtype: Any) -> bool:
    """Tell whether all ids of a stored type are integers of 64 bits."""
    return dtype in _WHOLE_IDS


def whole_ids(types: Mapping[str, Any]) -> frozenset[str]:
    """Return the columns of such types, given by column."""
    return frozenset(name for name, dtype in types.items() if is_whole_id(dtype))


def _can_hold(dtype: Any, column: Column) -> bool:  # noqa: PLR0911  one per type
    if isinstance(dtype, str):
        return False
    if isinstance(column, DateColumn | TimeColumn):
        return isinstance(dtype, _TIMES)
    if isinstance(dtype, _ANY_CELLS):
        return True
    match column:
        case NumberColumn():
            return bool(dtype.is_numeric())
        case CategoryColumn():
            decimal = column.numeric and dtype.is_decimal()
            return bool(dtype.is_integer() or dtype.is_float() or decimal)
        case IdColumn() | PrivateColumn():
            return bool(dtype.is_numeric() or dtype == pl.Binary)
        case BooleanColumn():
            return bool(dtype.is_numeric())
        case _:
            assert_never(column)


def _contents(column: Column) -> str:
    match column:
        case NumberColumn():
            return "numbers"
        case CategoryColumn() | PrivateColumn():
            return "categories"
        case IdColumn():
            return "ids"
        case BooleanColumn():
            return "true or false"
        case DateColumn():
            return "dates"
        case TimeColumn():
            return "times"
        case _:
            assert_never(column)


def _type_name(dtype: Any) -> str:
    """Return the name of the type without what an enum or a struct holds."""
    name = dtype if isinstance(dtype, str) else str(dtype.base_type())
    return name.partition("<")[0].partition("[")[0].partition("(")[0]
