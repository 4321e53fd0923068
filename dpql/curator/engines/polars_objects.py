"""Python objects and numpy arrays as columns, by one rule for every cell.

    a number   an int, float, Decimal or bool; text counts as the number it spells
    a key      text; an int, float or bool counts as its text
    an id      the same, bytes and Decimals

Anything else is missing: None, NaN, lists, dates, and whatever class a library made up.
The rule looks at the type of a cell and calls none of its methods, so no object can
fail here; and it looks at no other cell, so none changes another. Keys and ids are
bytes, for text of Python may hold what UTF-8 cannot spell.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from decimal import Decimal
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from dpql.curator.engines.polars_columns import Kind
from dpql.curator.engines.polars_text import encoded, float_words

_LONGEST = 4096
"""Bits of an integer; Python refuses to spell out much longer ones."""

_DOUBLE_BYTES = 8

_MOST_ZEROS = 1000
"""Digits of a whole decimal that stand for themselves; more are an exponent."""

Value = str | bytes | float | None
Rules = Mapping[type, Callable[[Any], Value]]


def objects(cells: Iterable[object], kind: Kind) -> pl.Series:
    """Return the cells as a column: of text for numbers, of bytes for keys and ids."""
    rules = _RULES[kind]

    def value(cell: object) -> Value:
        rule = rules.get(type(cell))
        if rule is None:
            cell = _plain(cell)
            rule = rules.get(type(cell), _missing)
        return rule(cell)

    return column((value(cell) for cell in cells), kind)


def column(cells: Iterable[Value], kind: Kind) -> pl.Series:
    """Return texts, or bytes, and floats as a column of texts, or of bytes."""
    values = list(cells)
    held, dtype = (str, pl.String) if kind is Kind.NUMBER else (bytes, pl.Binary)
    columns = {
        "held": [one if type(one) is held else None for one in values],
        "float": [one if type(one) is float else None for one in values],
    }
    frame = pl.DataFrame(columns, schema={"held": dtype, "float": pl.Float64})
    floats = float_words(pl.col("float"), pl.Float64).cast(dtype)
    return frame.select(pl.coalesce("held", floats)).to_series()


def array(values: NDArray[Any], kind: Kind) -> pl.Series | None:
    """Return a numpy array as a column; None if its type or shape is none of ours.

    Numbers wider than a double are no ids: two of them may have one double.
    """
    letter = values.dtype.kind
    if values.ndim != 1 or letter not in "iufbOU":
        return None
    if letter in "OU":
        cells = values.tolist()
        if isinstance(values, np.ma.MaskedArray):
            masked = np.ma.getmaskarray(values).tolist()
            cells = [None if m else c for m, c in zip(masked, cells, strict=True)]
        return objects(cells, kind)
    if kind is Kind.ID and values.dtype.itemsize > _DOUBLE_BYTES:
        return None
    with np.errstate(all="ignore"):
        plain = np.ascontiguousarray(np.ma.getdata(values), _native(values.dtype))
    found = pl.Series(plain)
    if isinstance(values, np.ma.MaskedArray):
        missing = np.ascontiguousarray(np.ma.getmaskarray(values))
        return without(found, missing)
    return found


def without(column: pl.Series, missing: NDArray[np.bool_]) -> pl.Series:
    """Return the column with nulls where cells are missing."""
    frame = pl.DataFrame({"cell": column, "missing": missing})
    return frame.select(pl.when(~pl.col("missing")).then("cell")).to_series()


def _native(dtype: np.dtype[Any]) -> Any:
    """Return a type of the same numbers that polars knows."""
    if dtype.kind == "f" and dtype.itemsize not in (4, 8):
        return np.float32 if dtype.itemsize < _DOUBLE_BYTES else np.float64
    return dtype.newbyteorder("=")


def _plain(cell: Any) -> object:
    """Return a cell of a subclass, or of numpy, as the plain object it stands for."""
    kind = type(cell)
    for known, plainly in _PLAINLY.items():
        if issubclass(kind, known):
            return plainly(cell)
    if issubclass(kind, np.generic) and np.dtype(kind).kind in "iufb":
        return np.generic.item(cell)
    return None


def _missing(_: object) -> None:
    return None


def _text(cell: str) -> str | None:
    """Return text; None for a lone surrogate, which is part of no number."""
    try:
        cell.encode()
    except UnicodeEncodeError:
        return None
    return cell


def _digits(cell: int) -> bytes | None:
    return b"%d" % cell if cell.bit_length() <= _LONGEST else None


def _bounded(cell: int) -> str:
    """Return the digits, or an infinity for what lies beyond all bounds."""
    if cell.bit_length() <= _LONGEST:
        return repr(cell)
    return "inf" if cell > 0 else "-inf"


def _decimal(cell: Decimal) -> bytes | None:
    """Return a decimal without needless zeros; in a long one an exponent stands."""
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


def _same(cell: float) -> float:
    return cell


def _same_bytes(cell: bytes) -> bytes:
    return cell


_PLAINLY: Mapping[type, Callable[[Any], object]] = {
    str: str.__str__,
    int: int.__pos__,
    float: float.__pos__,
    Decimal: lambda cell: Decimal(Decimal.__str__(cell)),
    bytes: lambda cell: bytes.__getitem__(cell, slice(None)),
}
_NUMBER: Rules = {
    str: _text,
    int: _bounded,
    float: _same,
    bool: lambda cell: "1" if cell else "0",
    Decimal: str,
}
_KEY: Rules = {
    str: encoded,
    int: _digits,
    float: _same,
    bool: lambda cell: b"true" if cell else b"false",
}
_RULES: Mapping[Kind, Rules] = {
    Kind.NUMBER: _NUMBER,
    Kind.CATEGORY: _KEY,
    Kind.ID: {**_KEY, bytes: _same_bytes, Decimal: _decimal},
}
