"""What lies behind a URL of the web: is it there, in pieces, or as a whole."""

from __future__ import annotations

from http import HTTPStatus
from http.client import HTTPException
from urllib.error import HTTPError
from urllib.parse import urlsplit
from urllib.request import Request, urlopen

from dpql.curator.engines.places import no_file, unreadable
from dpql.model.spec import Data

_SECONDS = 60
"""How long a server may be silent."""


def is_web(url: str) -> bool:
    """Tell whether the URL is one of the web; others are left to polars."""
    return urlsplit(url).scheme in ("http", "https")


def gives_pieces(url: str, data: Data) -> bool:
    """Tell whether the server is there and hands out parts of a file.

    Raises:
        RunFault: DPQL501, there is no such file, or no answer.
    """
    status, _ = _asked(url, {"Range": "bytes=0-0"}, data, most=1)
    return status == HTTPStatus.PARTIAL_CONTENT


def fetched(url: str, data: Data) -> bytes:
    """Return the whole file.

    Raises:
        RunFault: DPQL501, there is no such file, or no answer; DPQL502, the server
            compresses it.
    """
    return _asked(url, {}, data, most=None)[1]


def _asked(
    url: str, headers: dict[str, str], data: Data, *, most: int | None
) -> tuple[int, bytes]:
    request = Request(url, headers={"Accept-Encoding": "identity", **headers})  # noqa: S310  is_web
    try:
        with urlopen(request, timeout=_SECONDS) as answer:  # noqa: S310  the same
            packed = answer.headers.get("Content-Encoding", "identity") != "identity"
            content: bytes = answer.read(most)
            status: int = answer.status
    except HTTPError as error:
        error.close()
        raise no_file(data) from None
    except (HTTPException, OSError, ValueError):
        raise no_file(data) from None
    if packed:
        raise unreadable(data)
    return status, content
