"""Data behind URLs: every format, servers of several manners, and none at all."""

from __future__ import annotations

import gzip
import socket
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import ClassVar

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from curator_kinds import WRITE
from test_columns import refused, sums

from dpql.curator.engines import urls
from dpql.curator.engines.urls import Packed, Page, is_web

PART = "bytes {first}-{last}/{total}"
FLAT = pl.DataFrame({"x": [1, 2], "k": ["north", "1"]})


class _Server(BaseHTTPRequestHandler):
    """Serves the files of a table, with or without parts of them."""

    files: ClassVar[dict[str, bytes]] = {}
    parts: ClassVar[bool] = True
    encoding: ClassVar[str] = ""
    version: ClassVar[dict[str, str]] = {}
    says: ClassVar[str] = PART
    asked: ClassVar[list[str | None]] = []

    def do_HEAD(self) -> None:
        """Answer without content."""
        self._answer(head=True)

    def do_GET(self) -> None:
        """Answer with a file or a part of it."""
        self._answer(head=False)

    def log_message(self, *_: object) -> None:
        """Say nothing."""

    def _answer(self, *, head: bool) -> None:
        whole = self.files.get(self.path.partition("?")[0])
        if whole is None:
            self.send_error(404, "secret words of the server")
            return
        self.asked.append(self.headers.get("Range"))
        part, status = whole, 200
        wanted = self.headers.get("Range") if self.parts else None
        first = 0
        if wanted:
            start, _, end = wanted.removeprefix("bytes=").partition("-")
            first = int(start) if start else max(0, len(whole) - int(end))
            last = int(end) + 1 if start and end else len(whole)
            part, status = whole[first:last], 206 if first < len(whole) else 416
        self.send_response(status)
        if status == 206:
            last = first + len(part) - 1
            said = self.says.format(first=first, last=last, total=len(whole))
            self.send_header("Content-Range", said)
        for name, value in self.version.items():
            self.send_header(name, value)
        if self.encoding:
            self.send_header("Content-Encoding", self.encoding)
        self.send_header("Content-Length", str(len(part)))
        self.end_headers()
        if not head:
            self.wfile.write(part)


@contextmanager
def _served(files: dict[str, bytes], **manner: object) -> Iterator[str]:
    manner["files"] = files
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("Manner", (_Server,), manner))
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def _files(folder: Path) -> dict[str, bytes]:
    for suffix, write in WRITE.items():
        write(FLAT, folder / f"rows.{suffix}")
    return {f"/{path.name}": path.read_bytes() for path in folder.iterdir()}


@pytest.mark.parametrize("parts", [True, False])
@pytest.mark.parametrize("suffix", WRITE)
def test_every_format_is_read_from_a_url(
    suffix: str, *, parts: bool, tmp_path: Path
) -> None:
    """Servers that hand out parts and such that do not serve all formats."""
    with _served(_files(tmp_path), parts=parts) as place:
        assert (3, [1, 0, 1]) == sums(f"{place}/rows.{suffix}")
        assert (3, [1, 0, 1]) == sums(f"{place}/rows.{suffix}?token=a.b")


@pytest.mark.parametrize("parts", [True, False])
def test_broken_text_behind_a_url_is_a_text_like_others(
    *, parts: bool, tmp_path: Path
) -> None:
    """Polars gives up on the whole file; it is fetched and read again."""
    raw = pa.array([b"nor\xffth", b"1"], pa.binary()).view(pa.string())
    table = pa.table({"x": pa.array([1, 2]), "k": raw})
    pq.write_table(table, tmp_path / "rows.parquet")
    files = {"/rows.parquet": (tmp_path / "rows.parquet").read_bytes()}
    with _served(files, parts=parts) as place:
        assert (3, [0, 0, 1]) == sums(f"{place}/rows.parquet")


@pytest.mark.parametrize("suffix", WRITE)
def test_what_no_server_has_is_refused(suffix: str) -> None:
    """DPQL501 without a word of the server or of the place."""
    with _served({}) as place:
        text = refused(f"{place}/rows.{suffix}")
    assert "DPQL501" in text
    assert "secret" not in text
    assert "127" not in text


@pytest.mark.parametrize("suffix", WRITE)
def test_servers_that_are_not_there_are_refused(suffix: str) -> None:
    """Nobody listens, nobody answers to the name, or the name is none."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    for place in (f"http://127.0.0.1:{port}", "http://[", "http://:0", "https://a b"):
        assert "DPQL501" in refused(f"{place}/rows.{suffix}")


@pytest.mark.parametrize("suffix", WRITE)
def test_a_silent_server_is_given_up(
    suffix: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A server that takes the call and never answers ends in DPQL501."""
    monkeypatch.setattr(urls, "_SECONDS", 0.05)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        assert "DPQL501" in refused(f"http://127.0.0.1:{port}/rows.{suffix}")


