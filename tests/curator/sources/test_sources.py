"""A cell means the same in every kind of data, whatever stands beside it.

The oracle is `tables.expected`: docs/reference/data.md in plain Python.
"""

from __future__ import annotations

import gzip
import shutil
import zlib
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa
import pytest
from http_servers import served
from hypothesis import example, given
from hypothesis import strategies as st
from object_stores import Cloud, cloud, without_account
from tables import (
    FEW,
    FILES,
    ID,
    KINDS,
    NEW_TABLE,
    TABLE,
    WHOLE,
    category,
    declare,
    expected,
    new_tables,
    ordered,
    rows,
    tables,
)

from dpql.curator.sources import open_source
from dpql.errors import RunFault
from dpql.model.spec import Data

DATA = declare(x=WHOLE, k=category("north", "south", "1"))
FLAT = pl.DataFrame({"x": [1, 2], "k": ["north", "1"]})
ROWS = [(1, "north"), (2, "1")]
LINES = ("csv", "tsv", "ndjson")


def refused(frame: object, data: Data = DATA) -> str:
    """Return the faults of a table that cannot be opened."""
    with pytest.raises(RunFault) as caught:
        open_source(frame, data)
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None or caught.value.__suppress_context__
    return str(caught.value)


# Every kind of data.


@pytest.mark.property
@pytest.mark.parametrize("kind", KINDS)
@given(frame=tables())
@FEW
def test_every_kind_of_data_has_the_same_cells(
    kind: str, frame: pl.DataFrame, tmp_path: Path
) -> None:
    """Whatever the stored types are, cells and the number of rows are the same."""
    stored, made = KINDS[kind].stored(frame), KINDS[kind].make(frame, tmp_path)
    source = open_source(made, TABLE)
    assert frame.height == source.row_count()
    made = made if kind != "arrow stream" else KINDS[kind].make(frame, tmp_path)
    assert expected(stored, TABLE) == rows(made, TABLE)


@pytest.mark.property
@pytest.mark.parametrize("kind", KINDS)
@given(frame=new_tables())
@FEW
def test_every_kind_of_data_has_the_same_times_and_truths(
    kind: str, frame: pl.DataFrame, tmp_path: Path
) -> None:
    """Booleans, numeric keys, dates and times mean the same however they are stored."""
    stored, made = KINDS[kind].stored(frame), KINDS[kind].make(frame, tmp_path)
    assert expected(stored, NEW_TABLE) == rows(made, NEW_TABLE)


UMLAUTS = [b"M\xfcller", b"M\xe4ller", b"M\xc3\xbcller", "M\ufffdller".encode()]
NASTY = [
    *UMLAUTS,
    *(b"\xff", b"\xfe", b"\xc3", b"\xe2\x82", b"\xed\xa0\x80", b"\xed\xb0\x80"),
    *(b"\xf4\x90\x80\x80", b"\xc0\x80", b"\xef\xbf\xbd", b"\x00", b"a\x00", b"a"),
    *(b"A", b" a", b"a ", b"5", b'5"', b'"5', b'"5"', b'""', b"05", b"5.0", b"+5"),
    *(b"5e0", b'"', b"'", b"e\xcc\x81", b"\xc3\xa9", b"null", b"NaN", b"nan", b""),
    *(b"true", b"\xef\xbb\xbfa", b"\\", b"\\u00fc", b"a\r", b"\r", b"x" * 12),
    *(b"x" * 13, b"x" * 13 + b"\xff", b"n\xff", b"1", b"1\xff", b"17\xc3"),
]
"""Texts that some reader somewhere takes for others."""

_BYTES = st.lists(
    st.one_of(
        st.none(),
        st.sampled_from(NASTY),
        st.binary(max_size=6),
        st.binary(min_size=10, max_size=20),
        st.text(max_size=4).map(lambda text: text.encode("utf-8", "surrogatepass")),
    ),
    min_size=1,
    max_size=12,
)
_KEYS = category("M\ufffdller", "5", "n", "a", "true", "\u00e9")
RAW = declare(person=ID, word=_KEYS, whole=WHOLE)


