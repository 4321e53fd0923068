"""Rows of PostgreSQL's binary COPY as Arrow, column by column, by numpy.

    row     2 bytes: the number of cells; then for each cell
    cell    4 bytes: its length, -1 for null; then its bytes, the highest first

A cell costs its bytes and nothing else, whatever it holds.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

_DAYS = 10_957
"""Days from 1970-01-01 to 2000-01-01, where PostgreSQL begins to count."""

_MICROSECONDS = _DAYS * 86_400_000_000
_PADDING = bytes(16)
"""So that a cell of any fixed width can be looked at, even where it is null."""

_WIDTHS = {
    pa.bool_(): "u1",
    pa.int16(): ">i2",
    pa.int32(): ">i4",
    pa.int64(): ">i8",
    pa.float32(): ">f4",
    pa.float64(): ">f8",
    pa.date32(): ">i4",
    pa.timestamp("us"): ">i8",
    pa.timestamp("us", "UTC"): ">i8",
}

_Indices = NDArray[np.int64]


def decoded_rows(rows: Sequence[bytes], types: Sequence[Any]) -> list[Any]:
    """Return the columns of some rows as Arrow arrays of these types.

    Text comes as large strings of whatever bytes it has.
    """
    cells = _Cells(rows)
    return [cells.column(dtype) for dtype in types]


class _Cells:
    """The bytes of some rows, and where in them the next cell of every row begins."""

    def __init__(self, rows: Sequence[bytes]) -> None:
        self._bytes = np.frombuffer(b"".join([*rows, _PADDING]), np.uint8)
        lengths = np.fromiter(map(len, rows), np.int64, len(rows))
        self._next: _Indices = np.cumsum(lengths) - lengths + 2

    def column(self, dtype: Any) -> Any:
        """Return the next column."""
        sizes = self._taken(self._next, ">i4").astype(np.int64)
        present = sizes >= 0
        start = self._next + 4
        sizes = np.maximum(sizes, 0)
        self._next = start + sizes
        if dtype in _WIDTHS:
            return _fixed(self._taken(start, _WIDTHS[dtype]), present, dtype)
        return self._words(start, sizes, present, dtype)

    def _taken(self, start: _Indices, code: str) -> NDArray[Any]:
        """Return a number from each of these places."""
        dtype = np.dtype(code)
        count = len(self._bytes) - dtype.itemsize + 1
        view = np.ndarray((count,), dtype, self._bytes.data, strides=(1,))
        return view[start]

    def _words(
        self, start: _Indices, sizes: _Indices, present: NDArray[np.bool_], dtype: Any
    ) -> Any:
        offsets = np.zeros(len(sizes) + 1, np.int64)
        np.cumsum(sizes, out=offsets[1:])
        at = np.repeat(start - offsets[:-1], sizes)
        at += np.arange(len(at))
        bits = np.packbits(present, bitorder="little")
        buffers = [pa.py_buffer(part) for part in (bits, offsets, self._bytes[at])]
        return pa.Array.from_buffers(dtype, len(sizes), buffers)


def _fixed(cells: NDArray[Any], present: NDArray[np.bool_], dtype: Any) -> Any:
    shift: Callable[[Any], Any] | None = _SHIFTS.get(dtype)
    native = cells.astype(cells.dtype.newbyteorder("="))
    if shift is not None:
        native = shift(np.where(present, native, 0))
    if dtype == pa.bool_():
        native = native.astype(np.bool_)
    return pa.array(native, mask=~present).cast(dtype)


_SHIFTS: dict[Any, Callable[[Any], Any]] = {
    pa.date32(): lambda days: days + _DAYS,
    pa.timestamp("us"): lambda moments: moments + _MICROSECONDS,
    pa.timestamp("us", "UTC"): lambda moments: moments + _MICROSECONDS,
}
