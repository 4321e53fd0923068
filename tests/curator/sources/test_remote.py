"""Files on servers: whole and by ranges, of one version, refused without details."""

from __future__ import annotations

import gzip
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from http_servers import RANGE, served
from object_stores import Cloud, cloud, without_account
from obstore.store import MemoryStore

from dpql.curator.sources import locate as located
from dpql.curator.sources import stores
from dpql.curator.sources.locate import locate
from dpql.curator.sources.remote import (
    Bucket,
    Compressed,
    RemoteFile,
    http_file,
    open_bucket,
)
from dpql.errors import RunFault
from dpql.model.spec import Data, RowsAtMost

DATA = Data(source="rows", rows=RowsAtMost(count=9), columns=())
OBJECTS = {
    "a.csv": b"x\n1\n",
    "t/b.csv": b"x\n22\n",
    "t/k=north/c.csv": b"x\n333\n",
    "t/k=so uth/d.csv": b"x\n4\n",
    "t/k=%C3%A4 %/ä+&=#1?;[].csv": b"x\n5\n",
    "t/_k=1/e.csv": b"x\n6\n",
    "t/_log/f.csv": b"x\n7\n",
    "t/.cache/g.csv": b"x\n8\n",
    "t/_started": b"9",
    "t/.h.csv": b"x\n10\n",
    "t/empty.csv": b"",
    "only/_hidden/a.csv": b"x\n",
    "only/empty.csv": b"",
    "both/c.csv": b"x\n11\n",
}
VISIBLE = [
    "t/_k=1/e.csv",
    "t/b.csv",
    "t/k=%C3%A4 %/ä+&=#1?;[].csv",
    "t/k=north/c.csv",
    "t/k=so uth/d.csv",
]
LONG = bytes(range(251)) * 10_007