@pytest.mark.property
@pytest.mark.parametrize("kind", [name for name in KINDS if KINDS[name].raw])
@given(cells=_BYTES)
@example(cells=NASTY)
@FEW
def test_text_is_its_bytes_in_every_kind_of_data(
    kind: str, cells: list[bytes | None], tmp_path: Path
) -> None:
    """Ids are bytes; what is not UTF-8 is neither a key nor a number, and alone so."""
    if kind in LINES:
        cells = [c and c.replace(b"\n", b"~") for c in cells]
        cells = [c and c.replace(b",", b"!").replace(b"\t", b"!") for c in cells]
    frame = pl.DataFrame(
        {
            name: pl.Series(cells, dtype=pl.Binary)
            for name in ("person", "word", "whole")
        }
    )
    texts = [None if cell is None else _utf8(cell) for cell in cells]
    meant = frame.with_columns(whole=pl.Series(texts, dtype=pl.String))
    assert expected(meant, RAW) == rows(KINDS[kind].make(frame, tmp_path), RAW)


def _utf8(cell: bytes) -> str | None:
    try:
        return cell.decode()
    except UnicodeDecodeError:
        return None


_NAMES = ["^x$", "^.*$", "*", "=", "a\\b", "a'b", "a.b", "$.x", "[0]", "cell"]
_NAMES += ["0", "literal", "len", "text", "batch", "mask", "x_duplicated_0", "\u00e9"]


@pytest.mark.parametrize("kind", KINDS)
def test_no_name_of_a_column_means_anything(kind: str, tmp_path: Path) -> None:
    """Patterns, paths and words of the readers are names like others."""
    data = declare(**dict.fromkeys(_NAMES, WHOLE), k=category("north", "1"))
    named = [pl.col("x").add(i).alias(name) for i, name in enumerate(_NAMES)]
    frame = FLAT.select(pl.lit(99).alias("x"), pl.lit("9").alias("unused"), *named, "k")
    wanted = [(*range(x, x + len(_NAMES)), k) for x, k in ROWS]
    assert wanted == rows(KINDS[kind].make(frame, tmp_path), data)


@pytest.mark.parametrize("kind", KINDS)
def test_a_column_that_is_not_there_is_refused(kind: str, tmp_path: Path) -> None:
    """By its name; only lines of JSON have no header that could lack one."""
    made = KINDS[kind].make(FLAT.rename({"x": "X"}), tmp_path)
    if kind == "ndjson":
        assert [(None, "1"), (None, "north")] == rows(made, DATA)
    else:
        assert "DPQL503 no column `x` in the data of `rows`" in refused(made)


@pytest.mark.parametrize(
    "frame", [None, 7, 1.5, [1, 2], {1, 2}, object(), pl.Series("x", [1]), b"rows.csv"]
)
def test_what_is_no_table_is_refused(frame: object) -> None:
    """DPQL502, or a column is missing where a thing has columns."""
    assert refused(frame)[:7] in ("DPQL502", "DPQL503")


# Numbers as ids.


def test_whole_numbers_are_ids_by_their_digits(tmp_path: Path) -> None:
    """17 is one unit in all files of a table, whatever their types are."""
    types = [pl.Int8, pl.UInt8, pl.Int16, pl.UInt32, pl.Int64, pl.UInt64, pl.Int128]
    types += [pl.UInt128, pl.Float32, pl.Float64, pl.String, pl.Binary]  # type: ignore[list-item]
    more = [pl.Decimal(10, 0), pl.Decimal(10, 3)]
    data = declare(person=ID)
    for suffix in ("parquet", "arrow"):
        for number, dtype in enumerate([*types, *more]):
            frame = pl.DataFrame({"person": [17, 0, 100]}).cast(dtype)
            (tmp_path / suffix).mkdir(exist_ok=True)
            FILES[suffix](frame, tmp_path / suffix / f"{number}.{suffix}")
            assert [(b"0",), (b"100",), (b"17",)] == rows(frame, data)
        found = rows(tmp_path / suffix, data)
        assert {(b"0",): 14, (b"100",): 14, (b"17",): 14} == {
            row: found.count(row) for row in found
        }


