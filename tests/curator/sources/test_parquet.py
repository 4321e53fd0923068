"""Parquet files as other programs write them: encodings, types, names, row groups."""

from __future__ import annotations

import datetime as dt
from dataclasses import replace
from pathlib import Path
from typing import Any

import oracle_cells
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from http_servers import served
from hypothesis import given
from hypothesis import strategies as st
from tables import (
    FEW,
    ID,
    NEW_TABLE,
    REAL,
    TABLE,
    WHOLE,
    arrow,
    category,
    declare,
    duckdb_parquet,
    expected,
    ordered,
    raw_text,
    rows,
    tables,
    write_parquet,
)

from dpql.curator.sources import open_source, parquet
from dpql.curator.sources.locate import File
from dpql.model.spec import RowsAtMost

DATA = declare(k=category("north", "south"), x=WHOLE)
WORDS = ["north", None, "south", "east", "north", "north"]
_KNOWN = ("north", "south")


def _expected(words: list[str | None], numbers: Any) -> list[tuple[Any, ...]]:
    pairs = zip(words, numbers, strict=True)
    return ordered([(word if word in _KNOWN else None, x) for word, x in pairs])


@pytest.mark.parametrize("listed", [True, False])
@pytest.mark.parametrize(
    "encoding", ["PLAIN", "DELTA_BYTE_ARRAY", "DELTA_LENGTH_BYTE_ARRAY"]
)
def test_words_may_be_encoded_in_any_way(
    encoding: str, *, listed: bool, tmp_path: Path
) -> None:
    """Arrow reads only some encodings as dictionaries, and the others as text."""
    words = pa.array(WORDS)
    table = {"k": words.dictionary_encode() if listed else words, "x": range(6)}
    path = write_parquet(
        pa.table(table),
        tmp_path,
        use_dictionary=False,
        column_encoding={"k": encoding},
        row_group_size=2,
    )
    assert _expected(WORDS, range(6)) == rows(path, DATA)