@pytest.fixture(autouse=True)
def _without_account(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    without_account(monkeypatch, tmp_path)


@pytest.fixture(scope="module", params=["s3", "gs", "az"])
def there(request: pytest.FixtureRequest) -> Iterator[Cloud]:
    """Run an emulator that holds the objects."""
    with cloud(request.param) as run:
        for key, content in OBJECTS.items():
            run.put(key, content)
        yield run


@pytest.fixture(scope="module")
def s3() -> Iterator[Cloud]:
    """Run an emulator of S3."""
    with cloud("s3") as run:
        yield run


def _keys(url: str) -> tuple[str, list[str]]:
    root, found = located._bucket_files(url, DATA)
    assert list(found) == sorted(found)
    return root, list(found)


def _object(url: str) -> RemoteFile:
    _, found = located._bucket_files(url, DATA)
    (file,) = found.values()
    assert isinstance(file, RemoteFile)
    return file


def _refused(url: str, code: str = "DPQL501") -> str:
    with pytest.raises(RunFault) as caught:
        locate(url, DATA)
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None or caught.value.__suppress_context__
    text = str(caught.value)
    assert text.startswith(code)
    assert "127" not in text
    assert "secret" not in text
    return text


def _ended(script: str, *arguments: str) -> str:
    """Return what a process prints that ends well and complains of nothing."""
    run = subprocess.run(
        [sys.executable, "-c", script, *arguments],
        capture_output=True,
        check=False,
        text=True,
        timeout=900,
    )
    assert (0, "") == (run.returncode, run.stderr)
    return run.stdout


@pytest.fixture
def closed() -> int:
    """Return a port where nobody listens."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
    return port


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Give up on a silent server at once."""
    monkeypatch.setattr(stores, "SILENCE", timedelta(seconds=0.05))


@pytest.fixture
def silent() -> Iterator[int]:
    """Return a port where somebody listens and never answers."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        yield listener.getsockname()[1]


def test_an_object_is_named_by_its_key(there: Cloud) -> None:
    """Each is found alone, hidden and empty ones as well, and read as it is."""
    for key, content in OBJECTS.items():
        assert (key.rpartition("/")[0], [key]) == _keys(there.url(key))
        assert content == _object(there.url(key)).whole()
        assert content == _object(there.url(key)).opened().read()


def test_a_folder_is_all_that_is_visible_below_it(there: Cloud) -> None:
    """Hidden names and empty objects are left out, with or without a slash."""
    assert ("t", VISIBLE) == _keys(there.url("t"))
    assert ("t", VISIBLE) == _keys(there.url("t/"))
    assert ("", ["a.csv", "both/c.csv", *VISIBLE]) == _keys(there.url(""))
    assert ("t/_log", ["t/_log/f.csv"]) == _keys(there.url("t/_log"))
    assert ("t/k=so uth", ["t/k=so uth/d.csv"]) == _keys(there.url("t/k=so uth"))


@pytest.mark.parametrize(
    ("pattern", "root", "keys"),
    [
        ("*.csv", "", ["a.csv"]),
        ("*", "", ["a.csv", "both/c.csv", *VISIBLE]),
        ("t/k=*/*.csv", "t", VISIBLE[2:]),
        ("t/k=*", "t", VISIBLE[2:]),
        ("t/k=??*th/?.csv", "t", VISIBLE[3:]),
        ("t/k=[ns]o*/[!d].csv", "t", ["t/k=north/c.csv"]),
        ("**/c.csv", "", ["both/c.csv", "t/k=north/c.csv"]),
        ("t/**", "t", sorted([*VISIBLE, "t/_log/f.csv", "t/_started"])),
        ("t/.*", "t", ["t/.cache/g.csv", "t/.h.csv"]),
        ("t/_*", "t", ["t/_k=1/e.csv", "t/_log/f.csv", "t/_started"]),
        ("t/?.csv", "t", ["t/b.csv"]),
    ],
)
def test_patterns_name_objects_and_folders(
    there: Cloud, pattern: str, root: str, keys: list[str]
) -> None:
    """Folder names hold values below the fixed part of a pattern."""
    assert (root, keys) == _keys(there.url(pattern))


@pytest.mark.parametrize(
    "key",
    [
        "none.csv",
        "none/",
        "t/none*",
        "only",
        "only/",
        "only/*.csv",
        "t/../a.csv",
        "./a.csv",
        "t//b.csv",
        "/a.csv",
        "T/b.csv",
        "t/k=so%20uth/d.csv",
        "a.csv?x=1",
        "*/../*.csv",
    ],
)
def test_what_is_not_there_is_refused(there: Cloud, key: str) -> None:
    """DPQL501, whatever is written."""
    _refused(there.url(key))


def test_buckets_that_are_not_there_are_refused(there: Cloud) -> None:
    """No bucket, none of that name, and none by a pattern."""
    for bucket in ("", "none", "dat*", "*", ".", "..", "a/../data"):
        _refused(f"{there.kind}://{bucket}/a.csv{there.options}&anonymous=true")


def test_text_is_fetched_and_columnar_files_are_not(there: Cloud) -> None:
    """Readers get bytes, or a file with random access."""
    there.put(".more/b.parquet", b"PAR1")
    (text,) = locate(there.url("a.csv"), DATA)[1]
    assert b"x\n1\n" == text.content
    (columns,) = locate(there.url(".more/b.parquet"), DATA)[1]
    assert isinstance(columns.content, RemoteFile)
    assert there.kind not in repr(columns.content)


def test_folders_of_many_objects_are_listed_to_the_end(s3: Cloud) -> None:
    """A page of a listing has a thousand objects."""
    for number in range(1_001):
        s3.put(f"many/{number}.csv", b"x")
    assert 1_001 == len(_keys(s3.url("many"))[1])
    assert 1_001 == len(_keys(s3.url("many/*.csv"))[1])


def test_a_slash_tells_a_folder_from_an_object_of_its_name(s3: Cloud) -> None:
    """Both may exist in a bucket; so may an object that marks a folder."""
    for key in ("both", "both/c.csv", "both/", "both/k=1/"):
        s3.put(key, b"x" if key.endswith(("both", "csv")) else b"")
    assert ("", ["both"]) == _keys(s3.url("both"))
    assert ("both", ["both/c.csv"]) == _keys(s3.url("both/"))


def test_objects_that_differ_in_slashes_only_are_refused(s3: Cloud) -> None:
    """One of them would be left out silently."""
    for key in ("twins/a.csv", "twins/a.csv/"):
        s3.put(key, b"x\n1\n")
    _refused(s3.url("twins/*.csv"))


@pytest.mark.parametrize("name", ["a.csv", "a.parquet"])
def test_an_object_that_vanishes_is_refused(s3: Cloud, name: str) -> None:
    """An `OSError` without a word of the library."""
    s3.put(f"gone/{name}", b"x")
    file = _object(s3.url(f"gone/{name}"))
    s3.ask("DELETE", f"/data/gone/{name}")
    for read in (file.whole, file.opened):
        with pytest.raises(OSError, match=r"^a remote file cannot be read$") as caught:
            read()
        assert caught.value.__suppress_context__


S3 = "s3://data/a.csv?anonymous=true&scheme=http&endpoint_override=127.0.0.1:{0}"
GOOGLE = "gs://data/a.csv?anonymous=true&scheme=http&endpoint_override=127.0.0.1:{0}"
AZURE = (
    "abfs://data@account.dfs.core.windows.net/a.csv?anonymous=true&enable_tls=false"
    "&blob_storage_authority=127.0.0.1:{0}&dfs_storage_authority=127.0.0.1:{0}"
)
HTTP = "http://127.0.0.1:{0}/a.csv"


@pytest.mark.parametrize("url", [S3, GOOGLE, AZURE, HTTP])
def test_servers_that_are_not_there_are_given_up(url: str, closed: int) -> None:
    """Nobody listens."""
    _refused(url.format(closed))


@pytest.mark.usefixtures("impatient")
@pytest.mark.parametrize("url", [S3, GOOGLE, AZURE, HTTP])
def test_servers_that_never_answer_are_given_up(url: str, silent: int) -> None:
    """Somebody listens and sends nothing."""
    _refused(url.format(silent))


@pytest.mark.usefixtures("impatient")
@pytest.mark.parametrize(
    ("variable", "scheme"),
    [("AWS_METADATA_ENDPOINT", "s3"), ("AZURE_MSI_ENDPOINT", "az")],
)
def test_a_silent_metadata_service_is_given_up(
    variable: str, scheme: str, silent: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Machines elsewhere have none that answers."""
    monkeypatch.setenv(variable, f"http://127.0.0.1:{silent}")
    _refused(
        f"{scheme}://data/a.csv?region=here" if scheme == "s3" else "az://data/a.csv"
    )


QUIET = """
import sys
from dpql.curator.sources.locate import locate
from dpql.model.spec import Data, RowsAtMost
assert not {"pyarrow", "obstore", "boto3"} & set(sys.modules)
data = Data(source="rows", rows=RowsAtMost(count=9), columns=())
_, files = locate(sys.argv[1], data)
left = [files, *(file.content.opened() for file in files)]
print(sum(len(file.read(1)) for file in left[1:]))
"""


def test_a_process_that_read_a_bucket_ends_in_silence(there: Cloud) -> None:
    """Files that are left open make no noise; libraries are imported late."""
    for number in range(3):
        there.put(f".quiet/{number}.parquet", b"PAR1")
    assert "3\n" == _ended(QUIET, there.url(".quiet"))


def _bucket_file(there: Cloud, name: str, content: bytes) -> RemoteFile:
    there.put(f".more/{name}", content)
    return _object(there.url(f".more/{name}"))


def test_ranges_are_read_from_several_threads(there: Cloud) -> None:
    """Every file is opened on its own, and its ranges are those of the whole."""
    file = _bucket_file(there, "ranges.bin", LONG)
    assert _ranges_agree(file)


@pytest.mark.parametrize("ranges", [True, False])
def test_ranges_of_a_page_are_those_of_the_whole(*, ranges: bool) -> None:
    """Also if a server sends no ranges."""
    with served({"/a.bin": LONG}, ranges=ranges) as url:
        assert LONG == http_file(f"{url}/a.bin").whole()
        assert _ranges_agree(http_file(f"{url}/a.bin"))


def _ranges_agree(file: RemoteFile) -> bool:
    def agrees(start: int) -> bool:
        with file.opened() as opened:
            assert len(LONG) == opened.size()
            opened.seek(start)
            size = 7 * (start // 1000) ** 2
            same = LONG[start : start + size] == opened.read(size)
            return bool(same and opened.tell() == min(start + size, len(LONG)))

    with file.opened() as opened:
        assert LONG == opened.read()
        assert b"" == opened.read(9)
    with ThreadPoolExecutor(4) as pool:
        return all(pool.map(agrees, range(0, len(LONG), 99_991)))


def test_a_table_is_read_by_ranges(there: Cloud, tmp_path: Path) -> None:
    """The rows of a parquet file in a bucket are those of the file."""
    table = pa.table({"x": list(range(10_000)), "k": ["north", "ä"] * 5_000})
    pq.write_table(table, tmp_path / "a.parquet", row_group_size=1_000)
    content = (tmp_path / "a.parquet").read_bytes()
    source = _bucket_file(there, "a.parquet", content).opened()
    file = pq.ParquetFile(source, pre_buffer=True)
    batches = list(file.iter_batches(columns=["k", "x"]))
    assert table.select(["k", "x"]) == pa.Table.from_batches(batches)


@pytest.mark.parametrize("size", [0, 1, 2**18 - 1, 2**18, 2**18 + 1, 2**19])
def test_a_file_of_any_size_is_read_to_its_end(size: int, there: Cloud) -> None:
    """Nothing follows the last byte; an empty file has no range."""
    content = LONG[:size]
    with served({"/a.bin": content}) as url:
        for file in (
            http_file(f"{url}/a.bin"),
            _bucket_file(there, f"{size}.bin", content),
        ):
            with file.opened() as opened:
                assert size == opened.size()
                for start in (size, max(0, size - 1), 0, size // 2):
                    opened.seek(start)
                    assert content[start:] == opened.read(2**20)


def test_few_requests_are_sent() -> None:
    """Neighbours come along, at the end of a file as well; wide ranges come alone."""
    asked: list[str | None] = []
    with (
        served({"/a.bin": LONG}, asked=asked) as url,
        http_file(f"{url}/a.bin").opened() as file,
    ):
        for start in (0, 9, 2**18 - 9, len(LONG) - 8, len(LONG) - 2**18, 0, 5):
            file.seek(start)
            assert LONG[start : start + 8] == file.read(8)
        file.seek(2**18)
        assert LONG[2**18 : 2**20] == file.read(3 * 2**18)
        file.seek(1)
        assert LONG[1:9] == file.read(8)
    end = f"bytes={len(LONG) - 2**18}-{len(LONG) - 1}"
    first, wide = f"bytes=0-{2**18 - 1}", f"bytes={2**18}-{2**20 - 1}"
    assert [first, end, first, wide] == asked


def test_one_column_of_many_is_fetched(tmp_path: Path) -> None:
    """Of parquet; and Arrow files are what they were."""
    numbers = list(range(50_000))
    table = pa.table({f"c{number}": numbers for number in range(9)})
    path = tmp_path / "a.parquet"
    pq.write_table(table, path, compression="none", use_dictionary=False)
    with pa.ipc.new_file(tmp_path / "a.arrow", table.schema) as writer:
        writer.write_table(table, max_chunksize=10_000)
    files = {f"/{path.name}": path.read_bytes() for path in tmp_path.iterdir()}
    asked: list[str | None] = []
    with served(files, asked=asked) as url:
        source = http_file(f"{url}/a.parquet").opened()
        file = pq.ParquetFile(source, pre_buffer=True)
        batches = list(file.iter_batches(columns=["c5"]))
        assert table.select(["c5"]) == pa.Table.from_batches(batches).combine_chunks()
        ranges = [text.removeprefix("bytes=").split("-") for text in asked if text]
        size = sum(int(last) - int(first) + 1 for first, last in ranges)
        assert len(ranges) <= 4
        assert 2 * size < len(files["/a.parquet"])
        arrow = pa.ipc.open_file(http_file(f"{url}/a.arrow").opened())
        assert table == arrow.read_all().combine_chunks()


@pytest.mark.parametrize("again", [False, True])
@pytest.mark.parametrize("content", [LONG[:-1], LONG[::-1]])
def test_an_object_that_changes_is_not_read_on(
    there: Cloud, content: bytes, *, again: bool
) -> None:
    """Neither by the same file nor by another that is opened later."""
    file = _bucket_file(there, "changes.bin", LONG)
    opened = file.opened()
    opened.seek(2**19)
    assert LONG[2**19 : 2**19 + 9] == opened.read(9)
    there.put(".more/changes.bin", content)
    opened.seek(2**20)
    with pytest.raises(OSError, match="changed while it was being read"):
        _ = file.opened() if again else opened.read(9)
    with pytest.raises(OSError, match="changed while it was being read"):
        file.whole()
    assert content == _object(there.url(".more/changes.bin")).whole()


CHANGES: dict[str, dict[str, str]] = {
    "tag": {"ETag": '"2"'},
    "time": {"Last-Modified": "Tue, 15 Nov 1994 12:45:26 GMT"},
    "size": {},
}


@pytest.mark.parametrize("again", [False, True])
@pytest.mark.parametrize("change", CHANGES)
def test_a_page_that_changes_is_not_read_on(change: str, *, again: bool) -> None:
    """Two versions are never mixed, whatever tells them apart."""
    files, version = {"/a.bin": LONG}, {"ETag": '"1"'}
    with served(files, version=version) as url:
        file = http_file(f"{url}/a.bin")
        opened = file.opened()
        opened.seek(2**19)
        assert LONG[2**19 : 2**19 + 9] == opened.read(9)
        version.update(CHANGES[change])
        if change == "size":
            files["/a.bin"] = LONG[:-1]
        opened.seek(2**20)
        with pytest.raises(OSError, match="changed while it was being read"):
            _ = file.opened() if again else opened.read(9)
        with pytest.raises(OSError, match="changed while it was being read"):
            file.whole()


@pytest.mark.parametrize("content_range", ["", "bytes 0-{last}/{total}"])
def test_ranges_and_the_whole_are_not_mixed(content_range: str) -> None:
    """A server that stops sending the ranges it is asked for is not believed."""

    class Behaviour:
        """A text that changes."""

        text = RANGE

        def format(self, **numbers: int) -> str:
            """Return the text of now."""
            return self.text.format(**numbers)

    behaviour = Behaviour()
    with served({"/a.bin": LONG}, content_range=behaviour) as url:
        file = http_file(f"{url}/a.bin")
        opened = file.opened()
        opened.seek(2**19)
        behaviour.text = content_range
        for read in (lambda: opened.read(9), lambda: file.between(9, 99), file.whole):
            with pytest.raises(OSError, match="remote file"):
                read()
        behaviour.text = ""
        with pytest.raises(OSError, match="remote file"):
            file.opened()


def test_a_page_without_ranges_is_fetched_once() -> None:
    """All files that are opened share its content."""
    files = {"/a.bin": LONG}
    asked: list[str | None] = []
    with served(files, ranges=False, asked=asked) as url:
        file = http_file(f"{url}/a.bin")
        assert LONG == file.opened().read()
        files["/a.bin"] = b"another"
        assert LONG == file.opened().read() == file.whole()
    assert [f"bytes=0-{2**18 - 1}", None] == asked


def test_a_change_ends_the_reading_of_a_table(tmp_path: Path) -> None:
    """What is raised while a range is fetched comes through pyarrow."""
    table = pa.table({"x": list(range(300_000))})
    pq.write_table(table, tmp_path / "a.parquet", use_dictionary=False)
    files = {"/a.parquet": (tmp_path / "a.parquet").read_bytes()}
    version = {"ETag": '"1"'}
    with served(files, version=version) as url:
        source = http_file(f"{url}/a.parquet").opened()
        file = pq.ParquetFile(source, pre_buffer=True)
        version["ETag"] = '"2"'
        with pytest.raises(OSError, match="changed while it was being read"):
            file.read()


@pytest.mark.parametrize(
    "content_range",
    ["", "bytes {first}-{last}/*", "bytes 1-{last}/{total}", "bytes 0-0/1"],
)
def test_a_server_with_odd_ranges_is_asked_for_the_whole(content_range: str) -> None:
    """Bytes of which nobody knows where they belong are not used."""
    asked: list[str | None] = []
    with (
        served({"/a.bin": LONG}, content_range=content_range, asked=asked) as url,
        http_file(f"{url}/a.bin").opened() as file,
    ):
        assert LONG == file.read()
    assert [f"bytes=0-{2**18 - 1}", None] == asked


@pytest.mark.parametrize("read", [RemoteFile.whole, lambda file: file.opened().read()])
def test_a_length_need_not_be_announced(read: Callable[[RemoteFile], bytes]) -> None:
    """Servers that make a file while they send it do not know it."""
    with served({"/a.bin": LONG}, ranges=False, length=False) as url:
        assert LONG == read(http_file(f"{url}/a.bin"))


def test_a_url_is_asked_for_as_it_is_written() -> None:
    """With its escapes and its query; only the name in its path tells the format."""
    files = {"/a%20b%2Fc.csv": b"x\n1\n", "/k=1/a.csv": b"x\n2\n"}
    with served(files) as url:
        (file,) = locate(f"{url}/a%20b%2Fc.csv?token=a.b#part", DATA)[1]
        assert b"x\n1\n" == file.content
        assert b"x\n1\n" == http_file(f"{url}/a%20b%2Fc.csv?token=a.b").opened().read()
        (file,) = locate(f"{url}/k=1/a.csv", DATA)[1]
        assert (b"x\n2\n", {}) == (file.content, file.values)


def test_the_end_of_a_url_tells_the_format(closed: int) -> None:
    """A URL without a known suffix is refused before anybody is asked."""
    for path in ("", "/", "/rows", "/b.xlsx", "/rows?x=.csv"):
        _refused(f"http://a.org:{closed}{path}", "DPQL502")
    assert "compressed" in _refused(f"http://a.org:{closed}/rows.csv.bz2", "DPQL502")


def test_what_no_server_has_is_refused() -> None:
    """DPQL501, or an `OSError`, without a word of the server or the URL."""
    with served({}) as url:
        _refused(f"{url}/rows.csv")
        for read in (http_file(f"{url}/a").whole, http_file(f"{url}/a").opened):
            with pytest.raises(OSError, match=r"^a remote file cannot be read$"):
                read()
        assert url not in repr(http_file(f"{url}/a"))


@pytest.mark.parametrize("host", ["[", ":0", "a b", "", "a:b", "\x00"])
def test_malformed_urls_are_refused(host: str) -> None:
    """As what is not there."""
    for scheme in ("http", "https"):
        _refused(f"{scheme}://{host}/rows.csv")


@pytest.mark.usefixtures("impatient")
def test_a_silent_server_is_given_up_by_readers(silent: int) -> None:
    """Whole and by ranges."""
    file = http_file(f"http://127.0.0.1:{silent}/a.parquet")
    for read in (file.whole, file.opened):
        with pytest.raises(OSError, match=r"^a remote file cannot be read$"):
            read()


@pytest.mark.parametrize("ranges", [True, False])
def test_a_server_that_compresses_is_refused(*, ranges: bool) -> None:
    """Nothing is decompressed, whoever asks for it."""
    with served({"/a.csv": LONG}, encoding="gzip", ranges=ranges) as url:
        _refused(f"{url}/a.csv", "DPQL502")
        file = http_file(f"{url}/a.csv")
        for read in (file.whole, file.opened):
            with pytest.raises(Compressed):
                read()


def test_nothing_is_decompressed() -> None:
    """The first bytes of a file decide nothing."""
    content = gzip.compress(b"x,k\n1,north\n", mtime=0)
    with served({"/rows.csv": content}, encoding="identity") as url:
        (file,) = locate(f"{url}/rows.csv", DATA)[1]
        assert content == file.content


def test_a_library_that_fails_is_not_quoted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever it raises: its messages hold URLs and keys."""
    import obstore

    def fail(*_: object, **__: object) -> None:
        raise RuntimeError("secret")

    bucket = Bucket(store=MemoryStore(), key="k")
    for name in ("get", "head", "list"):
        monkeypatch.setattr(obstore, name, fail)
    for read in (
        lambda: bucket.has("k"),
        lambda: bucket.sizes(""),
        bucket.file("k").whole,
        bucket.file("k").opened,
    ):
        with pytest.raises(OSError, match=r"^a remote file cannot be read$") as caught:
            read()
        assert caught.value.__suppress_context__


@pytest.mark.parametrize("store", ["S3Store", "GCSStore", "AzureStore"])
def test_a_store_that_cannot_be_made_is_refused(
    store: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Malformed credentials are no traceback."""
    import obstore.store

    monkeypatch.delattr(obstore.store, store)
    scheme = {"S": "s3", "G": "gs", "A": "az"}[store[0]]
    with pytest.raises(OSError, match=r"^a remote file cannot be read$"):
        open_bucket(f"{scheme}://data/a.csv?anonymous=true")
