"""Footers of Parquet files: what is written byte for byte, and what is not believed."""

from __future__ import annotations

import io
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dpql.curator.engines import parquet_excerpts
from dpql.curator.engines.parquet_footer import (
    Leaf,
    chunk_of,
    footer,
    row_groups,
)


def test_a_footer_is_spelt_as_thrift_spells_it() -> None:
    """A footer without rows, byte for byte: fields by distance, numbers doubled."""
    told = (
        b"\x15\x02"  # 1, an int32: version 1
        b"\x19\x2c"  # 2, a list of two structs
        b"\x48\x04rows\x15\x02\x00"  # 4, a name; 5, one child
        b"\x15\x0c\x25\x02\x18\x010\x00"  # 1, type 6; 3, optional; 4, its name
        b"\x16\x00"  # 3, an int64: no rows
        b"\x19\x0c"  # 4, a list of no structs
        b"\x00"
    )
    end = len(told).to_bytes(4, "little") + b"PAR1"
    assert footer([Leaf(kind=6, optional=True)], []) == told + end


@pytest.mark.parametrize(
    ("claims", "found"),
    [
        ({}, (10, 40)),
        ({11: None}, (30, 40)),
        ({11: 0}, (30, 40)),
        ({11: 31}, (30, 40)),
        ({11: -1}, (30, 40)),
        ({11: 3}, None),
        ({9: 3, 11: None}, None),
        ({9: -3, 11: None}, None),
        ({9: None}, None),
        ({7: 90}, (10, 90)),
        ({7: 91}, None),
        ({7: 0}, None),
        ({7: -1}, None),
        ({6: -1}, None),
        ({6: b"5"}, None),
        ({5: -1}, None),
        ({5: 4}, None),
        ({4: 3}, None),
        ({4: 5}, None),
        ({4: 99}, None),
        ({4: [6]}, None),
        ({2: [0, 8, 10]}, None),
        ({2: [0, 7]}, None),
        ({2: [0, {}]}, None),
        ({2: 0}, None),
        ({1: 1}, None),
    ],
    ids=str,
)
def test_a_footer_is_not_believed(
    claims: dict[int, Any], found: tuple[int, int] | None
) -> None:
    """A row group is taken only if its cells lie within the file of 100 bytes."""
    told = {1: 2, 2: [0, 8], 4: 6, 5: 5, 6: 70, 7: 40, 9: 30, 11: 10} | claims
    column = {3: {field: value for field, value in told.items() if value is not None}}
    leaves = {"x": (0, Leaf(kind=2, optional=True))}
    group = parquet_excerpts._group({1: [column], 3: 5}, leaves, 100)
    taken = group and (group.chunks["x"].start, group.chunks["x"].length)
    assert taken == found


@pytest.mark.parametrize(
    "told",
    [
        {1: [], 3: 5},
        {1: 7, 3: 5},
        {1: [7], 3: 5},
        {1: [{}], 3: 5},
        {1: [{3: []}], 3: 5},
        {3: 5},
        {},
        7,
        b"seven",
        [],
    ],
    ids=str,
)
def test_a_row_group_that_is_none_is_left_to_arrow(told: Any) -> None:
    """Whatever stands in its place."""
    leaves = {"x": (0, Leaf(kind=2, optional=True))}
    assert parquet_excerpts._group(told, leaves, 100) is None


@pytest.mark.parametrize(
    ("more", "taken"),
    [({}, True), ({1: b""}, True), ({1: b"o.parquet"}, False), ({8: {}}, False)],
    ids=str,
)
def test_cells_elsewhere_or_locked_are_left_to_arrow(
    more: dict[int, Any], *, taken: bool
) -> None:
    """A column may lie in another file, or be encrypted."""
    told = {1: 2, 2: [0], 4: 6, 5: 5, 6: 70, 7: 40, 9: 30}
    leaves = {"x": (0, Leaf(kind=2, optional=True))}
    group = parquet_excerpts._group({1: [{3: told} | more], 3: 5}, leaves, 100)
    assert taken == (group is not None)


def _written() -> bytes:
    """Return the footer of a file with a column of two words."""
    file = io.BytesIO()
    pq.write_table(pa.table({"k": ["a", "b"]}), file)
    content = file.getvalue()
    length = int.from_bytes(content[-8:-4], "little")
    return content[-8 - length : -8]


@pytest.mark.parametrize(
    ("told", "by_words"),
    [
        (None, True),
        ([{1: 2, 2: 0}, {1: 0, 2: 8}], True),
        ([{1: 2, 2: 0}, {1: 3, 2: 2}], True),
        ([{1: 0, 2: 8}, {1: 0, 2: 0}], False),
        ([{1: 3, 2: 6}], False),
        ([{1: 0}], False),
        ([3, None, {1: [], 2: 0}], True),
        ([{1: 0, 2: []}], False),
        (7, True),
    ],
)
def test_footers_tell_how_cells_are_stored(told: Any, *, by_words: bool) -> None:
    """A dictionary counts for nothing where pages have other cells."""
    (group,) = row_groups(_written())
    column = group[1][0][3]
    column[13] = told
    if told is None:
        del column[13]
    chunk = chunk_of(group, 0, 6, 1 << 20)
    assert chunk is not None
    assert chunk.by_words == by_words


@pytest.mark.parametrize(
    ("pages", "by_words"),
    [(99, True), (100, False), (3 << 30, False), (1 << 40, False)],
)
def test_a_dictionary_does_not_reach_beyond_its_chunk(
    pages: int, *, by_words: bool
) -> None:
    """Nor does it take memory for what is not there."""
    (group,) = row_groups(_written())
    group[1][0][3] |= {7: 60, 9: pages, 11: 40}
    chunk = chunk_of(group, 0, 6, 1000)
    assert chunk is not None
    assert (chunk.start, chunk.words, chunk.by_words) == (40, 40, by_words)
