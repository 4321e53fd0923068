"""Addresses of data in one spelling, without what opens them.

    https://me:password@A.org.:443/y/../x.csv?token=1   https://a.org/x.csv
    s3a://key:secret@bucket//x.csv?region=eu            s3://bucket/x.csv
    az://container@account/x.csv                        abfss://container@account.dfs…

What the curator's readers take for one place is spelled as one. A name before the @ is
a user, and left away; but before an account of Azure it is the container.
"""

from __future__ import annotations

import os
import posixpath
import re
from urllib.parse import unquote, urlsplit

_WEB = "https"
_AZURE = "abfss"
_SAME = {
    "http": _WEB,
    "s3a": "s3",
    "s3n": "s3",
    "gcs": "gs",
    "abfs": _AZURE,
    "az": _AZURE,
}
_PORTS = {_WEB: (80, 443)}
_OPTION = (
    r"(?:region|scheme|endpoint_override|enable_tls|(?:blob|dfs)_storage_authority)"
)
_OPTIONS = re.compile(rf"\?{_OPTION}=[^&]*(?:&{_OPTION}=[^&]*)*\Z")
"""How a cloud is reached, behind a question mark that is no wildcard."""
_SIGNED = re.compile(
    r"\?(?:[^?]*&)?(?:[a-z-]*signature|sig)=.*\Z", re.IGNORECASE | re.DOTALL
)
"""A signature that lets its bearer read: no reader takes it, but people paste it."""
_CONTAINER = re.compile(r"[a-z0-9$_-]+", re.ASCII)
_ACCOUNTS = ("AZURE_STORAGE_ACCOUNT", "AZURE_STORAGE_ACCOUNT_NAME")
"""Where the reader learns the account of a container that stands alone."""


def spelled(text: str) -> str:
    """Return an address in one spelling.

    What comes after the path chooses a version or carries a signature, so it is left
    away, as are user and password: places that differ in them only are taken for one.
    """
    written, _, rest = text.partition("://")
    scheme = _SAME.get(written.lower(), written.lower())
    before, _, key = rest.partition("/")
    if scheme != _WEB and ":" in before and "@" not in before and "@" in key:
        rest = rest.partition("@")[2]  # a secret with a slash in it
    try:
        parts = urlsplit(f"{scheme}://{rest}")
        host, port = (parts.hostname or "").rstrip("."), parts.port
    except ValueError:
        return f"{scheme}://{rest.rpartition('@')[2]}"
    if port is not None and port not in _PORTS.get(scheme, ()):
        host = f"{host}:{port}"
    if scheme == _AZURE:
        user, at, _ = parts.netloc.rpartition("@")
        host = _container(user, host, full=bool(at))
    key = parts.path
    if scheme != _WEB:
        # A question mark is a wildcard where it is no question: kept with the path.
        key = _OPTIONS.sub("", _SIGNED.sub("", rest.partition("/")[2]))
    path = posixpath.normpath(f"/{unquote(key)}").replace("//", "/")
    return f"{scheme}://{host}{path}"


def _container(user: str, host: str, *, full: bool) -> str:
    """Return ``container@account.dfs.domain`` for what stands before a path.

    What is no container's name may be a password, and is not kept.
    """
    container, (account, _, domain) = user.lower(), host.partition(".")
    if not full:
        found = (os.environ[name] for name in _ACCOUNTS if os.environ.get(name))
        container, account, domain = host, next(found, "").lower(), ""
    if _CONTAINER.fullmatch(container) is None:
        container = ""
    domain = domain.partition(".")[2] or "core.windows.net"
    return f"{container}@{account}.dfs.{domain}"
