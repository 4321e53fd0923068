"""Objects of clouds: found by names, read whole and in parts, refused in one way."""

from __future__ import annotations

import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from cloud_server import Cloud, cloud, without_account
from hypothesis import given, settings
from hypothesis import strategies as st
from pyarrow import fs

from dpql.curator.engines import cloud_systems, clouds
from dpql.curator.engines.clouds import Object, cloud_files, is_cloud
from dpql.curator.engines.places import find
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
SEEN = [
    "t/_k=1/e.csv",
    "t/b.csv",
    "t/k=%C3%A4 %/ä+&=#1?;[].csv",
    "t/k=north/c.csv",
    "t/k=so uth/d.csv",
]


@pytest.fixture(autouse=True)
def _without_account(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    without_account(monkeypatch, tmp_path)


@pytest.fixture(scope="module", params=["s3", "gs"])
def there(request: pytest.FixtureRequest) -> Iterator[Cloud]:
    """Run a cloud in which the objects are."""
    with cloud(request.param) as run:
        for key, content in OBJECTS.items():
            run.put(key, content)
        yield run


@pytest.fixture(scope="module")
def s3() -> Iterator[Cloud]:
    """Run a cloud of its own."""
    with cloud("s3") as run:
        yield run


def _keys(url: str) -> tuple[str, list[str]]:
    root, found = cloud_files(url, DATA)
    assert [object_.path for object_ in found.values()] == list(found) == sorted(found)
    return root, [path.removeprefix("data/") for path in found]


def _refused(url: str) -> str:
    with pytest.raises(RunFault) as caught:
        cloud_files(url, DATA)
    assert caught.value.__context__ is None or caught.value.__suppress_context__
    return str(caught.value)


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


@pytest.mark.parametrize(
    ("url", "cloudy"),
    [
        ("s3://a/b", True),
        ("S3://a/b", True),
        ("gs://a/b", True),
        ("gcs://a/b", True),
        ("abfs://a/b", True),
        ("abfss://a@b/c", True),
        ("az://a/b", True),
        ("http://a/b", False),
        ("ftp://a/b", False),
        ("file:///a", False),
        ("s3", False),
        ("s3:/a", False),
        ("", False),
    ],
)
def test_clouds_are_known_by_their_schemes(url: str, *, cloudy: bool) -> None:
    """Nothing else is asked for objects."""
    assert cloudy is is_cloud(url)


def test_an_object_is_named_by_its_key(there: Cloud) -> None:
    """Each is found alone, hidden and empty ones as well, and read as it is."""
    for key, content in OBJECTS.items():
        root, found = cloud_files(there.url(key), DATA)
        assert f"data/{key}".rpartition("/")[0] == root
        assert [f"data/{key}"] == list(found)
        assert content == found[f"data/{key}"].whole()


def test_a_folder_is_all_that_is_seen_below_it(there: Cloud) -> None:
    """Hidden names and empty objects are left out, with or without a slash."""
    assert ("data/t", SEEN) == _keys(there.url("t"))
    assert ("data/t", SEEN) == _keys(there.url("t/"))
    assert ("data", ["a.csv", "both/c.csv", *SEEN]) == _keys(there.url(""))
    assert ("data/t/_log", ["t/_log/f.csv"]) == _keys(there.url("t/_log"))
    assert ("data/t/k=so uth", ["t/k=so uth/d.csv"]) == _keys(there.url("t/k=so uth"))


@pytest.mark.parametrize(
    ("pattern", "root", "keys"),
    [
        ("*.csv", "data", ["a.csv"]),
        ("*", "data", ["a.csv", "both/c.csv", *SEEN]),
        ("t/k=*/*.csv", "data/t", SEEN[2:]),
        ("t/k=*", "data/t", SEEN[2:]),
        ("t/k=??*th/?.csv", "data/t", SEEN[3:]),
        ("t/k=[ns]o*/[!d].csv", "data/t", ["t/k=north/c.csv"]),
        ("**/c.csv", "data", ["both/c.csv", "t/k=north/c.csv"]),
        ("t/**", "data/t", sorted([*SEEN, "t/_log/f.csv", "t/_started"])),
        ("t/.*", "data/t", ["t/.cache/g.csv", "t/.h.csv"]),
        ("t/_*", "data/t", ["t/_k=1/e.csv", "t/_log/f.csv", "t/_started"]),
        ("t/?.csv", "data/t", ["t/b.csv"]),
    ],
)
def test_patterns_name_objects_and_folders(
    there: Cloud, pattern: str, root: str, keys: list[str]
) -> None:
    """Names of folders count below the part of a pattern that is none."""
    assert (root, keys) == _keys(there.url(pattern))


@pytest.mark.parametrize(
    "url",
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
def test_what_is_not_there_is_refused(there: Cloud, url: str) -> None:
    """DPQL501, whatever is written."""
    assert "DPQL501" in _refused(there.url(url))


def test_buckets_that_are_not_there_are_refused(there: Cloud) -> None:
    """No bucket, none of that name, and none by a pattern."""
    for bucket in ("", "none", "dat*", "*", ".", "..", "a/../data"):
        url = f"{there.kind}://{bucket}/a.csv{there.question}"
        assert "DPQL501" in _refused(url)
        assert "127" not in _refused(url)


def test_parts_are_read_from_several_threads(there: Cloud) -> None:
    """Every file is opened on its own, and its parts are those of the whole."""
    content = bytes(range(256)) * 4096
    there.put(".more/parts.bin", content)
    _, found = cloud_files(there.url(".more/parts.bin"), DATA)
    (object_,) = found.values()

    def part(start: int) -> bool:
        with object_.opened() as file:
            assert len(content) == file.size()
            file.seek(start)
            return bool(content[start : start + 999] == file.read(999))

    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(part, range(0, len(content), 50_000)))


def test_a_table_is_read_in_parts(there: Cloud, tmp_path: Path) -> None:
    """The rows of a parquet file in a cloud are those of the file."""
    table = pa.table({"x": list(range(10_000)), "k": ["north", "ä"] * 5_000})
    pq.write_table(table, tmp_path / "a.parquet", row_group_size=1_000)
    there.put(".more/a.parquet", (tmp_path / "a.parquet").read_bytes())
    _, found = cloud_files(there.url(".more/*.parquet"), DATA)
    file = pq.ParquetFile(found["data/.more/a.parquet"].opened(), pre_buffer=True)
    batches = list(file.iter_batches(columns=["k", "x"]))
    assert table.select(["k", "x"]) == pa.Table.from_batches(batches)


def test_objects_are_sorted(there: Cloud, monkeypatch: pytest.MonkeyPatch) -> None:
    """However a cloud lists them."""
    found = "data", ["data/b", "data/a/c", "data/a"]
    monkeypatch.setattr(clouds, "_found", lambda *_: found)
    assert ("data", ["a", "a/c", "b"]) == _keys(there.url("*"))


def test_folders_of_many_objects_are_listed_to_the_end(s3: Cloud) -> None:
    """A page of a listing has a thousand objects."""
    for number in range(1_001):
        s3.put(f"many/{number}.csv", b"x")
    assert 1_001 == len(_keys(s3.url("many"))[1])
    assert 1_001 == len(_keys(s3.url("many/*.csv"))[1])


def test_a_slash_tells_a_folder_from_an_object_of_its_name(s3: Cloud) -> None:
    """Both may be there, in clouds; so may an object that marks a folder."""
    for key in ("both", "both/c.csv", "both/", "both/k=1/"):
        s3.put(key, b"x" if key.endswith(("both", "csv")) else b"")
    assert ("data", ["both"]) == _keys(s3.url("both"))
    assert ("data/both", ["both/c.csv"]) == _keys(s3.url("both/"))


def test_an_object_that_is_written_anew_is_not_read(s3: Cloud) -> None:
    """What is read before and after would be two versions."""
    s3.put("anew.csv", b"x\n1\n")
    _, found = cloud_files(s3.url("anew.csv"), DATA)
    (object_,) = found.values()

    class Rewritten:
        """Opens a file; at the second time it is written anew before."""

        later = False

        def open_input_file(self, path: str) -> Any:
            """Open it."""
            if self.later:
                s3.put("anew.csv", b"x\n2\n")
            self.later = True
            return object_.system.open_input_file(path)

    with pytest.raises(OSError, match="changes"):
        Object(Rewritten(), object_.path).whole()
    assert b"x\n2\n" == object_.whole()


def test_objects_that_vanish_are_no_traceback(s3: Cloud) -> None:
    """An `OSError` without a word of the library."""
    s3.put("gone.csv", b"x")
    _, found = cloud_files(s3.url("gone.csv"), DATA)
    s3.ask("DELETE", "/data/gone.csv")
    (object_,) = found.values()
    for read in (object_.whole, object_.opened, Object(object_.system, "//").opened):
        with pytest.raises(OSError, match="an object of a cloud cannot be") as caught:
            read()
        assert "gone" not in str(caught.value)
    assert "gone" not in repr(object_)


def test_keys_decide_who_reads(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keys of the environment or of the URL; with others, DPQL501 names none."""
    with cloud("s3") as guarded:
        guarded.put("a.csv", b"x")
        guarded.guard()
        escaped = guarded.secret.replace("/", "%2F").replace("+", "%2B")
        user = f"{guarded.access}:{escaped}@"
        assert ("data", ["a.csv"]) == _keys(guarded.url("a.csv", user))
        assert "DPQL501" in _refused(guarded.url("a.csv"))
        wrong = _refused(guarded.url("a.csv", f"{guarded.access}:hunter2@"))
        assert "DPQL501" in wrong
        assert "hunter2" not in wrong
        assert guarded.access not in wrong
        monkeypatch.setenv("AWS_ACCESS_KEY_ID", guarded.access)
        monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", guarded.secret)
        assert ("data", ["a.csv"]) == _keys(guarded.url("*.csv"))
        monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "hunter2")
        assert "hunter2" not in _refused(guarded.url("a.csv"))


@pytest.mark.parametrize("variable", ["AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_S3"])
def test_the_environment_says_where_a_cloud_is(
    s3: Cloud, variable: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No URL has to name a server."""
    s3.put("where.csv", b"x")
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")
    monkeypatch.setenv(variable, f"http://127.0.0.1:{s3.port}/")
    assert ("data", ["where.csv"]) == _keys("s3://data/where.csv")


S3 = "s3://data/a.csv?scheme=http&endpoint_override=127.0.0.1:{0}"
GOOGLE = "gs://data/a.csv?scheme=http&endpoint_override=127.0.0.1:{0}"
AZURE = (
    "abfs://data@account.dfs.core.windows.net/a.csv?enable_tls=false"
    "&blob_storage_authority=127.0.0.1:{0}&dfs_storage_authority=127.0.0.1:{0}"
)


@pytest.mark.parametrize("url", [S3, GOOGLE])
def test_clouds_that_are_not_there_are_given_up(
    url: str, closed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody listens; the address is not told."""
    monkeypatch.setattr(cloud_systems, "_RETRIES", 1)
    text = _refused(url.format(closed))
    assert "DPQL501" in text
    assert "127" not in text


@pytest.mark.parametrize("url", [S3, GOOGLE, AZURE])
def test_clouds_that_never_answer_are_given_up(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Somebody listens and says no word; not all libraries would ever end."""
    monkeypatch.setattr(clouds, "_SECONDS", 0.05)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        assert "DPQL501" in _refused(url.format(listener.getsockname()[1]))


@pytest.mark.parametrize("name", ["S3FileSystem", "GcsFileSystem"])
def test_an_installation_without_a_cloud_is_refused(
    name: str, there: Cloud, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not every pyarrow is built with all clouds."""
    monkeypatch.delattr(fs, name)
    if name.lower().startswith(there.kind[0]):
        assert "DPQL501" in _refused(there.url("a.csv"))
    else:
        assert ("data", ["a.csv"]) == _keys(there.url("a.csv"))


QUIET = """
import sys
from dpql.curator.engines.clouds import cloud_files
from dpql.model.spec import Data, RowsAtMost
assert "pyarrow" not in sys.modules
data = Data(source="rows", rows=RowsAtMost(count=9), columns=())
_, found = cloud_files(sys.argv[1], data)
left = [found, *(each.opened() for each in found.values())]
print(sum(len(each.read(1)) for each in left[1:]))
"""


def test_a_process_that_read_a_cloud_ends_in_silence(there: Cloud) -> None:
    """Files that are left open make no noise; pyarrow is imported late."""
    user = "" if there.kind == "s3" else "anonymous@"
    assert f"{len(SEEN)}\n" == _ended(QUIET, there.url("t", user))


SILENT = """
import sys
from dpql.curator.engines import cloud_systems, clouds
from dpql.errors import RunFault
from dpql.model.spec import Data, RowsAtMost
clouds._SECONDS = 0.5
try:
    clouds.cloud_files(
        sys.argv[1], Data(source="rows", rows=RowsAtMost(count=9), columns=())
    )
except RunFault as fault:
    print(str(fault)[:7])
"""


def test_a_process_that_gave_up_ends_in_silence() -> None:
    """A thread that waits for a silent cloud holds nobody up."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        place = f"127.0.0.1:{listener.getsockname()[1]}"
        url = f"gs://anonymous@data/a.csv?scheme=http&endpoint_override={place}"
        assert "DPQL501\n" == _ended(SILENT, url)


NAMES = ["a", "ab", "b", ".h", "_m", "k=1", "_k=1"]
PARTS = [*NAMES, "*", "**", "a*", "?", "[ab]", "[!a]*", ".*", "_*", "k=*", "*.csv", "["]


@given(
    st.sets(
        st.lists(st.sampled_from(NAMES), min_size=1, max_size=4).map("/".join),
        max_size=9,
    ),
    st.lists(st.sampled_from(PARTS), max_size=4),
    st.sampled_from([*PARTS, "a.csv", "b.csv"]),
)
@settings(deadline=None)
def test_rules_are_those_of_places_on_this_machine(
    files: set[str], parts: list[str], last: str
) -> None:
    """Whatever lies there, a pattern names the same files here and in a cloud."""
    with tempfile.TemporaryDirectory() as folder:
        for number, file in enumerate(sorted(files)):
            path = Path(folder, f"{file}.csv")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(b"x" if number % 4 else b"")
        place = "/".join([folder, *parts, last])
        system = fs.LocalFileSystem()
        info = system.get_file_info(place)
        try:
            actual = clouds._found(system, place, info)
        except NotADirectoryError:
            actual = "", []
        try:
            here = find(place, DATA)
        except RunFault:
            assert [] == actual[1]
        else:
            assert (here.root, sorted(here.files)) == (actual[0], sorted(actual[1]))