@pytest.mark.parametrize("suffix", WRITE)
def test_a_server_that_compresses_is_refused(suffix: str, tmp_path: Path) -> None:
    """Nothing is decompressed, whoever asks for it."""
    with _served(_files(tmp_path), encoding="gzip") as place:
        assert "DPQL502" in refused(f"{place}/rows.{suffix}")


@pytest.mark.parametrize("parts", [True, False])
@pytest.mark.parametrize("suffix", ["parquet", "arrow"])
def test_a_file_that_is_not_what_its_url_says_is_refused(
    suffix: str, *, parts: bool
) -> None:
    """A page of text under the name of a table is a fault before any row."""
    with _served({f"/rows.{suffix}": b"<html>x,k</html>" * 9}, parts=parts) as place:
        text = refused(f"{place}/rows.{suffix}")
    assert text.startswith(("DPQL501", "DPQL502"))
    assert "html" not in text


def test_nothing_from_a_url_is_decompressed() -> None:
    """The first bytes of a text decide nothing, wherever it comes from."""
    packed = gzip.compress(b"x,k\n1,north\n", mtime=0)
    with _served({"/rows.csv": packed, "/rows.ndjson": packed}) as place:
        assert "DPQL502" in refused(f"{place}/rows.csv")
        total, _ = sums(f"{place}/rows.ndjson")
    assert total == 7 * len(packed.removesuffix(b"\n").split(b"\n"))


def test_the_end_of_a_url_tells_the_format() -> None:
    """A URL without a known suffix is refused before anybody is asked."""
    for place in ("http://127.0.0.1:9/", "http://127.0.0.1:9/rows", "http://a/b.xlsx"):
        assert "DPQL502" in refused(place)
    assert "compressed" in refused("http://127.0.0.1:9/rows.csv.gz")


LONG = bytes(range(251)) * 10_007


