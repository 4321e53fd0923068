"""Values that stand in the names of folders, as cells of a column."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import polars as pl

from dpql.curator.engines.files import File
from dpql.curator.engines.polars_columns import Kind, kind_of
from dpql.curator.engines.polars_text import word
from dpql.model.spec import Data


def folder_type(kind: Kind) -> pl.DataType:
    """Return the type of a value: text for a number, bytes for a key or an id."""
    return pl.String() if kind is Kind.NUMBER else pl.Binary()


def text_types(names: Iterable[str], data: Data) -> dict[str, pl.DataType]:
    """Return the types of columns that hold text, as a piece states them."""
    return {
        name: pl.Binary() if kind_of(data.column(name)) is Kind.ID else pl.String()
        for name in names
    }


def text_keys(names: Iterable[str], data: Data) -> frozenset[str]:
    """Return those of the columns that hold keys, as bytes."""
    return frozenset(
        name for name in names if kind_of(data.column(name)) is Kind.CATEGORY
    )


def folder_value(value: bytes | None, kind: Kind) -> str | bytes | None:
    """Return a value in its type; a number that is no UTF-8 is missing."""
    return word(value) if kind is Kind.NUMBER else value


def folder_columns(file: File, data: Data) -> dict[str, pl.Expr]:
    """Return the values of a file's folders."""
    kinds = {name: kind_of(data.column(name)) for name in file.values}
    return {
        name: pl.lit(folder_value(value, kinds[name]), folder_type(kinds[name]))
        for name, value in file.values.items()
    }


def with_values(
    frame: pl.LazyFrame, own: Iterable[str], values: Mapping[str, pl.Expr]
) -> tuple[pl.LazyFrame, dict[str, pl.Expr]]:
    """Return the frame with the values of folders, and how it gives all columns.

    The values become columns of the frame: a literal alone has one row.
    """
    columns: dict[str, pl.Expr] = {}
    made: list[pl.Expr] = []
    # Longer than the names of the columns that are read, so none of those.
    longer = "value of " + " ".join(own)
    for place, (name, value) in enumerate(values.items()):
        made.append(value.alias(f"{longer} {place}"))
        columns[name] = pl.col(f"{longer} {place}")
    return (frame.with_columns(made) if made else frame), columns
