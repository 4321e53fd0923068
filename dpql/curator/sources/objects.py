"""Columns of Python objects, numpy and pandas as polars series or Arrow arrays.

Python objects follow one rule for every cell:

    a number   an int, float, Decimal or bool; text counts as the number it spells
    a key      text; an int, float or bool counts as its text
    an id      the same, bytes and Decimals
    a time     text, a date or a datetime; so is a date

Anything else is null: None, NaN, lists, a date that is no time, and whatever class a
library made up. The rule looks at the type of a cell and calls none of its methods, so
no object can raise here; and it looks at no other cell, so none changes another. Ids
are bytes, since a str may hold lone surrogates, which UTF-8 has not.
"""

from __future__ import annotations

import datetime as dt
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from decimal import Decimal
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from dpql.curator.columns import Content
from dpql.curator.sources.canonical import float_texts
from dpql.curator.sources.python_times import iso_text, plain_time, stored_times

_LONGEST_BITS = 4096
"""Python refuses to print integers that are much longer."""

_DOUBLE_BYTES = 8

_MOST_ZEROS = 1000
"""Decimals with more zeros at either end are written with an exponent."""

_TIMES = (Content.DATE, Content.TIME)

Rules = Mapping[int, Callable[[Any], str | bytes | float | None]]
"""By the identity of a type: the class of a type might have a hash that raises."""


def stored_column(cells: Any, content: Content) -> Any:
    """Return a column as a polars series or an Arrow array.

    It is the name of the type of the column if such cells cannot be read.
    """
    if isinstance(cells, pl.Series):
        return cells
    pandas: Any = sys.modules.get("pandas")
    if pandas is not None:
        extension = pandas.api.extensions.ExtensionArray
        if isinstance(cells, pandas.Series | pandas.Index | extension):
            return _from_pandas(pandas.Series(cells), content)
    arrow: Any = sys.modules.get("pyarrow")
    if arrow is not None and isinstance(cells, arrow.Array | arrow.ChunkedArray):
        return cells
    if isinstance(cells, np.ndarray):
        return _from_numpy(cells, content)
    text = str | bytes | bytearray | memoryview
    if isinstance(cells, Sequence) and not isinstance(cells, text):
        return from_objects(cells, content)
    return type(cells).__name__


def from_objects(cells: Iterable[object], content: Content) -> pl.Series:
    """Return objects as bytes of ids, or as text of numbers and keys."""
    rules = _RULES.get(content, _NUMBER)

    def value(cell: object) -> str | bytes | float | None:
        rule = rules.get(id(type(cell)))
        if rule is None:
            cell = _plain(cell)
            rule = rules.get(id(type(cell)), _null)
        return rule(cell)

    return texts_and_floats([value(cell) for cell in cells], content)


def texts_and_floats(
    values: Sequence[str | bytes | float | None], content: Content
) -> pl.Series:
    """Return texts, or bytes of ids, with floats as their texts."""
    dtype = pl.Binary() if content is Content.ID else pl.String()
    texts = [None if type(value) is float else value for value in values]
    floats = [value if type(value) is float else None for value in values]
    printed = float_texts(pl.Series(floats, dtype=pl.Float64)).cast(dtype)
    frame = pl.DataFrame([pl.Series("text", texts, dtype), printed.alias("float")])
    return frame.select(pl.coalesce("text", "float")).to_series()


def _from_numpy(values: NDArray[Any], content: Content) -> pl.Series | str:
    """Return an array of numpy; a mask makes cells null.

    Numbers wider than a double are refused as ids: two may have one double.
    """
    letter = values.dtype.kind
    wide = letter not in "OU" and values.dtype.itemsize > _DOUBLE_BYTES
    if content in _TIMES and values.ndim == 1 and letter in "MOU":
        letter = "T" if letter == "M" else letter
    if values.ndim != 1 or letter not in "iufbOUT" or (wide and content is Content.ID):
        return str(values.dtype)
    mask = None
    if isinstance(values, np.ma.MaskedArray):
        mask = np.ascontiguousarray(np.ma.getmaskarray(values))
    bare = np.ma.getdata(values)
    if letter == "T":
        column = stored_times(bare)
    elif letter in "OU":
        column = from_objects(bare.tolist(), content)
    else:
        with np.errstate(all="ignore"):
            column = pl.Series(np.ascontiguousarray(bare, _polars_dtype(bare.dtype)))
    return column if mask is None else _masked(column, mask)


def _masked(column: pl.Series, mask: NDArray[np.bool_]) -> pl.Series:
    frame = pl.DataFrame({"cell": column, "mask": mask})
    return frame.select(pl.when(~pl.col("mask")).then("cell")).to_series()


def _polars_dtype(dtype: np.dtype[Any]) -> Any:
    """Return a type of polars for the same numbers."""
    if dtype.kind == "f" and dtype.itemsize not in (4, 8):
        return np.float32 if dtype.itemsize < _DOUBLE_BYTES else np.float64
    return dtype.newbyteorder("=")