@pytest.mark.parametrize("parts", [True, False])
def test_parts_of_a_page_are_those_of_the_whole(*, parts: bool) -> None:
    """From several threads, each with a file of its own."""
    with _served({"/a.bin": LONG}, parts=parts) as place:
        page = Page(f"{place}/a.bin")
        assert LONG == page.whole()

        def part(start: int) -> bool:
            with page.opened() as file:
                assert len(LONG) == file.size()
                file.seek(start)
                size = 7 * (start // 1000) ** 2
                same = LONG[start : start + size] == file.read(size)
                return bool(same and file.tell() == min(start + size, len(LONG)))

        with ThreadPoolExecutor(4) as pool:
            assert all(pool.map(part, range(0, len(LONG), 99_991)))
        with page.opened() as file:
            assert LONG == file.read()
            assert b"" == file.read(9)


@pytest.mark.parametrize("size", [0, 1, 2**18 - 1, 2**18, 2**18 + 1, 2**19])
def test_a_page_of_any_size_is_read_to_its_end(size: int) -> None:
    """Nothing lies behind the last byte; of nothing there is no part."""
    with (
        _served({"/a.bin": LONG[:size]}) as place,
        Page(f"{place}/a.bin").opened() as file,
    ):
        assert size == file.size()
        for start in (size, max(0, size - 1), 0, size // 2):
            file.seek(start)
            assert LONG[:size][start:] == file.read(2**20)


def test_few_questions_are_asked() -> None:
    """Neighbours come along, at the end of a file as well; wide parts come alone."""
    asked: list[str | None] = []
    with (
        _served({"/a.bin": LONG}, asked=asked) as place,
        Page(f"{place}/a.bin").opened() as file,
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


def test_a_table_on_a_page_is_read_by_columns(tmp_path: Path) -> None:
    """One column of many is fetched, of parquet and of Arrow, and is what it was."""
    numbers = list(range(50_000))
    table = pa.table({f"c{place}": numbers for place in range(9)})
    path = tmp_path / "a.parquet"
    pq.write_table(table, path, compression="none", use_dictionary=False)
    with pa.ipc.new_file(tmp_path / "a.arrow", table.schema) as writer:
        writer.write_table(table, max_chunksize=10_000)
    files = {f"/{path.name}": path.read_bytes() for path in tmp_path.iterdir()}
    asked: list[str | None] = []
    with _served(files, asked=asked) as place:
        source = Page(f"{place}/a.parquet").opened()
        file = pq.ParquetFile(source, pre_buffer=True)
        batches = list(file.iter_batches(columns=["c5"]))
        assert table.select(["c5"]) == pa.Table.from_batches(batches).combine_chunks()
        parts = [text.removeprefix("bytes=").split("-") for text in asked if text]
        size = sum(int(last) - int(first) + 1 for first, last in parts)
        assert len(parts) <= 4
        assert 2 * size < len(files["/a.parquet"])
        arrow = pa.ipc.open_file(Page(f"{place}/a.arrow").opened())
        assert table == arrow.read_all().combine_chunks()


CHANGES: dict[str, dict[str, str]] = {
    "tag": {"ETag": '"2"'},
    "time": {"Last-Modified": "Tue, 15 Nov 1994 12:45:26 GMT"},
    "size": {},
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_page_that_changes_is_not_read_on(change: str) -> None:
    """Two versions are never mixed, whatever tells them apart."""
    files, version = {"/a.bin": LONG}, {"ETag": '"1"'}
    with (
        _served(files, version=version) as place,
        Page(f"{place}/a.bin").opened() as file,
    ):
        file.seek(2**19)
        assert LONG[2**19 : 2**19 + 9] == file.read(9)
        version.update(CHANGES[change])
        if change == "size":
            files["/a.bin"] = LONG[:-1]
        file.seek(2**20)
        with pytest.raises(OSError, match="changes while it is read"):
            file.read(9)


def test_a_change_ends_the_reading_of_a_table(tmp_path: Path) -> None:
    """What is raised while a part is fetched comes through pyarrow."""
    table = pa.table({"x": list(range(300_000))})
    pq.write_table(table, tmp_path / "a.parquet", use_dictionary=False)
    files, version = _files(tmp_path), {"ETag": '"1"'}
    with _served(files, version=version) as place:
        file = pq.ParquetFile(Page(f"{place}/a.parquet").opened(), pre_buffer=True)
        version["ETag"] = '"2"'
        with pytest.raises(OSError, match="changes while it is read"):
            file.read()


@pytest.mark.parametrize(
    "says", ["", "bytes {first}-{last}/*", "bytes 1-{last}/{total}", "bytes 0-0/1"]
)
def test_a_server_that_counts_in_its_own_way_is_asked_for_the_whole(says: str) -> None:
    """A part of which nobody knows where it belongs is not used."""
    asked: list[str | None] = []
    with (
        _served({"/a.bin": LONG}, says=says, asked=asked) as place,
        Page(f"{place}/a.bin").opened() as file,
    ):
        assert LONG == file.read()
    assert [f"bytes=0-{2**18 - 1}", None] == asked


def test_another_part_than_asked_for_is_not_used() -> None:
    """A server that later counts in another way is not believed."""
    says = {"says": PART}

    class Says:
        """A text that may change."""

        def format(self, **known: int) -> str:
            """Return what is said now."""
            return says["says"].format(**known)

    with (
        _served({"/a.bin": LONG}, says=Says()) as place,
        Page(f"{place}/a.bin").opened() as file,
    ):
        says["says"] = "bytes 0-{last}/{total}"
        file.seek(2**19)
        with pytest.raises(OSError, match="changes while it is read"):
            file.read(9)


def test_what_cannot_be_had_is_no_traceback(monkeypatch: pytest.MonkeyPatch) -> None:
    """An `OSError` without a word of the server or of the place."""
    monkeypatch.setattr(urls, "_SECONDS", 0.05)
    with _served({}) as place, socket.create_server(("127.0.0.1", 0)) as silent:
        nobody = f"http://127.0.0.1:{silent.getsockname()[1]}"
        for url in (f"{place}/a.csv", f"{nobody}/a.csv", "http://[/a", "http://a b/c"):
            page = Page(url)
            assert url not in repr(page)
            for read in (page.whole, page.opened):
                with pytest.raises(OSError, match="web") as caught:
                    read()
                assert "secret" not in str(caught.value)
                assert "127" not in str(caught.value)


@pytest.mark.parametrize("parts", [True, False])
def test_a_page_that_is_compressed_is_told_apart(*, parts: bool) -> None:
    """It is there, but not what its name says."""
    with _served({"/a.csv": LONG}, encoding="gzip", parts=parts) as place:
        for read in (Page(f"{place}/a.csv").whole, Page(f"{place}/a.csv").opened):
            with pytest.raises(Packed):
                read()


@pytest.mark.parametrize(
    ("url", "web"),
    [
        ("http://a/b", True),
        ("HTTPS://a/b", True),
        ("http://[", True),
        ("s3://a/b", False),
        ("http:a", False),
        ("a/http://b", False),
    ],
)
def test_pages_are_known_by_their_schemes(url: str, *, web: bool) -> None:
    """Whatever follows."""
    assert web is is_web(url)
