"""Files are located, and their formats told apart, by their names alone."""

from __future__ import annotations

import os
import shutil
import socket
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from obstore.store import MemoryStore
from spec_text import make_spec

from dpql.curator.sources import locate as module
from dpql.curator.sources.formats import FORMATS
from dpql.curator.sources.locate import (
    File,
    locate,
    no_file,
    refuse_special_file,
    special_file,
    unreadable,
)
from dpql.curator.sources.remote import Bucket
from dpql.errors import RunFault
from dpql.model.spec import Data
from dpql.planner import plan

DATA = plan(
    make_spec(
        {"k": "{type: category, keys: [north]}", "_k": "{type: id}"},
        {"c": {"count": "rows", "spend": "{share: 1}"}},
    )
).spec.data
ROWS = b"x,k\n1,north\n"
SUFFIXES = [suffix.removeprefix(".") for suffix in FORMATS]


def _write(path: Path, content: bytes = ROWS) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return path


def _located(location: Path | str, data: Data = DATA) -> list[str]:
    """Return the names of the files, with their folder values."""
    _, files = locate(str(location), data)
    found = []
    for file in files:
        assert isinstance(file.content, str)
        values = [f"{name}={value!r}" for name, value in file.values.items()]
        found.append(" ".join([Path(file.content).name, *values]))
    return found


def _refused(location: Path | str, code: str = "DPQL501") -> str:
    with pytest.raises(RunFault) as caught:
        locate(str(location), DATA)
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None or caught.value.__suppress_context__
    text = str(caught.value)
    assert text.startswith(code)
    return text


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_path_a_folder_a_glob_and_a_url_name_the_same(
    suffix: str, tmp_path: Path
) -> None:
    """Every format works in every way, with its suffix in any case."""
    path = _write(tmp_path / "deep" / f"a.{suffix}")
    expected = FORMATS[f".{suffix}"], [File(content=str(path), values={})]
    for location in (
        str(path),
        str(path.parent),
        str(tmp_path),
        str(tmp_path / "*"),
        str(tmp_path / "**" / "*"),
        str(tmp_path / "deep" / "?.*"),
        path.as_uri(),
        path.as_uri().replace("file://", "file://localhost"),
    ):
        assert expected == locate(location, DATA)
    loud = path.rename(path.with_suffix(f".{suffix.upper()}"))
    assert expected[0] == locate(str(loud), DATA)[0]