def _from_pandas(cells: Any, content: Content) -> Any:
    dtype = cells.dtype
    if isinstance(dtype, np.dtype) or str(dtype.name).startswith("Sparse"):
        column = _from_numpy(np.asarray(cells), content)
    elif dtype.name == "category":
        column = _from_categories(cells, content)
    elif hasattr(dtype, "pyarrow_dtype") or getattr(dtype, "storage", "") == "pyarrow":
        return cells.array.__arrow_array__()
    elif hasattr(dtype, "storage"):
        column = from_objects(cells.to_numpy(object).tolist(), content)
    elif hasattr(dtype, "numpy_dtype") and dtype.kind in "iufb":
        bare = _from_numpy(cells.to_numpy(dtype.numpy_dtype, na_value=0), content)
        assert isinstance(bare, pl.Series), "it holds numbers"
        column = _masked(bare, cells.isna().to_numpy(bool))
    elif hasattr(dtype, "tz") and content in _TIMES:
        utc = cells.dt.tz_convert("UTC").dt.tz_localize(None)
        column = stored_times(utc.to_numpy(), "UTC")
    else:
        column = ""
    return column if not isinstance(column, str) else str(dtype.name)


def _from_categories(cells: Any, content: Content) -> Any:
    """Return a dictionary of Arrow, so that each word is read once."""
    import pyarrow as pa

    words = stored_column(cells.cat.categories, content)
    if isinstance(words, str):
        return words
    if isinstance(words, pl.Series):
        words = words.to_arrow()
    if isinstance(words, pa.ChunkedArray):
        words = words.combine_chunks()
    codes = cells.cat.codes.to_numpy().astype(np.int64)
    return pa.DictionaryArray.from_arrays(
        _masked(pl.Series(codes), codes < 0).to_arrow(), words
    )


def _plain(cell: Any) -> object:
    """Return a cell of a subclass, or of numpy, as the plain object it stands for."""
    kind = type(cell)
    for known, plainly in _PLAINLY.items():
        if issubclass(kind, known):
            return plainly(cell)
    if issubclass(kind, np.generic) and np.dtype(kind).kind in "iufb":
        return np.generic.item(cell)
    return plain_time(cell)


def _null(_: object) -> None:
    return None


def _text(cell: str) -> str | None:
    """Return text; None if it holds a lone surrogate, as no number and no key does."""
    try:
        cell.encode()
    except UnicodeEncodeError:
        return None
    return cell


def encoded(cell: str) -> bytes:
    """Return the bytes of a text; a lone surrogate has bytes of its own."""
    return cell.encode("utf-8", "surrogatepass")


def _digits(cell: int) -> str | None:
    return repr(cell) if cell.bit_length() <= _LONGEST_BITS else None


def _digit_bytes(cell: int) -> bytes | None:
    return b"%d" % cell if cell.bit_length() <= _LONGEST_BITS else None


def _bounded(cell: int) -> str:
    """Return the digits, or an infinity for what lies beyond all bounds."""
    return _digits(cell) or ("inf" if cell > 0 else "-inf")


def _decimal(cell: Decimal) -> bytes | None:
    """Return a decimal without needless zeros; one of many zeros with an exponent."""
    if not cell.is_finite():
        return None
    sign, digits, power = cell.as_tuple()
    assert isinstance(power, int), "it is finite"
    text = "".join(map(str, digits)).lstrip("0")
    bare = text.rstrip("0")
    power += len(text) - len(bare)
    if not bare:
        return b"0"
    mark = "-" if sign else ""
    if 0 <= power <= _MOST_ZEROS:
        return f"{mark}{bare}{'0' * power}".encode()
    if -_MOST_ZEROS <= power < 0:
        whole, fraction = bare[:power] or "0", bare[power:].rjust(-power, "0")
        return f"{mark}{whole}.{fraction}".encode()
    return f"{mark}{bare}e{power}".encode()


def _same(cell: Any) -> Any:
    return cell


_PLAINLY: Mapping[type, Callable[[Any], object]] = {
    str: str.__str__,
    int: int.__pos__,
    float: float.__pos__,
    Decimal: lambda cell: Decimal(Decimal.__str__(cell)),
    bytes: lambda cell: bytes.__getitem__(cell, slice(None)),
}
_NUMBER: Rules = {
    id(str): _text,
    id(int): _bounded,
    id(float): _same,
    id(bool): lambda cell: "1" if cell else "0",
    id(Decimal): str,
}
_KEY: Rules = {
    id(str): _text,
    id(int): _digits,
    id(float): _same,
    id(bool): lambda cell: "true" if cell else "false",
}
_TIME: Rules = {
    id(str): _text,
    id(dt.date): iso_text,
    id(dt.datetime): iso_text,
}
_ID: Rules = {
    id(str): encoded,
    id(int): _digit_bytes,
    id(float): _same,
    id(bool): lambda cell: b"true" if cell else b"false",
    id(bytes): _same,
    id(Decimal): _decimal,
}
_RULES: Mapping[Content, Rules] = {
    Content.CODE: _KEY,
    Content.ID: _ID,
    Content.DATE: _TIME,
    Content.TIME: _TIME,
}
"""Of other contents the cells are numbers."""
