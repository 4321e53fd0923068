"""The declared columns of data: where they stand, and whether their types fit.

All faults about columns are made here. They name columns and types, never what a column
holds.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import Enum
from typing import Any, assert_never

import polars as pl

from dpql.errors import Diagnostic, RunFault
from dpql.model.spec import CategoryColumn, Column, Data, IdColumn, NumberColumn

_WORDS = (pl.String, pl.Categorical, pl.Enum, pl.Boolean, pl.Null)


class Kind(Enum):
    """What a column is declared to hold."""

    NUMBER = "numbers"
    CATEGORY = "categories"
    ID = "ids"


def kind_of(column: Column) -> Kind:
    """Return what the column is declared to hold."""
    match column:
        case NumberColumn():
            return Kind.NUMBER
        case CategoryColumn():
            return Kind.CATEGORY
        case IdColumn():
            return Kind.ID
        case _:
            assert_never(column)


def places(names: Sequence[str | None], data: Data) -> dict[str, int]:
    """Return where each declared column stands among the names of the data.

    Raises:
        RunFault: DPQL503, a column is not there, or is there twice.
    """
    found: dict[str, int] = {}
    twice: set[str] = set()
    for place, name in enumerate(names):
        if name is not None and found.setdefault(name, place) != place:
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


def check(types: Mapping[str, Sequence[Any]], data: Data) -> None:
    """Refuse types that cannot hold what is declared.

    Args:
        types: for each column the types it has in the data: of polars, or the name of
            one that polars does not have.
        data: what is declared.

    Raises:
        RunFault: DPQL504, by column and type.
    """
    wrong = [
        (column, dtype)
        for column in data.columns
        for dtype in types[column.name]
        if not _holds(dtype, column)
    ]
    if wrong:
        raise RunFault(
            Diagnostic(
                "DPQL504",
                f"column `{column.name}` is of type {_type_name(dtype)}, "
                f"which cannot hold {kind_of(column).value}",
            )
            for column, dtype in dict(wrong).items()
        )


def _holds(dtype: Any, column: Column) -> bool:
    if isinstance(dtype, str):
        return False
    if isinstance(dtype, _WORDS):
        return True
    match kind_of(column):
        case Kind.NUMBER:
            return bool(dtype.is_numeric())
        case Kind.CATEGORY:
            return bool(dtype.is_integer() or dtype.is_float())
        case Kind.ID:
            return bool(dtype.is_numeric() or dtype == pl.Binary)


def _type_name(dtype: Any) -> str:
    """Return the name of the type without what an enum or struct holds."""
    name = dtype if isinstance(dtype, str) else str(dtype.base_type())
    return name.partition("<")[0].partition("[")[0].partition("(")[0]
