"""Files are found and told apart by their names, and joined by the names of columns."""

from __future__ import annotations

import gzip
import os
import shutil
import zlib
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from curator_kinds import WRITE
from spec_text import make_spec
from test_columns import made, refused, sums

from dpql.curator.engines import engine_named
from dpql.planner import plan

FLAT = pl.DataFrame({"x": [1, 2], "k": ["north", "1"]})


@pytest.mark.parametrize("suffix", WRITE)
def test_a_path_a_folder_a_pattern_and_a_url_name_the_same(
    suffix: str, tmp_path: Path
) -> None:
    """Every format works in every way, with its suffix in any case."""
    (tmp_path / "deep").mkdir()
    WRITE[suffix](FLAT, tmp_path / "deep" / f"a.{suffix}")
    expected = (3, [1, 0, 1])
    path = tmp_path / "deep" / f"a.{suffix}"
    for place in (
        path,
        str(path),
        path.parent,
        tmp_path,
        tmp_path / "*",
        tmp_path / "**" / "*",
        tmp_path / "deep" / "?.*",
        path.as_uri(),
        path.as_uri().replace("file://", "file://localhost"),
    ):
        assert expected == sums(place if isinstance(place, str) else str(place))
    shutil.move(path, path.with_suffix(f".{suffix.upper()}"))
    assert expected == sums(path.with_suffix(f".{suffix.upper()}"))


@pytest.mark.parametrize("suffix", WRITE)
def test_a_file_counts_once_whatever_its_names(suffix: str, tmp_path: Path) -> None:
    """Links in a folder, and patterns that match a folder and its files, add no row."""
    (tmp_path / "deep").mkdir()
    path = tmp_path / "deep" / f"b.{suffix}"
    WRITE[suffix](FLAT, path)
    (tmp_path / f"a.{suffix}").symlink_to(path)
    (tmp_path / f"c.{suffix}").hardlink_to(path)
    (tmp_path / "again").symlink_to(tmp_path / "deep", target_is_directory=True)
    for place in (tmp_path, tmp_path / "*", tmp_path / "**", tmp_path / "**" / "*"):
        assert (3, [1, 0, 1]) == sums(str(place))


def test_linked_folders_are_read_once(tmp_path: Path) -> None:
    """A partition may be a link, and links may lead in a circle."""
    (tmp_path / "elsewhere").mkdir()
    WRITE["parquet"](FLAT, tmp_path / "elsewhere" / "a.parquet")
    (tmp_path / "table").mkdir()
    (tmp_path / "table" / "k=south").symlink_to(tmp_path / "elsewhere")
    (tmp_path / "elsewhere" / "circle").symlink_to(tmp_path / "table")
    assert (3, [0, 2, 0]) == sums(tmp_path / "table")


@pytest.mark.parametrize("suffix", WRITE)
def test_files_are_joined_by_the_names_of_columns(suffix: str, tmp_path: Path) -> None:
    """Columns in another order, or others beside them, are no matter."""
    WRITE[suffix](FLAT, tmp_path / f"a.{suffix}")
    WRITE[suffix](FLAT.select("k", "x"), tmp_path / f"b.{suffix}")
    wider = FLAT.select(pl.lit(9).alias("y"), "k", pl.lit("z").alias("z"), "x")
    WRITE[suffix](wider, tmp_path / f"c.{suffix}")
    assert (9, [3, 0, 3]) == sums(tmp_path)
    assert (9, [3, 0, 3]) == sums(str(tmp_path / f"*.{suffix}"))


@pytest.mark.parametrize("suffix", WRITE)
def test_values_of_folders_are_columns_in_every_format(
    suffix: str, tmp_path: Path
) -> None:
    """A folder may name a key, or hide it; it stands before a column of the file."""
    for folder in ("k=north", "k=south", "k=__HIVE_DEFAULT_PARTITION__", "k=no%72th"):
        (tmp_path / folder).mkdir()
        WRITE[suffix](FLAT, tmp_path / folder / f"a.{suffix}")
        WRITE[suffix](FLAT.select("x"), tmp_path / folder / f"b.{suffix}")
    assert (24, [8, 4, 0]) == sums(tmp_path)
    assert (24, [8, 4, 0]) == sums(str(tmp_path / "k=*" / f"*.{suffix}"))
    assert (18, [8, 4, 0]) == sums(str(tmp_path / "k=*th" / f"?.{suffix}"))


@pytest.mark.parametrize("suffix", ["parquet", "arrow", "csv", "tsv"])
def test_a_column_that_one_file_lacks_is_missing(suffix: str, tmp_path: Path) -> None:
    """DPQL503 names it, before any row is read."""
    WRITE[suffix](FLAT, tmp_path / f"a.{suffix}")
    WRITE[suffix](FLAT.select("x"), tmp_path / f"b.{suffix}")
    assert "DPQL503 no column `k`" in refused(tmp_path)


