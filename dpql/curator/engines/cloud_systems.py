"""The filesystem of a cloud that a URL names, made by pyarrow.

Credentials are those of the environment. Where there are none, requests are not
signed: data that everybody may read can be read by those without an account.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from http import HTTPStatus
from http.client import HTTPConnection, HTTPException
from importlib import import_module
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote, urlencode, urlsplit

_CONNECT, _SILENT, _RETRIES = 5, 10, 10
"""Seconds: to connect, that a server may be silent, and in which is tried again."""

_METADATA = "http://169.254.169.254"
"""Where the machines of clouds learn who they are; elsewhere nobody answers."""
_HERE = 1
"""Seconds: an answer from the machine itself takes no longer."""

_AZURE_ACCOUNTS = ("AZURE_STORAGE_ACCOUNT", "AZURE_STORAGE_ACCOUNT_NAME")
_AZURE_KEYS = ("AZURE_STORAGE_KEY", "AZURE_STORAGE_ACCOUNT_KEY")
_AZURE_CHAIN = (
    "AZURE_CLIENT_ID",
    "AZURE_FEDERATED_TOKEN_FILE",
    "AZURE_TENANT_ID",
    "AZURE_TOKEN_CREDENTIALS",
    "IDENTITY_ENDPOINT",
    "MSI_ENDPOINT",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Address:
    """A URL of a cloud in its parts; the key is meant literally or as a pattern."""

    scheme: str
    user: str = field(repr=False)
    bucket: str = field(repr=False)
    key: str = field(repr=False)
    options: Mapping[str, str] = field(repr=False)


def scheme_of(url: str) -> str:
    """Return the scheme of a URL; empty if the text is none."""
    scheme, separator, _ = url.partition("://")
    return scheme.lower() if separator else ""


def address_of(url: str) -> Address:
    """Return the parts of a URL.

    A question mark is a wildcard, unless all that follows are options of the cloud.
    Percent signs of a key are part of it, as the tools of the clouds have it.
    """
    scheme = scheme_of(url)
    rest = url.partition("://")[2]
    before, mark, after = rest.rpartition("?")
    pairs = [pair.partition("=") for pair in after.split("&")]
    options: dict[str, str] = {}
    if mark and {name for name, _, _ in pairs} <= _OPTIONS[SYSTEMS[scheme]]:
        rest = before
        options = {name: unquote(value) for name, _, value in pairs}
    place, _, key = rest.partition("/")
    user, _, bucket = place.rpartition("@")
    return Address(scheme=scheme, user=user, bucket=bucket, key=key, options=options)


def system_of(address: Address) -> tuple[Any, str]:
    """Return the filesystem of an address, and its bucket there.

    Raises:
        Exception: whatever pyarrow says; it may hold the address.
    """
    return SYSTEMS[address.scheme](import_module("pyarrow.fs"), address)


def _s3(fs: Any, address: Address) -> tuple[Any, str]:
    options = address.options
    endpoint = options.get("endpoint_override") or _variable(
        "AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL"
    )
    scheme, separator, host = endpoint.rpartition("://")
    made: dict[str, Any] = {
        "scheme": options.get("scheme") or (scheme if separator else "https"),
        "endpoint_override": host.rstrip("/") or None,
        "connect_timeout": _CONNECT,
        "request_timeout": _SILENT,
    }
    if address.user:
        access, _, secret = address.user.partition(":")
        made |= {"access_key": unquote(access), "secret_key": unquote(secret)}
    else:
        _spare_metadata()
    region = options.get("region")
    if not (region or endpoint):
        region = _region(fs, address.bucket)
    return fs.S3FileSystem(region=region, **made), address.bucket


def _region(fs: Any, bucket: str) -> str | None:
    """Return where a bucket is; None leaves that to the settings of the user."""
    try:
        region: str = fs.resolve_s3_region(bucket)
    except (OSError, ValueError):
        return None
    return region


def _spare_metadata() -> None:
    """Keep the library from asking a metadata service that is not there.

    It would wait many seconds, and again before every request that is not signed.
    """
    switch = "AWS_EC2_METADATA_DISABLED"
    place = _variable("AWS_EC2_METADATA_SERVICE_ENDPOINT") or _METADATA
    if switch not in os.environ and _told(place, "/latest/meta-data/") is None:
        os.environ[switch] = "true"


def _google(fs: Any, address: Address) -> tuple[Any, str]:
    options = address.options
    anonymous = address.user == "anonymous" or not _google_knows_us()
    system = fs.GcsFileSystem(
        anonymous=anonymous,
        scheme=options.get("scheme"),
        endpoint_override=options.get("endpoint_override"),
        retry_time_limit=timedelta(seconds=_RETRIES),
    )
    return system, address.bucket


def _google_knows_us() -> bool:
    settings = Path(_variable("APPDATA") or "~/.config").expanduser()
    if _variable("GOOGLE_APPLICATION_CREDENTIALS"):
        return True
    if (settings / "gcloud" / "application_default_credentials.json").exists():
        return True
    told = _told(_METADATA, "/", {"Metadata-Flavor": "Google"})
    return told is not None and told[1].get("Metadata-Flavor") == "Google"


def _azure(fs: Any, address: Address) -> tuple[Any, str]:
    """Return the filesystem for ``container@account.dfs.core.windows.net``.

    Without an account there is a container only, of the account of the environment.
    """
    container, account, domain = address.user, "", ""
    if container:
        account, _, domain = address.bucket.partition(".")
    else:
        container, account = address.bucket, _variable(*_AZURE_ACCOUNTS)
    domain = domain.partition(".")[2] or "core.windows.net"
    made = {
        f"{service}_storage_authority": address.options.get(
            f"{service}_storage_authority", f".{service}.{domain}"
        )
        for service in ("blob", "dfs")
    }
    secure = address.options.get("enable_tls", "true")
    key, token = _variable(*_AZURE_KEYS), _variable("AZURE_STORAGE_SAS_TOKEN")
    if not (key or token or _azure_knows_us()):
        # The constructor has no word for it.
        query = urlencode(made | {"enable_tls": secure, "credential_kind": "anonymous"})
        url = f"abfss://{quote(container)}@{account}.dfs.core.windows.net/?{query}"
        return fs.FileSystem.from_uri(url)[0], container
    scheme = "http" if secure == "false" else "https"
    made |= {"blob_storage_scheme": scheme, "dfs_storage_scheme": scheme}
    if key:
        made["account_key"] = key
    elif token:
        made["sas_token"] = "?" + token.removeprefix("?")
    return fs.AzureFileSystem(account, **made), container


def _azure_knows_us() -> bool:
    if _variable(*_AZURE_CHAIN):
        return True
    if Path(_variable("AZURE_CONFIG_DIR") or "~/.azure").expanduser().exists():
        return True
    told = _told(_METADATA, "/metadata/versions", {"Metadata": "true"})
    return told is not None and told[0] == HTTPStatus.OK


def _told(
    place: str, path: str, headers: Mapping[str, str] | None = None
) -> tuple[int, Mapping[str, str]] | None:
    """Return status and headers of what a machine says of itself; None if nothing."""
    connection = HTTPConnection(urlsplit(place).netloc, timeout=_HERE)
    try:
        connection.request("GET", path, headers=dict(headers or {}))
        answer = connection.getresponse()
    except (HTTPException, OSError):
        return None
    finally:
        connection.close()
    return answer.status, dict(answer.headers)


def _variable(*names: str) -> str:
    """Return the first variable of the environment that is set; empty if none is."""
    return next((os.environ[name] for name in names if os.environ.get(name)), "")


_System = Callable[[Any, Address], tuple[Any, str]]

SYSTEMS: Mapping[str, _System] = {
    "s3": _s3,
    "s3a": _s3,
    "gs": _google,
    "gcs": _google,
    "abfs": _azure,
    "abfss": _azure,
    "az": _azure,
}
"""Scheme -> how its filesystem is made."""

_OPTIONS: Mapping[_System, set[str]] = {
    _s3: {"region", "scheme", "endpoint_override"},
    _google: {"scheme", "endpoint_override"},
    _azure: {"blob_storage_authority", "dfs_storage_authority", "enable_tls"},
}