_WIDE = [0, 1, -1, 2**53, 2**53 + 1, 2**63 - 1, -(2**63), 2**64 - 1, 2**63, 10**20]


def test_large_integers_stay_apart(tmp_path: Path) -> None:
    """Beyond 2^53, 2^63 and 2^64, also where files of several widths meet."""
    data = declare(person=ID)
    some = [n for n in _WIDE if abs(n) < 2**63], [n for n in _WIDE if 0 <= n < 2**64]
    for number, (cells, dtype) in enumerate(
        [(some[0], pl.Int64), (some[1], pl.UInt64), (_WIDE, pl.Int128)]
    ):
        frame = pl.DataFrame({"person": pl.Series(cells, dtype=dtype)})
        assert ordered([(b"%d" % cell,) for cell in cells]) == rows(frame, data)
        frame.write_parquet(tmp_path / f"{number}.parquet")
    assert {(b"%d" % cell,) for cell in _WIDE} == set(rows(tmp_path, data))
    assert {(b"%d" % cell,) for cell in _WIDE} == set(rows({"person": _WIDE}, data))


def test_numbers_of_several_types_are_one_unit(tmp_path: Path) -> None:
    """17 and 17.0 are one person, 17.5 and Decimal 17.50 another."""
    for number, cells in enumerate(
        [
            pl.Series([17, 18]),
            pl.Series([17.0, 17.5]),
            pl.Series([17.0, 17.5], dtype=pl.Float32),
            pl.Series([Decimal("17.00"), Decimal("17.50")], dtype=pl.Decimal(9, 2)),
            pl.Series(["17", "17.5"]),
        ]
    ):
        frame = pl.DataFrame({"person": cells})
        frame.write_parquet(tmp_path / f"{number}.parquet")
    found = rows(tmp_path, declare(person=ID))
    assert {(b"17",), (b"18",), (b"17.5",)} == set(found)


def test_numbers_of_text_are_ids_as_they_are_written(tmp_path: Path) -> None:
    """17 and 17.0 are two texts in csv and JSON, and long fractions stay apart."""
    cells = ["17", "17.0", "1.7e1", "0.1", "0.1000000000000000055", "-0", "0", "0.0"]
    cells += ["0.10000000000000000555", "9007199254740993.5", "9007199254740993.25"]
    wanted = ordered([(cell.encode(),) for cell in cells])
    (tmp_path / "a.csv").write_text("\n".join(["person", *cells]))
    (tmp_path / "a.ndjson").write_text("\n".join(f'{{"person": {c}}}' for c in cells))
    odd = "\n".join(f'{{"z": {{}}, "person": {c}}}' for c in cells)
    (tmp_path / "b.ndjson").write_text(odd)
    for name in ("a.csv", "a.ndjson", "b.ndjson"):
        assert wanted == rows(tmp_path / name, declare(person=ID))


