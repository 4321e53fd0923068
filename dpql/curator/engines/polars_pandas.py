"""Columns of pandas, each by its type; the index is ignored."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import polars as pl

from dpql.curator.engines.polars_arrow import Found
from dpql.curator.engines.polars_arrow import array as arrow_array
from dpql.curator.engines.polars_columns import Kind, kind_of, places
from dpql.curator.engines.polars_objects import array, objects, without
from dpql.model.spec import Data


def is_table(thing: object) -> bool:
    """Tell whether the thing is a frame of pandas."""
    pandas: Any = sys.modules.get("pandas")
    return pandas is not None and isinstance(thing, pandas.DataFrame)


def is_column(thing: object) -> bool:
    """Tell whether the thing is a series, an index or an array of pandas."""
    pandas: Any = sys.modules.get("pandas")
    if pandas is None:
        return False
    kinds = (pandas.Series, pandas.Index, pandas.api.extensions.ExtensionArray)
    return isinstance(thing, kinds)


def pandas_columns(frame: Any, data: Data) -> Found:
    """Return the declared columns of a frame of pandas.

    A label that is a whole number counts as its digits.

    Raises:
        RunFault: DPQL503, a column is missing or there twice.
    """
    found = places([_label(label) for label in frame.columns], data)
    return {
        column.name: pandas_column(frame.iloc[:, found[column.name]], kind_of(column))
        for column in data.columns
    }


def pandas_column(cells: Any, kind: Kind) -> pl.Series | str:
    """Return a series of pandas as a column, or the name of its type."""
    cells = sys.modules["pandas"].Series(cells)
    dtype = cells.dtype
    name = str(dtype.name)
    column: pl.Series | None = None
    if isinstance(dtype, np.dtype) or name.startswith("Sparse"):
        column = array(np.asarray(cells), kind)
    elif name == "category":
        column = _category(cells, kind)
    elif hasattr(dtype, "pyarrow_dtype") or getattr(dtype, "storage", "") == "pyarrow":
        return arrow_array(cells.array.__arrow_array__(), kind)
    elif hasattr(dtype, "storage"):
        column = objects(cells.to_numpy(object).tolist(), kind)
    elif hasattr(dtype, "numpy_dtype") and dtype.kind in "iufb":
        bare = array(cells.to_numpy(dtype.numpy_dtype, na_value=0), kind)
        assert bare is not None, "numbers are ours"
        column = without(bare, cells.isna().to_numpy(bool))
    return name if column is None else column


def _category(cells: Any, kind: Kind) -> pl.Series | None:
    known = pandas_column(cells.cat.categories, kind)
    if isinstance(known, str):
        return None
    places = cells.cat.codes.to_numpy().astype(np.int64)
    return known.gather(without(pl.Series(places), places < 0))


def _label(label: object) -> str | None:
    if isinstance(label, str):
        return label
    whole = isinstance(label, int | np.integer) and not isinstance(label, bool)
    return str(label) if whole else None