@pytest.mark.heavy
@pytest.mark.parametrize("rows_together", [1, 3000, 1 << 19])
def test_a_dictionary_may_grow_too_large(
    rows_together: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Then the cells that follow stand for themselves, in the same row group."""
    monkeypatch.setattr(parquet, "_READ_ROWS", rows_together)
    words: list[str | None] = [*WORDS * 200, *(f"word {n}" for n in range(2000))]
    path = write_parquet(
        pa.table({"k": words, "x": [n % 99 for n in range(len(words))]}),
        tmp_path,
        dictionary_pagesize_limit=1,
        write_batch_size=10,
    )
    assert _expected(words, [n % 99 for n in range(len(words))]) == rows(path, DATA)


@pytest.mark.parametrize("small", [0, 1 << 16])
def test_words_may_be_too_many_for_a_dictionary(
    small: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Words that no other row has are the same, read in either way."""
    monkeypatch.setattr(parquet, "_SMALL", small)
    words: list[str | None] = [*WORDS, *(f"word {n}" for n in range(100))]
    path = write_parquet(pa.table({"k": words, "x": range(len(words))}), tmp_path)
    assert _expected(words, range(len(words))) == rows(path, DATA)


@pytest.mark.heavy
@pytest.mark.parametrize("version", ["V1", "V2"])
def test_each_row_group_may_be_encoded_in_its_own_way(
    version: str, tmp_path: Path
) -> None:
    """Few words are a dictionary in files of DuckDB, and many words are not."""
    words: list[str | None] = [*WORDS * 30_000, *(f"word {n}" for n in range(150_000))]
    numbers = [n % 99 for n in range(len(words))]
    frame = pl.DataFrame({"k": words, "x": numbers})
    path = duckdb_parquet(frame, tmp_path / "rows.parquet", version)
    assert _expected(words, numbers) == rows(path, DATA)


_FAR: list[tuple[Any, Any]] = [
    (pl.Int32, [-(2**31), 2**31 - 1]),
    (pl.UInt32, [0, 2**32 - 1]),
    (pl.Int64, [-(2**63), 2**63 - 1]),
    (pl.Decimal(9, 0), [-(10**8), 10**8]),
]


@pytest.mark.parametrize("remote", [False, True])
@pytest.mark.parametrize(("dtype", "ends"), _FAR, ids=str)
def test_numbers_may_be_stored_as_differences_of_more_bits(
    dtype: Any, ends: list[int], *, remote: bool, tmp_path: Path
) -> None:
    """DuckDB takes differences in 64 bits, which Arrow refuses, depending on cells."""
    # Few different numbers would become words of a dictionary.
    cells = pl.Series("x", [*ends, *range(2496), *ends]).cast(dtype)
    frame = pl.DataFrame([cells, pl.Series("k", ["north"] * 2500)])
    path = duckdb_parquet(frame, tmp_path / "rows.parquet")
    column = pq.ParquetFile(path).metadata.row_group(0).column(0)
    assert "DELTA_BINARY_PACKED" in column.encodings
    wanted = expected(frame, DATA)
    if not remote:
        assert wanted == rows(path, DATA)
        return
    with served({"/rows.parquet": path.read_bytes()}, ranges=True) as host:
        assert wanted == rows(f"{host}/rows.parquet", DATA)


@pytest.mark.parametrize("raw", [False, True])
@pytest.mark.parametrize("dictionary", [False, True])
def test_an_enum_is_text(*, raw: bool, dictionary: bool, tmp_path: Path) -> None:
    """Other programs write enums, which Arrow takes for bytes."""
    words = [b"north", None, b"south", b"s\xff" if raw else b"east"]
    table = pa.table({"k": raw_text(words), "x": ["1", "2", "3", "4"]})
    path = write_parquet(table, tmp_path, store_schema=False, use_dictionary=dictionary)
    text, enum = b"\x25\x00\x4c\x1c\x00\x00", b"\x25\x08\x4c\x4c\x00\x00"
    path.write_bytes(path.read_bytes().replace(text, enum))
    assert "ENUM" == pq.ParquetFile(path).schema.column(0).logical_type.type
    wanted = [("north", 1), (None, 2), ("south", 3), (None, 4)]
    assert ordered(wanted) == rows(path, DATA)
    ids = rows(path, declare(k=ID))
    assert ordered([(word,) for word in words]) == ids


@pytest.mark.parametrize("names", [["s", "x", "s.x"], ["s.x", "x", "s"]])
def test_a_part_of_a_column_is_not_the_column_of_its_name(
    names: list[str], tmp_path: Path
) -> None:
    """`x` may be a column and a part of another, and `s.x` the name of a third."""
    table = {
        "s": pa.array([{"x": "1"}, {"x": "4"}]),
        "x": pa.array([2, 3]),
        "s.x": pa.array([5, 6], pa.int32()),
    }
    path = write_parquet(pa.table({name: table[name] for name in names}), tmp_path)
    data = declare(**{"x": WHOLE, "s.x": WHOLE})
    assert [(2, 5), (3, 6)] == rows(path, data)


@pytest.mark.property
@given(frame=tables(), data=st.data())
@FEW
def test_rows_may_lie_in_any_row_groups_and_pages(
    frame: pl.DataFrame, data: st.DataObject, tmp_path: Path
) -> None:
    """Whatever the codec, the pages and the row groups are, cells are the same."""
    path = write_parquet(
        arrow(frame),
        tmp_path,
        row_group_size=data.draw(st.sampled_from([1, 2, 5])),
        compression=data.draw(
            st.sampled_from(["none", "snappy", "gzip", "zstd", "lz4"])
        ),
        data_page_version=data.draw(st.sampled_from(["1.0", "2.0"])),
        data_page_size=data.draw(st.sampled_from([1, 64, 1 << 20])),
        write_batch_size=data.draw(st.sampled_from([1, 3, 1024])),
        store_schema=data.draw(st.booleans()),
        store_decimal_as_integer=data.draw(st.booleans()),
        use_dictionary=data.draw(st.booleans()),
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(parquet, "_READ_ROWS", data.draw(st.sampled_from([1, 3, 99])))
        patch.setattr(parquet, "_LARGE", data.draw(st.sampled_from([1, 1 << 31])))
        patch.setattr(parquet, "_SHORT", data.draw(st.sampled_from([0, 1 << 31])))
        assert expected(frame, TABLE) == rows(path, TABLE)


@pytest.mark.parametrize("size", [1, 4, 1 << 19])
def test_numbers_that_polars_reads_stand_beside_text(
    size: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each row keeps its cells, in whatever batches Arrow reads the text."""
    monkeypatch.setattr(parquet, "_READ_ROWS", size)
    path = write_parquet(
        pa.table({"k": WORDS * 4, "x": range(24), "unused": range(24)}),
        tmp_path,
        use_dictionary=["k"],
        column_encoding={"x": "DELTA_BINARY_PACKED", "unused": "PLAIN"},
        row_group_size=7,
    )
    assert _expected(WORDS * 4, range(24)) == rows(path, DATA)
    assert ordered([(x,) for x in range(24)]) == rows(path, declare(x=WHOLE))


@pytest.mark.parametrize("short", [0, 1 << 20])
@pytest.mark.parametrize("encoding", ["PLAIN", "BYTE_STREAM_SPLIT", "dictionary"])
def test_polars_and_arrow_read_the_same_numbers(
    encoding: str, short: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nulls, infinities, NaN and the ends of types, beside a column neither knows."""
    monkeypatch.setattr(parquet, "_SHORT", short)
    monkeypatch.setattr(parquet, "_READ_ROWS", 3)
    y = [None, float("nan"), float("inf"), -0.0, 1e-320, -1.5]
    x = [None, -(2**63), 2**63 - 1, 0, 1, -1]
    others = {"f": pa.array(range(6), pa.uint8()), "g": pa.array(y, pa.float32())}
    plain = {} if encoding == "dictionary" else dict.fromkeys("xyg", encoding)
    path = write_parquet(
        pa.table({"x": pa.array(x, pa.int64()), "y": y, **others}),
        tmp_path,
        use_dictionary=encoding == "dictionary",
        column_encoding=plain or None,
        row_group_size=4,
    )
    data = declare(x=WHOLE, y=REAL, f=WHOLE, g=REAL)
    wide = [None, -(1 << 62), 1 << 62, 0, 1, -1]
    real = [None, None, *y[2:]]
    narrow = pl.Series(real, dtype=pl.Float32).cast(pl.Float64)
    wanted = ordered(list(zip(wide, real, range(6), narrow, strict=True)))
    assert wanted == rows(path, data)


@pytest.mark.parametrize("name", ["a b%20c", "ü#x?y", "a*b[1]", "new\nline", "c;d=e"])
def test_polars_reads_a_file_of_any_name(name: str, tmp_path: Path) -> None:
    """It is given a URL, in which some characters mean something."""
    folder = tmp_path / "odd %41 folder"
    folder.mkdir()
    path = write_parquet(pa.table({"x": [1, 2]}), tmp_path)
    path = path.rename(folder / f"{name}.parquet")
    file = File(content=str(path), values={})
    frame = parquet._scan(file.content).collect()
    assert [1, 2] == frame["x"].to_list()


def test_a_file_that_is_cut_short_ends_no_process(tmp_path: Path) -> None:
    """It is a fault: neither library maps it into memory."""
    path = write_parquet(pa.table({"x": range(100_000)}), tmp_path)
    source = open_source(path, declare(x=WHOLE))
    with path.open("rb+") as file:
        file.truncate(1000)
    with pytest.raises(OSError, match="a file changes while it is read"):
        list(source.batches(["x"], lambda batch: batch))
    maps = Path("/proc/self/maps")
    if maps.exists():
        assert str(tmp_path) not in maps.read_text()


def test_arrow_reads_what_polars_cannot(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A type that polars does not have is no trouble to the columns beside it."""
    monkeypatch.setattr(parquet, "_SHORT", 0)
    asked = []
    monkeypatch.setattr(parquet, "is_readable", asked.append)
    path = write_parquet(pa.table({"x": [1, 2]}), tmp_path)
    assert [(1,), (2,)] == rows(path, declare(x=WHOLE))
    assert 1 == len(asked)


@pytest.mark.parametrize("stored", [1, 4, 5, 6, 40])
@pytest.mark.parametrize("declared", [4, 5])
def test_declared_rows_decide_who_reads(
    declared: int, stored: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One row more in the file changes neither who reads it nor how long that takes."""
    monkeypatch.setattr(parquet, "_SHORT", 5)
    asked = []
    monkeypatch.setattr(parquet, "is_readable", asked.append)
    path = write_parquet(pa.table({"x": range(stored)}), tmp_path)
    data = replace(declare(x=WHOLE), rows=RowsAtMost(count=declared))
    assert ordered([(x,) for x in range(stored)]) == rows(path, data)
    assert (declared >= 5) == bool(asked)


def test_a_file_without_row_groups_has_no_rows(tmp_path: Path) -> None:
    """It is a table all the same."""
    path = tmp_path / "rows.parquet"
    schema = pa.schema({"k": pa.string(), "x": pa.int64()})
    pq.ParquetWriter(path, schema).close()
    assert 0 == pq.ParquetFile(path).metadata.num_row_groups
    assert [] == rows(path, DATA)
    assert 0 == open_source(path, DATA).row_count()


@pytest.mark.parametrize("remote", [False, True])
def test_several_threads_read_one_file(*, remote: bool, tmp_path: Path) -> None:
    """Many row groups of many columns, read at once, are what they were."""
    table = pa.table({"x": range(20_000), "y": [n * 0.5 for n in range(20_000)]})
    path = write_parquet(table, tmp_path, row_group_size=500, use_dictionary=False)
    data = declare(x=WHOLE, y=REAL)
    wanted = ordered([(n, n * 0.5) for n in range(20_000)])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(parquet, "_READ_ROWS", 500)
        if not remote:
            assert wanted == rows(path, data)
            return
        with served({"/rows.parquet": path.read_bytes()}, ranges=True) as host:
            assert wanted == rows(f"{host}/rows.parquet", data)


def test_old_timestamps_of_96_bits_keep_their_years(tmp_path: Path) -> None:
    """Nanoseconds of 64 bits end in 2262; such timestamps do not."""
    moments = [dt.datetime.fromisoformat(x) for x in ("2500-01-01", "1066-10-14")]
    table = pa.table({"utc": pa.array(moments, pa.timestamp("us"))})
    path = write_parquet(table, tmp_path, use_deprecated_int96_timestamps=True)
    data = replace(NEW_TABLE, columns=(NEW_TABLE.column("utc"),))
    expected = [(oracle_cells.second(moment, 0),) for moment in moments]
    assert ordered(expected) == rows(path, data)