@pytest.mark.parametrize(
    "cells",
    [
        pl.Series([0.1, 16777217, 5], dtype=pl.Float32),
        pl.Series([Decimal("0.10"), Decimal("12.34"), None]),
        pl.Series([True, False, None]),
        pl.Series([2**64 - 1, 2**63, 17], dtype=pl.UInt64),
        pl.Series([2**53 + 1, 17, None]),
        pl.Series(["0.1", "17", "x"], dtype=pl.Categorical),
        pl.Series([None, None, None], dtype=pl.Null),
    ],
    ids=lambda cells: str(cells.dtype),
)
@pytest.mark.parametrize("beside", [["x"], [0.5], [3]], ids=str)
def test_a_cell_is_the_same_beside_any_other_type(
    cells: pl.Series, beside: list[Any], tmp_path: Path
) -> None:
    """Whatever the types of the other files of a folder are, it is what it was."""
    data = declare(x=WHOLE, y="{type: float, bounds: [0, 1], nulls: drop}", person=ID)
    parts = [
        pl.DataFrame(dict.fromkeys(("x", "y", "person"), column))
        for column in (cells, pl.Series(beside))
    ]
    for number, part in enumerate(parts):
        part.write_parquet(tmp_path / f"{number}.parquet")
    alone = [row for part in parts for row in expected(part, data)]
    assert ordered(alone) == rows(tmp_path, data)


# Folders, patterns and several files.


@pytest.mark.parametrize("suffix", FILES)
def test_files_are_joined_by_the_names_of_columns(suffix: str, tmp_path: Path) -> None:
    """Columns in another order, or others beside them, are no matter."""
    write = FILES[suffix]
    write(FLAT, tmp_path / f"a.{suffix}")
    write(FLAT.select("k", "x"), tmp_path / f"b.{suffix}")
    wider = FLAT.select(pl.lit(9).alias("y"), "k", pl.lit("z").alias("z"), "x")
    write(wider, tmp_path / f"c.{suffix}")
    for location in (tmp_path, str(tmp_path / f"*.{suffix}"), tmp_path.as_uri()):
        assert ordered(ROWS * 3) == rows(location, DATA)
        assert 6 == open_source(location, DATA).row_count()


@pytest.mark.parametrize("suffix", FILES)
def test_a_file_counts_once_whatever_its_names(suffix: str, tmp_path: Path) -> None:
    """Links in a folder, and patterns that match a folder and its files, add no row."""
    (tmp_path / "deep").mkdir()
    path = tmp_path / "deep" / f"b.{suffix}"
    FILES[suffix](FLAT, path)
    (tmp_path / f"a.{suffix}").symlink_to(path)
    (tmp_path / f"c.{suffix}").hardlink_to(path)
    (tmp_path / "again").symlink_to(tmp_path / "deep", target_is_directory=True)
    for location in (tmp_path, tmp_path / "*", tmp_path / "**", tmp_path / "**" / "*"):
        assert ROWS == rows(str(location), DATA)


@pytest.mark.parametrize("suffix", FILES)
def test_values_of_folders_are_columns_in_every_format(
    suffix: str, tmp_path: Path
) -> None:
    """A folder may name a key, or hide it; it stands before a column of the file."""
    words = {"north": "north", "south": "south", "no%72th": "north", "%ff": None}
    words |= {"__HIVE_DEFAULT_PARTITION__": None, "North": None, "": None}
    for folder in words:
        (tmp_path / f"k={folder}").mkdir()
        FILES[suffix](FLAT, tmp_path / f"k={folder}" / f"a.{suffix}")
        FILES[suffix](FLAT.select("x"), tmp_path / f"k={folder}" / f"b.{suffix}")
    wanted = [(x, word) for word in words.values() for x in (1, 2)] * 2
    for location in (tmp_path, str(tmp_path / "k=*" / f"*.{suffix}")):
        assert ordered(wanted) == rows(location, DATA)