@pytest.mark.parametrize("suffix", WRITE)
def test_empty_files_among_others_hold_no_rows(suffix: str, tmp_path: Path) -> None:
    """A part without rows and without a header is nothing."""
    WRITE[suffix](FLAT, tmp_path / f"b.{suffix}")
    (tmp_path / f"a.{suffix}").touch()
    assert (3, [1, 0, 1]) == sums(tmp_path)
    assert (3, [1, 0, 1]) == sums(str(tmp_path / f"*.{suffix}"))


def test_a_table_of_json_without_a_row_is_a_table(tmp_path: Path) -> None:
    """Whether a folder or a pattern can be read does not hang on the only row."""
    (tmp_path / "a.ndjson").touch()
    for place in (tmp_path, str(tmp_path / "*.ndjson"), tmp_path / "a.ndjson"):
        assert (0, [0, 0, 0]) == sums(place)


def test_an_empty_file_has_no_columns(tmp_path: Path) -> None:
    """Text without a header lacks all columns; other formats are not what they say."""
    for suffix, code in {
        "csv": "503",
        "tsv": "503",
        "parquet": "502",
        "arrow": "502",
    }.items():
        (tmp_path / f"a.{suffix}").touch()
        assert f"DPQL{code}" in refused(tmp_path / f"a.{suffix}")
    (tmp_path / "a.ndjson").touch()
    assert (0, [0, 0, 0]) == sums(tmp_path / "a.ndjson")
    (tmp_path / "none").mkdir()
    assert "DPQL501" in refused(tmp_path / "none")


@pytest.mark.parametrize("suffix", ["csv", "tsv"])
@pytest.mark.parametrize(
    ("header", "code"),
    [
        (b"x,k", None),
        (b"x,k\r", None),
        (b'"x","k"', None),
        (b"\xef\xbb\xbfx,k", None),
        (b"x,k,", None),
        (b"x,k,y,y", None),
        (b"x,k,\xff", None),
        (b"x,k,k_duplicated_0", None),
        (b"x,k,x", "twice"),
        (b'x,k,"x"', "twice"),
        (b"", "no column"),
        (b"X,k", "no column"),
        (b" x,k", "no column"),
        (b"3,north", "no column"),
    ],
)
def test_the_first_line_names_the_columns(
    header: bytes, code: str | None, suffix: str, tmp_path: Path
) -> None:
    """Names are taken as they are but for quotes, and none may be twice."""
    raw = header + b"\n3,north\n4,south,9\n"
    path = tmp_path / f"a.{suffix}"
    path.write_bytes(raw if suffix == "csv" else raw.replace(b",", b"\t"))
    if code is None:
        assert (7, [1, 1, 0]) == sums(path)
    else:
        assert f"DPQL503 {code}" in refused(path).replace("column `x` is there ", "")


def test_files_of_several_formats_are_refused(tmp_path: Path) -> None:
    """Neither a folder nor a pattern may mix them, whatever the files hold."""
    WRITE["parquet"](FLAT, tmp_path / "a.parquet")
    WRITE["csv"](FLAT, tmp_path / "b.csv")
    for place in (tmp_path, str(tmp_path / "*")):
        assert "DPQL502" in refused(place)
    (tmp_path / "b.csv").rename(tmp_path / ".b.csv")
    (tmp_path / "_log").mkdir()
    WRITE["csv"](FLAT, tmp_path / "_log" / "b.csv")
    assert (3, [1, 0, 1]) == sums(tmp_path)


def test_hidden_names_hide_no_values(tmp_path: Path) -> None:
    """A folder whose column begins with an underscore is not hidden."""
    (tmp_path / "_k=north").mkdir()
    WRITE["parquet"](FLAT, tmp_path / "_k=north" / "a.parquet")
    assert (3, [2, 0, 0]) == sums(tmp_path, made("x", "_k"))


PACKED = {
    "gzip": gzip.compress(b"x,k\n1,north\n", mtime=0),
    "zlib": zlib.compress(b"x,k\n1,north\n"),
    "zstd": b"\x28\xb5\x2f\xfd" + b"x,k\n1,north\n",
}


@pytest.mark.parametrize("kind", PACKED)
def test_nothing_is_decompressed(kind: str, tmp_path: Path) -> None:
    """Neither a name nor the first bytes make a reader decompress."""
    (tmp_path / "a.csv").write_bytes(PACKED[kind])
    assert "DPQL502" in refused(tmp_path / "a.csv")
    for suffix in ("gz", "zst", "zip", "bz2", "xz"):
        (tmp_path / f"a.csv.{suffix}").write_bytes(PACKED[kind])
        assert "DPQL502 the data of `rows` are compressed" in refused(
            tmp_path / f"a.csv.{suffix}"
        )


