"""Data behind URLs: every format, servers of several manners, and none at all."""

from __future__ import annotations

import gzip
import socket
import threading
from collections.abc import Iterator
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

FLAT = pl.DataFrame({"x": [1, 2], "k": ["north", "1"]})


class _Server(BaseHTTPRequestHandler):
    """Serves the files of a table, with or without parts of them."""

    files: ClassVar[dict[str, bytes]] = {}
    parts: ClassVar[bool] = True
    encoding: ClassVar[str] = ""

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
        part, status = whole, 200
        wanted = self.headers.get("Range") if self.parts else None
        first = 0
        if wanted:
            start, _, end = wanted.removeprefix("bytes=").partition("-")
            first = int(start) if start else max(0, len(whole) - int(end))
            last = int(end) + 1 if start and end else len(whole)
            part, status = whole[first:last], 206
        self.send_response(status)
        if status == 206:
            last = first + len(part) - 1
            self.send_header("Content-Range", f"bytes {first}-{last}/{len(whole)}")
        if self.encoding:
            self.send_header("Content-Encoding", self.encoding)
        self.send_header("Content-Length", str(len(part)))
        self.end_headers()
        if not head:
            self.wfile.write(part)


@contextmanager
def _served(
    files: dict[str, bytes], *, parts: bool = True, encoding: str = ""
) -> Iterator[str]:
    manner = {"files": files, "parts": parts, "encoding": encoding}
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
    for place in ("http://127.0.0.1:9/", "http://127.0.0.1:9/rows", "s3://a/b.xlsx"):
        assert "DPQL502" in refused(place)
    assert "compressed" in refused("http://127.0.0.1:9/rows.csv.gz")