@pytest.mark.parametrize("suffix", FILES)
def test_values_of_folders_are_ids_by_their_bytes(suffix: str, tmp_path: Path) -> None:
    """They are text, whatever they look like; names that are not UTF-8 differ."""
    names = ["M%FCller", "M%E4ller", '"5"', "5", "05", "5.0", "", "%2F", "a=b"]
    wanted: list[bytes | None] = [b"M\xfcller", b"M\xe4ller", b'"5"', b"5", b"05"]
    wanted += [b"5.0", None, b"/", b"a=b"]
    raw = ["M\udcfcllerin", "M\udce4llerin"]
    for name in [*names, *raw]:
        (tmp_path / f"person={name}").mkdir()
        FILES[suffix](FLAT.select("x"), tmp_path / f"a.{suffix}")
        to = tmp_path / f"person={name}" / f"a.{suffix}"
        shutil.move(tmp_path / f"a.{suffix}", to)
    wanted += [b"M\xfcllerin", b"M\xe4llerin"]
    found = rows(tmp_path, declare(x=WHOLE, person=ID))
    assert ordered([(x, id_) for id_ in wanted for x in (1, 2)]) == found


_LISTS = pl.DataFrame({"unused": [[1], [2]]})


@pytest.mark.parametrize(
    ("suffix", "unused"),
    [*((suffix, FLAT) for suffix in FILES), ("parquet", _LISTS), ("arrow", _LISTS)],
)
def test_rows_count_where_folders_name_every_column(
    suffix: str, unused: pl.DataFrame, tmp_path: Path
) -> None:
    """Two files of two rows are four rows, whatever else is in them."""
    for folder in ("k=north", "k=south"):
        (tmp_path / folder).mkdir()
        FILES[suffix](unused, tmp_path / folder / f"a.{suffix}")
    data = declare(k=category("north", "south"))
    assert [("north",)] * 2 + [("south",)] * 2 == rows(tmp_path, data)
    assert 4 == open_source(tmp_path, data).row_count()


@pytest.mark.parametrize("suffix", ["parquet", "arrow", "csv", "tsv"])
def test_a_column_that_one_file_lacks_is_refused(suffix: str, tmp_path: Path) -> None:
    """DPQL503 names it, before any row is read."""
    FILES[suffix](FLAT, tmp_path / f"a.{suffix}")
    FILES[suffix](FLAT.select("x"), tmp_path / f"b.{suffix}")
    assert "DPQL503 no column `k`" in refused(tmp_path)


@pytest.mark.parametrize("suffix", FILES)
def test_files_without_rows_hold_no_rows(suffix: str, tmp_path: Path) -> None:
    """With a header or wholly empty, alone or among others."""
    FILES[suffix](FLAT.clear(), tmp_path / f"a.{suffix}")
    if suffix != "ndjson":
        assert [] == rows(tmp_path / f"a.{suffix}", DATA)
    (tmp_path / f"b.{suffix}").touch()
    FILES[suffix](FLAT, tmp_path / f"c.{suffix}")
    assert ROWS == rows(tmp_path, DATA)
    assert 2 == open_source(tmp_path, DATA).row_count()


def test_an_empty_file_has_no_columns(tmp_path: Path) -> None:
    """Text without a header lacks all columns; lines of JSON have none to miss."""
    codes = {"csv": "503", "tsv": "503", "parquet": "502", "arrow": "502"}
    for suffix in FILES:
        (tmp_path / f"a.{suffix}").touch()
        if suffix in codes:
            assert f"DPQL{codes[suffix]}" in refused(tmp_path / f"a.{suffix}")
    assert [] == rows(tmp_path / "a.ndjson", DATA)


# What is not what it says.


@pytest.mark.parametrize("suffix", ["parquet", "arrow"])
def test_a_file_that_is_not_what_it_says_is_refused(
    suffix: str, tmp_path: Path
) -> None:
    """A text named .parquet is refused from its end, as are both cut short."""
    path = tmp_path / f"a.{suffix}"
    path.write_text("x,k\n1,north\n")
    assert "DPQL502" in refused(path)
    FILES[suffix](FLAT, path)
    path.write_bytes(path.read_bytes()[:-9])
    assert "DPQL502" in refused(path)


_COMPRESSED = {
    "gzip": gzip.compress(b"x,k\n1,north\n", mtime=0),
    "zlib": zlib.compress(b"x,k\n1,north\n"),
    "zstd": b"\x28\xb5\x2f\xfd" + b"x,k\n1,north\n",
}