@pytest.mark.parametrize("suffix", ["parquet", "arrow"])
def test_a_file_that_is_not_what_it_says_is_refused(
    suffix: str, tmp_path: Path
) -> None:
    """A text named .parquet is refused from its end, as are both cut short."""
    path = tmp_path / f"a.{suffix}"
    path.write_text("x,k\n1,north\n")
    assert "DPQL502" in refused(path)
    WRITE[suffix](FLAT, path)
    path.write_bytes(path.read_bytes()[:-9])
    assert "DPQL502" in refused(path)


@pytest.mark.parametrize(
    "place",
    [
        "",
        "nowhere.csv",
        "no*where.csv",
        "nowhere/",
        "file:///nowhere.csv",
        "file://elsewhere/nowhere.csv",
        "~/nowhere.csv",
        "\x00.csv",
        "a\udcff.csv",
        "x" * 5000 + ".csv",
    ],
)
def test_what_is_not_there_is_refused(place: str) -> None:
    """DPQL501, and the place is not repeated."""
    text = refused(place)
    assert "DPQL501" in text
    assert "nowhere" not in text


@pytest.mark.parametrize("suffix", WRITE)
@pytest.mark.parametrize(
    "name", ["a[1]", "a*", "a?", "{a,b}", "a b%20c", "#a", "~a", "a\\b", "é", "a=b"]
)
def test_a_file_is_found_by_its_very_name(
    name: str, suffix: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Signs of patterns are letters where a file has them."""
    WRITE[suffix](FLAT, tmp_path / f"{name}.{suffix}")
    assert (3, [1, 0, 1]) == sums(tmp_path / f"{name}.{suffix}")
    assert (3, [1, 0, 1]) == sums(tmp_path)
    monkeypatch.chdir(tmp_path)
    assert (3, [1, 0, 1]) == sums(f"{name}.{suffix}")


@pytest.mark.parametrize("suffix", WRITE)
def test_names_need_not_be_utf8(suffix: str, tmp_path: Path) -> None:
    """Any bytes may be in names, and those that are no UTF-8 are no declared key."""
    try:
        os.mkdir(os.fsencode(tmp_path) + b"/k=no\xff")  # noqa: PTH102  bytes
    except OSError:
        pytest.skip("this file system allows no such names")
    for folder in ("k=no\udcff", "k=north"):
        (tmp_path / folder).mkdir(exist_ok=True)
        WRITE[suffix](FLAT, tmp_path / f"a.{suffix}")
        shutil.move(tmp_path / f"a.{suffix}", tmp_path / folder / f"\udcfe.{suffix}")
    assert (6, [2, 0, 0]) == sums(tmp_path)
    named = plan(
        make_spec(
            {"k": '{type: category, keys: ["no�"]}'},
            {"c": {"count": "rows", "by": "[k]", "spend": "{share: 1}"}},
        )
    )
    engine: Any = engine_named("polars")
    opened = engine.open_frame(tmp_path, named.spec.data)
    found = engine.add_up(named, opened, salt=b"s" * 32, tick=None)
    assert [0] == list(found.moments[0]["n"])


@pytest.mark.parametrize("suffix", ["parquet", "arrow"])
def test_rows_count_where_folders_name_every_column(
    suffix: str, tmp_path: Path
) -> None:
    """Two files of three rows are six rows, also where polars cannot read them."""
    decided = plan(
        make_spec(
            {"k": "{type: category, keys: [north, south]}"},
            {"c": {"count": "rows", "by": "[k]", "spend": "{share: 1}"}},
        )
    )
    strange = pa.table({"unused": pa.array([[1]] * 3, pa.list_view(pa.int64()))})
    for name, table in {
        "plain": pa.table({"y": [1, 2, 3]}),
        "strange": strange,
    }.items():
        for folder in ("k=north", "k=south"):
            path = tmp_path / name / folder / f"a.{suffix}"
            path.parent.mkdir(parents=True)
            if suffix == "parquet":
                pq.write_table(table, path)
            else:
                with pa.ipc.new_file(path, table.schema) as file:
                    file.write(table)
        engine: Any = engine_named("polars")
        opened = engine.open_frame(tmp_path / name, decided.spec.data)
        found = engine.add_up(decided, opened, salt=b"s" * 32, tick=None)
        assert [3, 3] == list(found.moments[0]["n"])


def test_files_without_a_suffix_in_a_folder_are_parquet(tmp_path: Path) -> None:
    """Tables of old tools have such parts; a single file must have a suffix."""
    WRITE["parquet"](FLAT, tmp_path / "000000_0")
    assert (3, [1, 0, 1]) == sums(tmp_path)
    assert "DPQL502" in refused(tmp_path / "000000_0")


@pytest.mark.parametrize("suffix", WRITE)
def test_files_that_may_not_be_read_are_refused(suffix: str, tmp_path: Path) -> None:
    """A file that is there and closed is a fault of the place, not of the engine."""
    if os.geteuid() == 0:
        pytest.skip("root may read anything")
    WRITE[suffix](FLAT, tmp_path / f"a.{suffix}")
    (tmp_path / f"a.{suffix}").chmod(0)
    assert "DPQL501" in refused(tmp_path / f"a.{suffix}")
