"""Excerpts of Parquet files: the same cells in a file of its own, text as bytes."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from decimal import Context, Decimal
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from curator_frames import RELAXED
from hypothesis import given
from hypothesis import strategies as st

from dpql.curator.engines import (
    parquet_excerpts,
)
from dpql.curator.engines.arrow_files import opened
from dpql.curator.engines.parquet_copies import Rooms, excerpt
from dpql.curator.engines.parquet_excerpts import Excerpts

TEXT = st.one_of(
    st.binary(max_size=12), st.sampled_from([b"", b"\xff", b"a", b"x" * 999])
)
CELLS: Mapping[str, tuple[Any, Any]] = {
    "bool": (pa.bool_(), st.booleans()),
    "int8": (pa.int8(), st.integers(-(2**7), 2**7 - 1)),
    "int16": (pa.int16(), st.integers(-(2**15), 2**15 - 1)),
    "int32": (pa.int32(), st.integers(-(2**31), 2**31 - 1)),
    "int64": (pa.int64(), st.integers(-(2**63), 2**63 - 1)),
    "uint8": (pa.uint8(), st.integers(0, 2**8 - 1)),
    "uint16": (pa.uint16(), st.integers(0, 2**16 - 1)),
    "uint32": (pa.uint32(), st.integers(0, 2**32 - 1)),
    "uint64": (pa.uint64(), st.integers(0, 2**64 - 1)),
    "float": (pa.float32(), st.floats(width=32, allow_nan=False)),
    "double": (pa.float64(), st.floats(allow_nan=False)),
    "text": (pa.binary(), TEXT),
    **{
        f"decimal{digits}": (
            pa.decimal128(digits, 2),
            st.integers(1 - 10**digits, 10**digits - 1).map(
                lambda whole: Decimal(whole).scaleb(-2, Context(prec=40))
            ),
        )
        for digits in (3, 9, 18, 38)
    },
}
ENCODINGS = {
    "bool": ["PLAIN", "RLE"],
    **{
        f"{sign}int{bits}": ["PLAIN", "DELTA_BINARY_PACKED", "BYTE_STREAM_SPLIT"]
        for sign in ("", "u")
        for bits in (8, 16, 32, 64)
    },
    "float": ["PLAIN", "BYTE_STREAM_SPLIT"],
    "double": ["PLAIN", "BYTE_STREAM_SPLIT"],
    "text": ["PLAIN", "DELTA_LENGTH_BYTE_ARRAY", "DELTA_BYTE_ARRAY"],
    **{f"decimal{digits}": ["PLAIN"] for digits in (3, 9, 18, 38)},
}
CODECS = ["none", "snappy", "gzip", "brotli", "zstd", "lz4"]


def _column(kind: str, cells: Sequence[Any], *, nulls: bool) -> tuple[Any, Any]:
    """Return a field and an array; text may be of any bytes."""
    held = pa.array(cells, CELLS[kind][0])
    text = kind == "text"
    made = held.view(pa.string()) if text else held
    return pa.field(kind, made.type, nullable=nulls), made


def _written(columns: Sequence[tuple[Any, Any]], **options: Any) -> bytes:
    table = pa.Table.from_arrays(
        [made for _, made in columns], schema=pa.schema([one for one, _ in columns])
    )
    file = io.BytesIO()
    pq.write_table(table, file, **options)
    return file.getvalue()


def _parted(content: bytes, names: Sequence[str]) -> Excerpts | None:
    return opened("parquet", content).excerpts(names)


def _read(held: bytes) -> list[list[Any]]:
    """Return the cells of each column as polars reads them."""
    frame = pl.read_parquet(held)
    assert frame.columns == [str(place) for place in range(frame.width)]
    return [column.to_list() for column in frame]


def _taken(file: Excerpts, names: Sequence[str], rooms: Rooms | None = None) -> bytes:
    parts = [(file, group) for group in file.groups.values()]
    return excerpt(parts, names, rooms or Rooms(1 << 16, 1))[0]


@given(data=st.data())
@RELAXED
def test_an_excerpt_holds_the_very_cells_of_its_file(data: Any) -> None:
    """Whatever the encoding, the codec, the pages and the row groups are."""
    kinds = data.draw(st.lists(st.sampled_from(list(CELLS)), min_size=1, unique=True))
    count = data.draw(st.integers(1, 30))
    nulls = {kind: data.draw(st.booleans()) for kind in kinds}
    cells = {
        kind: data.draw(
            st.lists(
                st.none() | CELLS[kind][1] if nulls[kind] else CELLS[kind][1],
                min_size=count,
                max_size=count,
            )
        )
        for kind in kinds
    }
    listed = data.draw(st.booleans())
    encodings = {kind: data.draw(st.sampled_from(ENCODINGS[kind])) for kind in kinds}
    content = _written(
        [_column(kind, cells[kind], nulls=nulls[kind]) for kind in kinds],
        use_dictionary=listed,
        column_encoding=None if listed else encodings,
        compression=data.draw(st.sampled_from(CODECS)),
        data_page_version=data.draw(st.sampled_from(["1.0", "2.0"])),
        data_page_size=data.draw(st.sampled_from([1, 64, 1 << 20])),
        write_batch_size=data.draw(st.sampled_from([1, 3, 1024])),
        row_group_size=data.draw(st.sampled_from([1, 7, 100])),
        store_schema=data.draw(st.booleans()),
        store_decimal_as_integer=data.draw(st.booleans()),
        write_page_index=data.draw(st.booleans()),
    )
    names = data.draw(st.permutations(kinds))[: data.draw(st.integers(1, len(kinds)))]
    file = _parted(content, kinds)
    assert file is not None
    assert _read(_taken(file, names)) == [cells[name] for name in names]


def test_an_excerpt_says_nothing_but_where_cells_lie() -> None:
    """No statistics of cells, no annotation of text and no schema of Arrow."""
    content = _written([_column("text", [b"a", b"\xff"], nulls=True)])
    file = _parted(content, ["text"])
    assert file is not None
    known = pq.ParquetFile(io.BytesIO(_taken(file, ["text"])))
    assert known.metadata.metadata is None
    assert known.schema.column(0).logical_type.type == "NONE"
    assert not known.metadata.row_group(0).column(0).is_stats_set


def test_many_columns_and_row_groups_are_told_of() -> None:
    """Lists of fifteen things and more are spelt in another way."""
    table = {f"c{place}": range(place, place + 40) for place in range(40)}
    content = io.BytesIO()
    pq.write_table(pa.table(table), content, row_group_size=2)
    file = _parted(content.getvalue(), list(table))
    assert file is not None
    assert _read(_taken(file, list(table))) == [list(cells) for cells in table.values()]


@pytest.mark.parametrize(
    "cells",
    [
        pa.array([1], pa.float16()),
        pa.array([1], pa.timestamp("us")),
        pa.array([1], pa.duration("us")),
        pa.array([1], pa.date32()),
        pa.array([1], pa.decimal256(40, 1)),
        pa.array([[1]], pa.list_(pa.int64())),
        pa.array([{"a": 1}]),
        pa.array([b"a"]),
    ],
    ids=lambda cells: str(cells.type),
)
def test_other_types_are_left_to_arrow(cells: Any) -> None:
    """Where polars might read another cell than Arrow, it reads none."""
    file = io.BytesIO()
    pq.write_table(pa.table({"x": cells}), file)
    assert _parted(file.getvalue(), ["x"]) is None


@pytest.mark.parametrize(
    ("stored", "digits", "length", "taken"),
    [
        ("INT32", (0, 9), 0, True),
        ("INT32", (9, 9), 0, True),
        ("INT32", (2, 10), 0, False),
        ("INT32", (-1, 5), 0, False),
        ("INT32", (6, 5), 0, False),
        ("INT64", (2, 18), 0, True),
        ("INT64", (2, 19), 0, False),
        ("FIXED_LEN_BYTE_ARRAY", (2, 38), 16, True),
        ("FIXED_LEN_BYTE_ARRAY", (2, 39), 16, False),
        ("FIXED_LEN_BYTE_ARRAY", (2, 38), 17, False),
        ("FIXED_LEN_BYTE_ARRAY", (0, 1), 0, False),
        ("BYTE_ARRAY", (0, 1), 0, False),
    ],
)
def test_decimals_are_taken_that_polars_holds(
    stored: str, digits: tuple[int, int], length: int, *, taken: bool
) -> None:
    """No more digits than their stored form has, and no odd number behind the point."""
    column = SimpleNamespace(
        physical_type=stored, scale=digits[0], precision=digits[1], length=length
    )
    leaf = parquet_excerpts._decimal(column, optional=True)
    assert taken == (leaf is not None)
    if leaf is not None:
        assert digits == leaf.digits


def test_words_of_a_dictionary_are_text() -> None:
    """A categorical column is stored as the text that it is."""
    content = io.BytesIO()
    pq.write_table(pa.table({"k": pa.array(["a", "b"]).dictionary_encode()}), content)
    file = _parted(content.getvalue(), ["k"])
    assert file is not None
    assert _read(_taken(file, ["k"])) == [[b"a", b"b"]]


def test_row_groups_of_unknown_codecs_or_sizes_are_left_to_arrow(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Each row group is judged by itself."""
    column = _column("int64", range(30), nulls=True)
    monkeypatch.setattr(parquet_excerpts, "_LARGEST_ROWS", 9)
    long = _parted(_written([column], row_group_size=9), ["int64"])
    assert long is not None
    assert list(long.groups) == [0, 1, 2, 3]
    monkeypatch.setattr(parquet_excerpts, "_LARGEST_ROWS", 8)
    short = _parted(_written([column], row_group_size=9), ["int64"])
    assert short is not None
    assert list(short.groups) == [3]
    monkeypatch.setattr(parquet_excerpts, "_LARGEST_BYTES", 8)
    assert not _parted(_written([column]), ["int64"]).groups  # type: ignore[union-attr]