def test_a_relative_path_is_made_absolute(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file stays located if the working directory changes."""
    path = _write(tmp_path / "a.csv")
    monkeypatch.chdir(tmp_path)
    for location in ("a.csv", "./a.csv", "*.csv", "."):
        assert [str(path)] == [file.content for file in locate(location, DATA)[1]]


def test_a_file_counts_once_whatever_its_names(tmp_path: Path) -> None:
    """Links in a folder, and globs that match a folder and its files, add no row."""
    path = _write(tmp_path / "deep" / "b.csv")
    (tmp_path / "a.csv").symlink_to(path)
    (tmp_path / "c.csv").hardlink_to(path)
    (tmp_path / "again").symlink_to(tmp_path / "deep", target_is_directory=True)
    for location in (tmp_path, tmp_path / "*", tmp_path / "**", tmp_path / "**" / "*"):
        assert ["a.csv"] == _located(location)


def test_linked_folders_are_followed_once(tmp_path: Path) -> None:
    """A partition may be a link, and links may lead in a circle."""
    _write(tmp_path / "elsewhere" / "a.parquet")
    (tmp_path / "table").mkdir()
    (tmp_path / "table" / "k=south").symlink_to(tmp_path / "elsewhere")
    (tmp_path / "elsewhere" / "circle").symlink_to(tmp_path / "table")
    assert ["a.parquet k=b'south'"] == _located(tmp_path / "table")


def test_folders_hold_values_of_declared_columns(tmp_path: Path) -> None:
    """They are percent-decoded bytes; the null folder and other columns hold none."""
    for folder, value in {
        "k=north": " k=b'north'",
        "k=no%72th": " k=b'north'",
        "k=%FF": " k=b'\\xff'",
        "k=": " k=b''",
        "k=a=b": " k=b'a=b'",
        "k=__HIVE_DEFAULT_PARTITION__": " k=None",
        "k=1/k=2": " k=b'2'",
        "%6B=1": " k=b'1'",
        "_k=1/k=2": " _k=b'1' k=b'2'",
        "undeclared=1": "",
        "k": "",
    }.items():
        path = _write(tmp_path / "table" / folder / "a.csv")
        assert [f"a.csv{value}"] == _located(tmp_path / "table")
        assert [f"a.csv{value}"] == _located(tmp_path / "t*" / "**" / "*.csv")
        assert ["a.csv"] == _located(path)
        assert ["a.csv"] == _located(path.as_uri())
        shutil.rmtree(tmp_path / "table")


def test_values_count_below_the_fixed_part_of_a_glob(tmp_path: Path) -> None:
    """A folder that is named in full holds no value."""
    _write(tmp_path / "k=north" / "_k=1" / "a.csv")
    assert ["a.csv _k=b'1'"] == _located(tmp_path / "k=north" / "*" / "a.csv")
    assert ["a.csv k=b'north' _k=b'1'"] == _located(tmp_path / "k=*" / "_k=1" / "a.csv")


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_empty_files_among_others_hold_no_rows(suffix: str, tmp_path: Path) -> None:
    """They are left out, except for JSON lines, which have no header to miss."""
    _write(tmp_path / f"b.{suffix}")
    _write(tmp_path / f"a.{suffix}", b"")
    lines = FORMATS[f".{suffix}"] == "ndjson"
    expected = [f"a.{suffix}", f"b.{suffix}"] if lines else [f"b.{suffix}"]
    for location in (tmp_path, tmp_path / f"*.{suffix}"):
        assert expected == _located(location)
    (tmp_path / f"b.{suffix}").unlink()
    for location in (tmp_path, tmp_path / f"*.{suffix}"):
        if lines:
            assert [f"a.{suffix}"] == _located(location)
        else:
            _refused(location)
    assert [f"a.{suffix}"] == _located(tmp_path / f"a.{suffix}")


def test_files_of_several_formats_are_refused(tmp_path: Path) -> None:
    """Neither a folder nor a glob may mix them; hidden files do not count."""
    _write(tmp_path / "a.parquet")
    _write(tmp_path / "b.csv")
    for location in (tmp_path, tmp_path / "*"):
        assert "several kinds" in _refused(location, "DPQL502")
    (tmp_path / "b.csv").rename(tmp_path / ".b.csv")
    _write(tmp_path / "_log" / "b.csv")
    _write(tmp_path / "_started")
    assert ["a.parquet"] == _located(tmp_path)
    assert [".b.csv"] == _located(tmp_path / ".b.csv")
    assert ["b.csv"] == _located(tmp_path / "_log")


def test_a_folder_of_a_column_with_an_underscore_is_not_hidden(tmp_path: Path) -> None:
    """``_k=1`` holds values; ``_log`` does not."""
    _write(tmp_path / "_k=1" / "a.csv")
    assert ["a.csv _k=b'1'"] == _located(tmp_path)


@pytest.mark.parametrize("suffix", ["zip", "bz2", "xz", "lz4", "Z"])
def test_compressed_files_are_refused(suffix: str, tmp_path: Path) -> None:
    """Only .gz and .zst are decompressed."""
    path = _write(tmp_path / f"a.csv.{suffix}")
    for location in (path, tmp_path):
        assert "are compressed" in _refused(location, "DPQL502")


def test_files_without_a_known_suffix_are_refused(tmp_path: Path) -> None:
    """But in a folder, files without any suffix are parquet, as old tools write it."""
    path = _write(tmp_path / "000000_0")
    assert ("parquet", [File(content=str(path), values={})]) == locate(
        str(tmp_path), DATA
    )
    assert "no kind" in _refused(path, "DPQL502")
    assert "no kind" in _refused(tmp_path / "*", "DPQL502")
    assert "no kind" in _refused(_write(tmp_path / "a.xlsx"), "DPQL502")


@pytest.mark.parametrize(
    "location",
    [
        "",
        "nowhere.csv",
        "no*where.csv",
        "nowhere/",
        "file:///nowhere.csv",
        "file://elsewhere/nowhere.csv",
        "file://[nowhere.csv",
        "ftp://a/nowhere.csv",
        "~/nowhere.csv",
        "\x00.csv",
        "a\udcff.csv",
        "x" * 5000 + ".csv",
    ],
)
def test_what_is_not_there_is_refused(location: str) -> None:
    """DPQL501, and the location is not repeated."""
    assert "nowhere" not in _refused(location)


def test_an_empty_folder_is_refused(tmp_path: Path) -> None:
    """No file, no data."""
    _refused(tmp_path)
    _write(tmp_path / ".hidden.csv")
    _refused(tmp_path)


@pytest.mark.parametrize(
    "name", ["a[1]", "a*", "a?", "{a,b}", "a b%20c", "#a", "~a", "a\\b", "é", "a=b"]
)
def test_a_file_is_found_by_its_very_name(name: str, tmp_path: Path) -> None:
    """Wildcards are letters where a file has them."""
    path = _write(tmp_path / f"{name}.csv")
    _write(tmp_path / "other" / "a1.csv")
    assert [f"{name}.csv"] == _located(path)
    assert [f"{name}.csv"] == _located(path.as_uri())


def test_names_need_not_be_utf8(tmp_path: Path) -> None:
    """Readers get the bytes of such a file, and the bytes of its folder's value."""
    try:
        os.mkdir(os.fsencode(tmp_path) + b"/k=no\xff")  # noqa: PTH102  bytes
    except OSError:
        pytest.skip("this file system allows no such names")
    _write(tmp_path / "k=no\udcff" / "\udcfe.csv")
    expected = File(content=ROWS, values={"k": b"no\xff"})
    assert ("csv", [expected]) == locate(str(tmp_path), DATA)


def test_files_and_folders_without_permission_are_refused(tmp_path: Path) -> None:
    """Rows would be left out silently."""
    if os.geteuid() == 0:
        pytest.skip("root may read anything")
    _write(tmp_path / "a.csv")
    _write(tmp_path / "closed" / "b.csv").parent.chmod(0)
    _refused(tmp_path)


def _pipe(path: Path) -> None:
    os.mkfifo(path)


def _socket(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as bound:
        # The path of a socket may not be long; a relative one is not.
        bound.bind(os.path.relpath(path))


def _device(path: Path) -> None:
    path.symlink_to("/dev/zero")


SPECIAL: dict[str, Callable[[Path], None]] = {
    "pipe": _pipe,
    "socket": _socket,
    "device": _device,
}


@pytest.mark.parametrize("kind", SPECIAL)
def test_special_files_are_refused_without_opening_them(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By path, link, URL, glob and folder, unless they are hidden: DPQL511."""
    monkeypatch.chdir(tmp_path)
    _write(tmp_path / "rows" / "a.csv")
    SPECIAL[kind](tmp_path / "rows" / ".hidden.csv")
    assert ["a.csv"] == _located(tmp_path / "rows")
    path = tmp_path / "rows" / "b.csv"
    SPECIAL[kind](path)
    (tmp_path / "link.csv").symlink_to(path)
    for location in (
        path,
        tmp_path / "link.csv",
        tmp_path / "rows",
        tmp_path / "rows" / "*.csv",
        tmp_path / "r*",
    ):
        _refused(location, "DPQL511")
        for frame in (location, str(location)):
            with pytest.raises(RunFault, match="DPQL511"):
                refuse_special_file(frame, DATA)
    _refused(path.as_uri(), "DPQL511")


def test_only_special_files_are_refused_early(tmp_path: Path) -> None:
    """Readers report all other faults, and frames are none of its business."""
    path = _write(tmp_path / "a.csv")
    for frame in (path, "nowhere.csv", tmp_path / "a.xlsx", "s3://b/k", None, [1], ""):
        refuse_special_file(frame, DATA)


def test_faults_name_the_source_and_nothing_else() -> None:
    """A fault holds neither location nor content."""
    assert "`rows`" in str(no_file(DATA)) + str(unreadable(DATA))
    codes = [no_file(DATA), unreadable(DATA), special_file("names")]
    assert ["DPQL501", "DPQL502", "DPQL511"] == [str(fault)[:7] for fault in codes]
    assert "north" not in repr(File(content=b"north", values={"k": b"north"}))


def _memory(files: dict[str, bytes], key: str) -> Bucket:
    store = MemoryStore()
    for name, content in files.items():
        store.put(name, content)
    return Bucket(store=store, key=key)


NAMES = ["a", "ab", "b", ".h", "_m", "k=1", "_k=1"]
PARTS = [*NAMES, "*", "**", "a*", "?", "[ab]", "[!a]*", ".*", "_*", "k=*", "*.csv", "["]


@given(
    st.sets(
        st.lists(st.sampled_from(NAMES), min_size=1, max_size=4).map("/".join),
        max_size=9,
    ),
    st.lists(st.sampled_from(PARTS), max_size=4),
    st.sampled_from([*PARTS, "a.csv", "b.csv"]),
    st.sampled_from(["", "/"]),
)
@settings(deadline=None)
def test_a_bucket_follows_the_rules_of_local_files(
    names: set[str], parts: list[str], last: str, slash: str
) -> None:
    """Whatever lies there, a pattern names the same files and values in both."""
    files = {
        f"{name}.csv": b"x" if number % 4 else b""
        for number, name in enumerate(sorted(names))
    }
    key = "/".join([*parts, last])
    assume(key not in files or not slash)  # only in a bucket is this a folder
    root, keys = module._keys(_memory(files, key + slash))
    with tempfile.TemporaryDirectory() as folder:
        for name, content in files.items():
            _write(Path(folder, name), content)
        try:
            base, _, here = module._local(f"{folder}/{key}{slash}", DATA)
        except RunFault:
            assert [] == keys
        else:
            assert sorted(here) == sorted(f"{folder}/{name}" for name in keys)
            assert str(Path(folder, root)) == base


def test_the_objects_of_a_bucket_are_sorted(monkeypatch: pytest.MonkeyPatch) -> None:
    """However a store lists them."""
    bucket = _memory({"b.csv": b"x", "a/c.csv": b"x", "a.csv": b"x"}, "")
    monkeypatch.setattr(module.remote, "open_bucket", lambda _: bucket)
    root, found = module._bucket_files("s3://b", DATA)
    assert ("", ["a.csv", "a/c.csv", "b.csv"]) == (root, list(found))