@pytest.mark.parametrize("kind", _COMPRESSED)
def test_nothing_is_decompressed(kind: str, tmp_path: Path) -> None:
    """The first bytes of a table are no reason to read it in another way."""
    (tmp_path / "a.csv").write_bytes(_COMPRESSED[kind])
    assert "DPQL502" in refused(tmp_path / "a.csv")
    (tmp_path / "a.ndjson").write_bytes(_COMPRESSED[kind] + b'\n{"x":1,"k":"1"}\n')
    assert (1, "1") in rows(tmp_path / "a.ndjson", DATA)


# Files on other machines.


@pytest.fixture(scope="module", params=["s3", "gs", "az"])
def there(request: pytest.FixtureRequest) -> Iterator[Cloud]:
    """Run an emulator of an object store."""
    with cloud(request.param) as run:
        yield run


@pytest.mark.parametrize("suffix", FILES)
def test_files_of_a_bucket_have_the_same_rows(
    there: Cloud, suffix: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An object, a folder, a pattern, and folders that name a column or all of them."""
    without_account(monkeypatch, tmp_path)
    FILES[suffix](FLAT, tmp_path / f"a.{suffix}")
    content = (tmp_path / f"a.{suffix}").read_bytes()
    for key in (f"a.{suffix}", f"k=south/b.{suffix}"):
        there.put(f"{suffix}/{key}", content)
    assert ROWS == rows(there.url(f"{suffix}/a.{suffix}"), DATA)
    both = ordered([*ROWS, (1, "south"), (2, "south")])
    for location in (f"{suffix}/", f"{suffix}/*"):
        assert both == rows(there.url(location), DATA)
    only = open_source(there.url(f"{suffix}/k=*/"), declare(k=category("south")))
    assert 2 == only.row_count()
    data = declare(k=category("south"))
    assert [("south",)] * 2 == rows(there.url(f"{suffix}/k=*/*"), data)


@pytest.mark.parametrize("ranges", [True, False])
@pytest.mark.parametrize("suffix", FILES)
def test_files_behind_a_url_have_the_same_rows(
    suffix: str, *, ranges: bool, tmp_path: Path
) -> None:
    """Servers that send ranges and such that do not serve all formats."""
    FILES[suffix](FLAT, tmp_path / f"a.{suffix}")
    files = {f"/a.{suffix}": (tmp_path / f"a.{suffix}").read_bytes()}
    with served(files, ranges=ranges) as host:
        assert ROWS == rows(f"{host}/a.{suffix}", DATA)
        assert 2 == open_source(f"{host}/a.{suffix}?token=a.b", DATA).row_count()


@pytest.mark.parametrize("ranges", [True, False])
@pytest.mark.parametrize("kind", ["parquet", "parquet plain", "ipc", "csv", "ndjson"])
def test_broken_text_behind_a_url_is_a_text_like_others(
    kind: str, *, ranges: bool, tmp_path: Path
) -> None:
    """It is no key, and its neighbours are what they were."""
    cells = pl.Series("k", [b"nor\xffth", b"1"], pl.Binary)
    made = KINDS[kind].make(pl.DataFrame([pl.Series("x", [1, 2]), cells]), tmp_path)
    with served({f"/{made.name}": made.read_bytes()}, ranges=ranges) as host:
        assert [(1, None), (2, "1")] == rows(f"{host}/{made.name}", DATA)


def test_a_stream_is_read_once_and_counted_before() -> None:
    """Counting rows does not use up what cannot come again."""
    table = pa.table({"x": [1, 2], "k": ["north", "1"]})
    source = open_source(table.to_reader(), DATA)
    assert 2 == source.row_count()
    (batch,) = source.batches(["x"], pl.DataFrame.rows)
    assert [(1,), (2,)] == batch
