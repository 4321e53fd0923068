"""Files of the web: read in parts where a server hands them out, or as a whole."""

from __future__ import annotations

import io
import re
from dataclasses import dataclass, field
from http import HTTPStatus
from http.client import HTTPException
from importlib import import_module
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

_SECONDS = 60
"""How long a server may be silent."""

_BLOCK = 1 << 18
"""The least number of bytes that is asked for: every question takes its time."""

_RANGE = re.compile(r"bytes (\d+)-(\d+)/(\d+)")


class Packed(OSError):
    """A server compresses what it sends, and nothing is decompressed here."""


@dataclass(frozen=True, slots=True)
class Page:
    """A file of the web."""

    url: str = field(repr=False)

    def whole(self) -> bytes:
        """Return all bytes.

        Raises:
            OSError: there is no such file, or no answer; Packed, it is compressed.
        """
        answer = _answer(self.url)
        if answer.status != HTTPStatus.OK:
            raise OSError("a file of the web is not given as a whole")
        return answer.content

    def opened(self) -> Any:
        """Return a file of pyarrow with random access, one of its own each time.

        It is read in parts if the server hands them out, else fetched as a whole.

        Raises:
            OSError: there is no such file, or no answer; Packed, it is compressed.
        """
        arrow = import_module("pyarrow")
        answer = _answer(self.url, 0, _BLOCK)
        if answer.status == HTTPStatus.OK:
            return arrow.BufferReader(answer.content)
        if answer.part is None or answer.part[:2] != (0, len(answer.content)):
            return arrow.BufferReader(self.whole())
        return arrow.PythonFile(_Parts(self.url, answer), mode="r")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Answer:
    """What a server says: of a part where it begins, ends, and of how many bytes."""

    status: int
    content: bytes = field(repr=False)
    part: tuple[int, int, int] | None
    version: tuple[str | None, str | None]


class _Parts(io.RawIOBase):
    """A file whose parts are fetched when they are read, all of one version."""

    def __init__(self, url: str, first: _Answer) -> None:
        assert first.part is not None
        self._url = url
        self._version = first.version
        self._start, _, self._total = first.part
        self._block = first.content
        self._place = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._place

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        origin = {io.SEEK_SET: 0, io.SEEK_CUR: self._place, io.SEEK_END: self._total}
        self._place = max(0, origin[whence] + offset)
        return self._place

    def read(self, size: int | None = -1) -> bytes:
        start = min(self._place, self._total)
        wanted = self._total if size is None or size < 0 else start + size
        end = min(wanted, self._total)
        content = self._between(start, end)
        self._place = end
        return content

    def _between(self, start: int, end: int) -> bytes:
        known = self._start <= start and end <= self._start + len(self._block)
        if not known:
            # At the end of a file are its footer and what is read with it.
            first = min(start, max(0, self._total - _BLOCK))
            content = self._fetched(first, min(max(end, first + _BLOCK), self._total))
            if len(content) > _BLOCK:
                return content[start - first : end - first]
            self._start, self._block = first, content
        return self._block[start - self._start : end - self._start]

    def _fetched(self, start: int, end: int) -> bytes:
        answer = _answer(self._url, start, end)
        same = (answer.part, answer.version) == (
            (start, end, self._total),
            self._version,
        )
        if not same or len(answer.content) != end - start:
            raise OSError("a file of the web changes while it is read")
        return answer.content


def is_web(url: str) -> bool:
    """Tell whether the URL is one of the web."""
    return url.partition("://")[0].lower() in ("http", "https")


def _answer(url: str, start: int = 0, end: int | None = None) -> _Answer:
    """Return what a server says if it is asked for a file, or for a part of it.

    Raises:
        OSError: it says no, or nothing; Packed, it is compressed.
    """
    headers = {"Accept-Encoding": "identity"}
    if end is not None:
        headers["Range"] = f"bytes={start}-{end - 1}"
    try:
        request = Request(url, headers=headers)  # noqa: S310  is_web
        with urlopen(request, timeout=_SECONDS) as answer:  # noqa: S310  the same
            told, status, content = answer.headers, answer.status, answer.read()
    except HTTPError as error:
        error.close()
        if error.code != HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE:
            raise OSError("a file of the web is not there") from None
        told, status, content = error.headers, error.code, b""
    except (HTTPException, OSError, ValueError):
        raise OSError("no answer from the web") from None
    if told.get("Content-Encoding", "identity") != "identity":
        raise Packed("a file of the web is compressed")
    found = _RANGE.fullmatch(told.get("Content-Range", ""))
    part = None
    if found and status == HTTPStatus.PARTIAL_CONTENT:
        part = int(found[1]), int(found[2]) + 1, int(found[3])
    version = told.get("ETag"), told.get("Last-Modified")
    return _Answer(status=status, content=content, part=part, version=version)