@pytest.mark.parametrize("names", [["s", "x", "s.x"], ["s.x", "x", "s"]])
def test_a_part_of_a_column_is_not_the_column_of_its_name(names: list[str]) -> None:
    """`x` may be a column and a part of another, and `s.x` the name of a third."""
    table = {"s": pa.array([{"x": 1}]), "x": pa.array([2]), "s.x": pa.array([3])}
    content = io.BytesIO()
    pq.write_table(pa.table({name: table[name] for name in names}), content)
    file = _parted(content.getvalue(), ["x", "s.x"])
    assert file is not None
    assert _read(_taken(file, ["x", "s.x"])) == [[2], [3]]
    assert _parted(content.getvalue(), ["s"]) is None


def test_a_room_is_used_again_but_not_while_it_is_held() -> None:
    """An excerpt stays as it is, whatever is made after it."""
    rooms = Rooms(1 << 12, 1)
    cells = [[1, 2], [3, 4], list(range(9_999))]
    held = []
    for some in cells:
        content = _written([_column("int64", some, nulls=True)], compression="none")
        file = _parted(content, ["int64"])
        assert file is not None
        held.append(_taken(file, ["int64"], rooms))
    assert [_read(one) for one in held] == [[some] for some in cells]
    assert len(held[0]) == len(held[1]) == 1 << 12 < len(held[2])


def test_a_file_that_ends_early_is_not_read(tmp_path: Path) -> None:
    """What is missing is never taken for zeros."""
    path = tmp_path / "rows.parquet"
    path.write_bytes(_written([_column("int64", [1, 2], nulls=True)]))
    file = opened("parquet", str(path)).excerpts(["int64"])
    assert file is not None
    view = memoryview(bytearray(9))
    with pytest.raises(OSError, match="ends while"):
        file.fill([(view, path.stat().st_size - 8)])
    path.write_bytes(path.read_bytes() + b"\0")
    with pytest.raises(OSError, match="changes while"):
        file.fill([(view, 0)])
