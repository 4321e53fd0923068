"""HTTP servers of several behaviour: with ranges or without, of one version or many."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import ClassVar

RANGE = "bytes {first}-{last}/{total}"


class _Server(BaseHTTPRequestHandler):
    """Serves files, with or without ranges of them."""

    files: ClassVar[dict[str, bytes]] = {}
    ranges: ClassVar[bool] = True
    length: ClassVar[bool] = True
    encoding: ClassVar[str] = ""
    version: ClassVar[dict[str, str]] = {}
    content_range: ClassVar[str] = RANGE
    asked: ClassVar[list[str | None]] = []

    def do_GET(self) -> None:
        """Send a file or a range of it."""
        whole = self.files.get(self.path.partition("?")[0])
        if whole is None:
            self.send_error(404, "secret words of the server")
            return
        self.asked.append(self.headers.get("Range"))
        part, status = whole, 200
        wanted = self.headers.get("Range") if self.ranges else None
        first = 0
        if wanted:
            start, _, end = wanted.removeprefix("bytes=").partition("-")
            first, last = int(start), int(end) + 1
            part, status = whole[first:last], 206 if first < len(whole) else 416
        self.send_response(status)
        if status == 206:
            last = first + len(part) - 1
            text = self.content_range.format(first=first, last=last, total=len(whole))
            self.send_header("Content-Range", text)
        for name, value in self.version.items():
            self.send_header(name, value)
        if self.encoding:
            self.send_header("Content-Encoding", self.encoding)
        if self.length:
            self.send_header("Content-Length", str(len(part)))
        self.end_headers()
        self.wfile.write(part)

    def log_message(self, *_: object) -> None:
        """Print nothing."""


@contextmanager
def served(files: dict[str, bytes], **behaviour: object) -> Iterator[str]:
    """Run a server of some behaviour, and return its URL."""
    with run(type("Server", (_Server,), {"files": files, **behaviour})) as host:
        yield f"http://{host}"


class _Recorder(BaseHTTPRequestHandler):
    """Notes what it is asked, and knows only the answers that it was given."""

    answers: ClassVar[dict[str, bytes]] = {}
    asked: ClassVar[list[tuple[str, str]]] = []

    def _answer(self) -> None:
        self.asked.append((self.path, self.headers.get("Authorization", "")))
        content = self.answers.get(self.path.partition("?")[0])
        self.send_response(404 if content is None else 200)
        self.send_header("Content-Length", str(len(content or b"")))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content or b"")

    def do_GET(self) -> None:
        """Answer."""
        self._answer()

    def do_PUT(self) -> None:
        """Answer."""
        self._answer()

    def do_HEAD(self) -> None:
        """Answer."""
        self._answer()

    def log_message(self, *_: object) -> None:
        """Print nothing."""


@contextmanager
def recorder(
    answers: dict[str, bytes] | None = None,
) -> Iterator[tuple[str, list[tuple[str, str]]]]:
    """Run a server; return its host, and the paths and signatures it was asked with."""
    asked: list[tuple[str, str]] = []
    behaviour = {"answers": answers or {}, "asked": asked}
    with run(type("Recorder", (_Recorder,), behaviour)) as host:
        yield host, asked


@contextmanager
def run(handler: type[BaseHTTPRequestHandler]) -> Iterator[str]:
    """Run a server, and return its host and port."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield f"127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
