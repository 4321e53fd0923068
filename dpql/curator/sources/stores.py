"""The obstore store that a URL names: its parts, its server and the credentials.

Credentials are those of the environment. Requests are signed unless the URL says
``?anonymous=true`` or the environment asks obstore to skip signatures.
"""

from __future__ import annotations

import glob
import os
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from importlib import import_module
from pathlib import Path
from typing import Any
from urllib.parse import unquote

SILENCE = timedelta(seconds=20)
"""How long a server may send nothing."""

_AZURE_ACCOUNTS = ("AZURE_STORAGE_ACCOUNT", "AZURE_STORAGE_ACCOUNT_NAME")
_AZURE_KEYS = ("AZURE_STORAGE_KEY", "AZURE_STORAGE_ACCOUNT_KEY")
_AZURE_IDENTITIES = ("AZURE_CLIENT_ID", "IDENTITY_ENDPOINT", "MSI_ENDPOINT")


@dataclass(frozen=True, slots=True, kw_only=True)
class Address:
    """The parts of an object store's URL; the key is literal or a pattern."""

    scheme: str
    user: str = field(repr=False)
    bucket: str = field(repr=False)
    key: str = field(repr=False)
    options: Mapping[str, str] = field(repr=False)


def is_http(location: str) -> bool:
    """Tell whether a location is an HTTP URL."""
    return _scheme(location) in ("http", "https")


def is_bucket(location: str) -> bool:
    """Tell whether a location is a URL of an object store."""
    return _scheme(location) in _SERVICES


def http_store(url: str) -> Any:
    """Return a store whose only object, of an empty key, is behind an HTTP URL.

    Raises:
        Exception: whatever obstore raises; it may quote the URL.
    """
    from obstore.store import HTTPStore

    return HTTPStore(url, **_client(url))


def bucket_store(url: str) -> tuple[Any, str]:
    """Return the store of a bucket or container, and the key that a URL names in it.

    Raises:
        Exception: whatever a library raises; it may quote the URL.
    """
    address = parse_url(url)
    parts = address.key.rstrip("/").split("/")
    if {".", ".."} & set(parts) or (address.key and "" in parts):
        raise ValueError
    store, _ = _SERVICES[address.scheme]
    return store(address), address.key


def parse_url(url: str) -> Address:
    """Return the parts of an object store's URL.

    A question mark is a wildcard unless only known options follow it. Percent signs of
    a key are literal, as in the tools of the services.
    """
    scheme, (_, known) = _scheme(url), _SERVICES[_scheme(url)]
    rest = url.partition("://")[2]
    before, mark, after = rest.rpartition("?")
    pairs = [pair.partition("=") for pair in after.split("&")]
    options: dict[str, str] = {}
    if mark and all(name in known for name, _, _ in pairs):
        rest = before
        options = {name: unquote(value) for name, _, value in pairs}
    host, _, key = rest.partition("/")
    user, _, bucket = host.rpartition("@")
    return Address(scheme=scheme, user=user, bucket=bucket, key=key, options=options)


def _s3(address: Address) -> Any:
    from obstore.store import S3Store

    config: dict[str, Any] = {}
    variable = _variable("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL")
    endpoint = _endpoint(address, variable)
    if endpoint:
        config["aws_endpoint_url_s3"] = endpoint
    region = address.options.get("region") or ("" if endpoint else _region(address))
    if region:
        config["region"] = region
    if _is_anonymous(address):
        config["skip_signature"] = True
    elif address.user:
        access, _, secret = map(unquote, address.user.partition(":"))
        keys = {"access_key_id": access, "secret_access_key": secret, "token": None}
        config["credential_provider"] = lambda: keys | {"expires_at": None}
    else:
        config |= _boto3()
    return S3Store(_bucket(address.bucket), **config, **_client(endpoint))


def _region(address: Address) -> str:
    """Return the region of a bucket; empty leaves it to the environment."""
    try:
        region: str = import_module("pyarrow.fs").resolve_s3_region(address.bucket)
    except (OSError, ValueError):
        return ""
    return region


