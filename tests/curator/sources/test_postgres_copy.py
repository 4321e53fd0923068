"""Binary rows of PostgreSQL become the cells that they spell, null or not."""

from __future__ import annotations

import struct
from typing import Any

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from dpql.curator.sources.postgres_copy import decoded_rows

_CODES = {
    pa.bool_(): "?",
    pa.int16(): ">h",
    pa.int32(): ">i",
    pa.int64(): ">q",
    pa.float32(): ">f",
    pa.float64(): ">d",
}
_CELLS: dict[Any, st.SearchStrategy[Any]] = {
    pa.bool_(): st.booleans(),
    pa.int16(): st.integers(-(2**15), 2**15 - 1),
    pa.int32(): st.integers(-(2**31), 2**31 - 1),
    pa.int64(): st.integers(-(2**63), 2**63 - 1),
    pa.float32(): st.floats(width=32, allow_nan=False),
    pa.float64(): st.floats(allow_nan=False),
    pa.large_binary(): st.binary(max_size=9),
}


def _row(cells: tuple[Any, ...], types: list[Any]) -> bytes:
    parts = [struct.pack(">h", len(cells))]
    for cell, dtype in zip(cells, types, strict=True):
        if cell is None:
            parts.append(struct.pack(">i", -1))
            continue
        code = _CODES.get(dtype)
        held = cell if code is None else struct.pack(code, cell)
        parts += [struct.pack(">i", len(held)), held]
    return b"".join(parts)


@given(data=st.data())
def test_rows_are_decoded_column_by_column(data: Any) -> None:
    """Any types in any order, nulls among them, the last cell included."""
    types = data.draw(st.lists(st.sampled_from(list(_CELLS)), min_size=1, max_size=5))
    cells = st.tuples(*(st.none() | _CELLS[dtype] for dtype in types))
    table = data.draw(st.lists(cells, max_size=8))
    found = decoded_rows([_row(row, types) for row in table], types)
    assert types == [column.type for column in found]
    for column in found:
        column.validate(full=True)
    assert table == list(zip(*(column.to_pylist() for column in found), strict=True))


def test_days_and_moments_are_counted_from_1970() -> None:
    """PostgreSQL counts from 2000."""
    types = [pa.date32(), pa.timestamp("us"), pa.timestamp("us", "UTC")]
    row = struct.pack(">hiiiqiq", 3, 4, -10957, 8, 1, 8, -946684800 * 10**6)
    none = struct.pack(">hiii", 3, -1, -1, -1)
    found = decoded_rows([row, none], types)
    assert ["1970-01-01", None] == [cell and str(cell) for cell in found[0].to_pylist()]
    moments = [column.cast(pa.int64()).to_pylist() for column in found[1:]]
    assert [[946684800 * 10**6 + 1, None], [0, None]] == moments
