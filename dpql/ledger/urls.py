"""Canonical URLs of data, without user names, passwords and signatures.

    https://me:password@A.org.:443/y/../x.csv?token=1   https://a.org/x.csv
    s3a://key:secret@bucket//x.csv?region=eu            s3://bucket/x.csv
    az://container@account/x.csv                        abfss://container@account.dfs…

URLs that the curator reads as one location have one canonical form. The name before
``@`` is a user, and is dropped; before an account of Azure it is the container, and
stays.
"""

from __future__ import annotations

import os
import posixpath
import re
from urllib.parse import unquote, urlsplit

_WEB = "https"
_AZURE = "abfss"
_SERVER = "postgresql"
_ALIASES = {
    "http": _WEB,
    "s3a": "s3",
    "s3n": "s3",
    "gcs": "gs",
    "abfs": _AZURE,
    "az": _AZURE,
    "postgres": _SERVER,
}
_PORTS = {_WEB: (80, 443)}
_SERVER_PORT = "5432"
_OPTION = (
    r"(?:region|scheme|endpoint_override|enable_tls|(?:blob|dfs)_storage_authority)"
)
_OPTIONS = re.compile(rf"\?{_OPTION}=[^&]*(?:&{_OPTION}=[^&]*)*\Z")
"""Options of a cloud connection, behind a question mark that is no wildcard."""
_SIGNED = re.compile(
    r"\?(?:[^?]*&)?(?:[a-z-]*signature|sig)=.*\Z", re.IGNORECASE | re.DOTALL
)
"""A signed URL: the curator does not read one, but people paste them."""
_CONTAINER = re.compile(r"[a-z0-9$_-]+", re.ASCII)
_ACCOUNTS = ("AZURE_STORAGE_ACCOUNT", "AZURE_STORAGE_ACCOUNT_NAME")
"""Variables that name the account of a container given without one."""


def canonical_url(text: str) -> str:
    """Return the canonical form of a URL.

    The query names a version or carries a signature, so it is dropped like the user
    and the password: URLs that differ only in these count as one location.
    """
    written, _, rest = text.partition("://")
    scheme = _ALIASES.get(written.lower(), written.lower())
    if scheme == _SERVER:
        return _table_url(rest)
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
        # Any other question mark is a wildcard, and belongs to the path.
        key = _OPTIONS.sub("", _SIGNED.sub("", rest.partition("/")[2]))
    path = posixpath.normpath(f"/{unquote(key)}").replace("//", "/")
    return f"{scheme}://{host}{path}"


def _table_url(rest: str) -> str:
    """Return the address of a table on a server that nobody has asked."""
    address, _, name = rest.partition("#")
    server, _, database = address.partition("?")[0].rpartition("@")[2].partition("/")
    host, _, port = server.lower().partition(":")
    port = "" if port in ("", _SERVER_PORT) else f":{port}"
    name = name if "." in name else f"public.{name}"
    return f"{_SERVER}://{host}{port}/{unquote(database)}#{name}"


def _container(user: str, host: str, *, full: bool) -> str:
    """Return ``container@account.dfs.domain`` for the authority of a URL of Azure.

    A name that no container can have may be a password, and is dropped.
    """
    container, (account, _, domain) = user.lower(), host.partition(".")
    if not full:
        found = (os.environ[name] for name in _ACCOUNTS if os.environ.get(name))
        container, account, domain = host, next(found, "").lower(), ""
    if _CONTAINER.fullmatch(container) is None:
        container = ""
    domain = domain.partition(".")[2] or "core.windows.net"
    return f"{container}@{account}.dfs.{domain}"
