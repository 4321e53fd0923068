"""Files on HTTP servers, S3, Google Cloud Storage and Azure, read with obstore.

A file that changes while it is read is refused, and no URL, key or server text gets
into an error.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib import import_module
from itertools import chain
from typing import Any

from dpql.curator.sources import stores

_BLOCK = 1 << 18
"""The fewest bytes to request: a round trip takes as long as many bytes."""


class Compressed(OSError):
    """A server compresses what it sends; nothing is decompressed here."""


class _Changed(OSError):
    """A file changed while it was being read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RemoteFile:
    """A file on a server; all that is read from it is of one version."""

    store: Any = field(repr=False)
    key: str = field(default="", repr=False)
    url: str = field(default="", repr=False)
    """Set for HTTP only."""
    seen: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)
    """The version of the first response, and the content once it is fetched."""

    def whole(self) -> bytes:
        """Return the content.

        Raises:
            OSError: it cannot be read, or it changed; `Compressed`.
        """
        if "content" not in self.seen:
            with _without_details():
                content = self._download() if self.url else self._get()[0]
            self.seen.setdefault("content", content)
        found: bytes = self.seen["content"]
        return found

    def opened(self) -> Any:
        """Return a new pyarrow file with random access.

        It requests the ranges that are read, or all if the server sends no ranges.

        Raises:
            OSError: it cannot be read, or it changed; `Compressed`.
        """
        arrow = import_module("pyarrow")
        if "content" not in self.seen:
            try:
                return arrow.PythonFile(_RangeReader(self), mode="r")
            except OSError as error:
                if isinstance(error, Compressed) or "version" in self.seen:
                    raise
        return arrow.BufferReader(self.whole())

    def between(self, start: int, end: int) -> tuple[bytes, int]:
        """Return the bytes from start to end, or to the end of the file, and its size.

        Raises:
            OSError: they cannot be read, or the file changed; `Compressed`.
        """
        with _without_details():
            return self._get(range=(start, end))

    def _get(self, **options: Any) -> tuple[bytes, int]:
        """Return what a request yields, and the size of the file."""
        import obstore

        result = obstore.get(self.store, self.key, options=options)  # type: ignore[arg-type]
        if self.url:
            _refuse_compressed(result.attributes.get("Content-Encoding"))
        meta = result.meta
        size, wanted = meta["size"], options.get("range", (0, meta["size"]))
        version = meta["e_tag"], meta["version"], meta["last_modified"], size
        content = b"".join(result)
        end = min(wanted[1], size)
        if result.range != (wanted[0], end) or len(content) != end - wanted[0]:
            raise ValueError
        if version != self.seen.setdefault("version", version):
            raise _Changed("a remote file changed while it was being read")
        return content, size

    def _download(self) -> bytes:
        """Return what is behind an HTTP URL, also if its length is not announced."""
        if "version" in self.seen:
            raise _Changed("a remote file changed while it was being read")
        # Most runs read no URL, and this takes as long as all of the sources.
        from urllib.error import HTTPError
        from urllib.request import Request, urlopen

        request = Request(self.url, headers={"Accept-Encoding": "identity"})  # noqa: S310  is_http
        seconds = stores.SILENCE.total_seconds()
        try:
            with urlopen(request, timeout=seconds) as response:  # noqa: S310  the same
                _refuse_compressed(response.headers.get("Content-Encoding"))
                content: bytes = response.read()
        except HTTPError as error:
            error.close()
            raise
        return content


class _RangeReader(io.RawIOBase):
    """A file object that requests ranges of a remote file, and keeps the last one."""

    def __init__(self, file: RemoteFile) -> None:
        self._file = file
        self._start = self._position = 0
        self._block, self._size = file.between(0, _BLOCK)

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        base = {io.SEEK_SET: 0, io.SEEK_CUR: self._position, io.SEEK_END: self._size}
        self._position = max(0, base[whence] + offset)
        return self._position

    def read(self, size: int | None = -1) -> bytes:
        start = min(self._position, self._size)
        wanted = self._size if size is None or size < 0 else start + size
        self._position = end = min(wanted, self._size)
        if not self._start <= start <= end <= self._start + len(self._block):
            # A footer stands at the end, and its length is read before it.
            first = min(start, max(0, self._size - _BLOCK))
            content, _ = self._file.between(first, max(end, first + _BLOCK))
            if len(content) > _BLOCK:
                return content[start - first : end - first]
            self._start, self._block = first, content
        return self._block[start - self._start : end - self._start]


@dataclass(frozen=True, slots=True, kw_only=True)
class Bucket:
    """A bucket or container, and the key, folder or pattern that a URL names in it."""

    store: Any = field(repr=False)
    key: str = field(repr=False)

    def has(self, key: str) -> bool:
        """Tell whether there is an object of this key.

        Raises:
            OSError: the bucket cannot be read.
        """
        import obstore

        with _without_details():
            try:
                obstore.head(self.store, key)
            except FileNotFoundError:
                return False
        return True

    def sizes(self, folder: str) -> dict[str, int]:
        """Return the size of each object below a folder, by its key.

        Raises:
            OSError: the bucket cannot be read, or two keys differ in slashes only.
        """
        import obstore

        found: dict[str, int] = {}
        with _without_details():
            for meta in chain.from_iterable(obstore.list(self.store, folder or None)):
                # obstore trims slashes; only the marker of a folder ends with one.
                key, size = meta["path"], meta["size"]
                if size and found.get(key):
                    raise ValueError
                found[key] = max(size, found.get(key, 0))
        return found

    def file(self, key: str) -> RemoteFile:
        """Return the object of this key."""
        return RemoteFile(store=self.store, key=key)


def http_file(url: str) -> RemoteFile:
    """Return the file behind an HTTP URL; nothing is requested yet.

    Raises:
        OSError: the URL is malformed.
    """
    with _without_details():
        return RemoteFile(store=stores.http_store(url), url=url)


def open_bucket(url: str) -> Bucket:
    """Return the bucket of a URL; it need not exist.

    Raises:
        OSError: the URL or the credentials are malformed.
    """
    with _without_details():
        store, key = stores.bucket_store(url)
        return Bucket(store=store, key=key)


def _refuse_compressed(encoding: str | None) -> None:
    if encoding not in (None, "", "identity"):
        raise Compressed("a remote file is compressed")


@contextmanager
def _without_details() -> Iterator[None]:
    """Replace any exception by one without URL, key and server text."""
    try:
        yield
    except (Compressed, _Changed):
        raise
    except Exception:  # noqa: BLE001  whatever a library raises
        raise OSError("a remote file cannot be read") from None