def _boto3() -> dict[str, Any]:
    """Return the credentials that boto3 finds, also in profiles; else obstore looks."""
    try:
        from obstore.auth.boto3 import Boto3CredentialProvider

        return {"credential_provider": Boto3CredentialProvider()}
    except (ImportError, ValueError):
        return {}


def _google(address: Address) -> Any:
    from obstore.store import GCSStore

    config: dict[str, Any] = {}
    endpoint = _endpoint(address, "")
    if endpoint:
        config["base_url"] = endpoint
    if _is_anonymous(address) or address.user == "anonymous":
        config["skip_signature"] = True
    return GCSStore(_bucket(address.bucket), **config, **_client(endpoint))


def _azure(address: Address) -> Any:
    """Return the store of ``container@account.dfs.core.windows.net``.

    A URL without an account names a container of the account in the environment.
    """
    from obstore.store import AzureStore

    container, (account, _, domain) = address.user, address.bucket.partition(".")
    if not container:
        container, account, domain = address.bucket, _variable(*_AZURE_ACCOUNTS), ""
    domain = domain.partition(".")[2] or "core.windows.net"
    authority = address.options.get("blob_storage_authority", f".blob.{domain}")
    host = f"{account}{authority}" if authority[:1] == "." else f"{authority}/{account}"
    scheme = "http" if address.options.get("enable_tls") == "false" else "https"
    config: dict[str, Any] = {"account_name": account, "endpoint": f"{scheme}://{host}"}
    key, token = _variable(*_AZURE_KEYS), _variable("AZURE_STORAGE_SAS_TOKEN")
    if _is_anonymous(address):
        config["skip_signature"] = True
    elif key:
        config["account_key"] = key
    elif token:
        config["sas_key"] = token.removeprefix("?")
    elif not _variable(*_AZURE_IDENTITIES) and _is_logged_in_to_azure():
        config["use_azure_cli"] = True
    return AzureStore(_bucket(container), **config, **_client(config["endpoint"]))


def _is_logged_in_to_azure() -> bool:
    return Path(_variable("AZURE_CONFIG_DIR") or "~/.azure").expanduser().is_dir()


def _bucket(name: str) -> str:
    if name in ("", ".", "..") or glob.has_magic(name):
        raise ValueError
    return name


def _is_anonymous(address: Address) -> bool:
    return address.options.get("anonymous") == "true"


def _endpoint(address: Address, default: str) -> str:
    """Return the URL of a server that is not the provider's own; empty for its own."""
    endpoint = address.options.get("endpoint_override") or default
    scheme, _, host = endpoint.rpartition("://")
    scheme = address.options.get("scheme") or scheme or "https"
    return f"{scheme}://{host.rstrip('/')}" if host else ""


def _client(url: str) -> dict[str, Any]:
    """Return how requests are sent: encrypted unless the URL is not, and in time."""
    return {
        "client_options": {
            "allow_http": _scheme(url) == "http",
            "connect_timeout": min(SILENCE, timedelta(seconds=5)),
            "read_timeout": SILENCE,
            "timeout": timedelta(days=1),
            "default_headers": {"accept-encoding": "identity"},
        },
        "retry_config": {"max_retries": 3, "retry_timeout": SILENCE / 2},
    }


def _scheme(url: str) -> str:
    scheme, separator, _ = url.partition("://")
    return scheme.lower() if separator else ""


def _variable(*names: str) -> str:
    """Return the first environment variable that is set; empty if none is."""
    return next((os.environ[name] for name in names if os.environ.get(name)), "")


_Service = tuple[Callable[[Address], Any], Collection[str]]
_S3: _Service = _s3, {"anonymous", "region", "scheme", "endpoint_override"}
_GOOGLE: _Service = _google, {"anonymous", "scheme", "endpoint_override"}
_AZURE: _Service = (
    _azure,
    {"anonymous", "blob_storage_authority", "dfs_storage_authority", "enable_tls"},
)
_SERVICES: Mapping[str, _Service] = {
    **dict.fromkeys(("s3", "s3a"), _S3),
    **dict.fromkeys(("gs", "gcs"), _GOOGLE),
    **dict.fromkeys(("abfs", "abfss", "az"), _AZURE),
}
"""Scheme -> how its store is made, and the options that may follow a URL."""
