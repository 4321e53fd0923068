"""URLs of object stores in their parts, and whose credentials sign the requests."""

from __future__ import annotations

import base64
import json
import sys
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest
from cryptography.hazmat.primitives.asymmetric.rsa import generate_private_key
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
)
from http_servers import recorder
from object_stores import NOBODY, Cloud, cloud, without_account
from pyarrow import fs

from dpql.curator.sources.remote import open_bucket
from dpql.curator.sources.stores import bucket_store, is_bucket, is_http, parse_url


@pytest.fixture(autouse=True)
def _without_account(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    without_account(monkeypatch, tmp_path)
    monkeypatch.setattr(fs, "resolve_s3_region", _nowhere)


def _nowhere(_: str) -> str:
    raise OSError("secret words")


@pytest.mark.parametrize(
    ("url", "kind"),
    [
        ("s3://a/b", "bucket"),
        ("S3://a/b", "bucket"),
        ("s3a://a/b", "bucket"),
        ("gs://a/b", "bucket"),
        ("gcs://a/b", "bucket"),
        ("abfs://a/b", "bucket"),
        ("abfss://a@b/c", "bucket"),
        ("az://a/b", "bucket"),
        ("http://a/b", "http"),
        ("HTTPS://a/b", "http"),
        ("http://[", "http"),
        ("http:a", ""),
        ("a/http://b", ""),
        ("ftp://a/b", ""),
        ("file:///a", ""),
        ("s3", ""),
        ("s3:/a", ""),
        ("", ""),
    ],
)
def test_services_are_known_by_their_schemes(url: str, kind: str) -> None:
    """Whatever follows."""
    assert (kind == "http", kind == "bucket") == (is_http(url), is_bucket(url))


@pytest.mark.parametrize(
    ("url", "user", "bucket", "key", "options"),
    [
        ("s3://b", "", "b", "", {}),
        ("s3://region", "", "region", "", {}),
        ("S3://B/k", "", "B", "k", {}),
        ("s3://b/a b/ä%20#1.csv", "", "b", "a b/ä%20#1.csv", {}),
        ("s3://b/a?.csv", "", "b", "a?.csv", {}),
        ("s3://b/a?k=1", "", "b", "a?k=1", {}),
        ("s3://b/a?region=x&k=1", "", "b", "a?region=x&k=1", {}),
        ("s3://b/a??region=x", "", "b", "a?", {"region": "x"}),
        ("s3://b/?.csv?scheme=http", "", "b", "?.csv", {"scheme": "http"}),
        ("s3://b?region=x", "", "b", "", {"region": "x"}),
        ("s3://b/k?anonymous=true", "", "b", "k", {"anonymous": "true"}),
        (
            "s3://i:s%2F@b/k?endpoint_override=http%3A%2F%2Fa:1&region=x",
            "i:s%2F",
            "b",
            "k",
            {"endpoint_override": "http://a:1", "region": "x"},
        ),
        ("gs://anonymous@b/k@1", "anonymous", "b", "k@1", {}),
        ("gs://b/k?region=x", "", "b", "k?region=x", {}),
        ("gs://b/k?anonymous=true", "", "b", "k", {"anonymous": "true"}),
        ("az://b/k?enable_tls=false", "", "b", "k", {"enable_tls": "false"}),
        ("az://b/k?anonymous=true", "", "b", "k", {"anonymous": "true"}),
    ],
)
def test_a_url_has_parts(
    url: str, user: str, bucket: str, key: str, options: dict[str, str]
) -> None:
    """Keys are literal; a question mark is a wildcard unless options follow it."""
    found = parse_url(url)
    assert (user, bucket, key) == (found.user, found.bucket, found.key)
    assert options == found.options
    assert "i:s" not in repr(found)


@pytest.mark.parametrize(
    "url",
    [
        "s3:///k",
        "s3://./k",
        "s3://../k",
        "s3://b*/k",
        "s3://b/./k",
        "s3://b/a/../k",
        "s3://b//k",
        "s3://b/a//k",
        "gs:///k",
        "gs://[b]/k",
        "az:///k",
        "abfss://*@account.dfs.core.windows.net/k",
    ],
)
def test_keys_and_buckets_are_literal(url: str) -> None:
    """A library might follow dots; no bucket is named by a pattern."""
    with pytest.raises(ValueError):  # noqa: PT011  without a word
        bucket_store(url)
    with pytest.raises(OSError, match="cannot be read"):
        open_bucket(url)


def _config(url: str) -> dict[str, Any]:
    """Return what a URL asks of obstore; the rest is left to the environment."""
    store, _ = bucket_store(url)
    options = store.client_options
    assert options["connect_timeout"] == "5s"
    assert options["read_timeout"] == "20s"
    assert store.retry_config["retry_timeout"] <= timedelta(seconds=10)
    return {**store.config, "plain": options["allow_http"] == "true"}


def test_the_region_of_a_bucket_is_looked_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """Unless it or a server is named; what cannot be found is left to the user."""
    assert "region" not in _config("s3://b/k")
    monkeypatch.setattr(fs, "resolve_s3_region", "region of {}".format)
    assert "region of b" == _config("s3://b/k")["region"]
    assert "here" == _config("s3://b/k?region=here")["region"]
    assert "region" not in _config("s3://b/k?endpoint_override=a:1")


@pytest.mark.parametrize(
    ("options", "endpoint"),
    [
        ("endpoint_override=a:1", "https://a:1"),
        ("endpoint_override=a:1/", "https://a:1"),
        ("endpoint_override=http://a:1/", "http://a:1"),
        ("endpoint_override=http%3A%2F%2Fa:1", "http://a:1"),
        ("endpoint_override=a&scheme=http", "http://a"),
        ("endpoint_override=http://a&scheme=https", "https://a"),
    ],
)
@pytest.mark.parametrize(
    ("scheme", "name"), [("s3", "endpoint_url_s3"), ("gs", "base_url")]
)
def test_another_server_is_named_by_an_option(
    scheme: str, name: str, options: str, endpoint: str
) -> None:
    """Plain text must be asked for, by an option or by the address of the server."""
    found = _config(f"{scheme}://b/k?{options}")
    assert (endpoint, endpoint.startswith("http:")) == (found[name], found["plain"])
    provider = _config(f"{scheme}://b/k")
    assert name not in provider
    assert not provider["plain"]


@pytest.mark.parametrize(
    ("url", "endpoint"),
    [
        ("az://c@a/k", "https://a.blob.core.windows.net"),
        ("abfs://c@a.dfs.core.windows.net/k", "https://a.blob.core.windows.net"),
        ("abfss://c@a.blob.core.windows.net/k", "https://a.blob.core.windows.net"),
        (
            "abfs://c@a.dfs.core.chinacloudapi.cn/k",
            "https://a.blob.core.chinacloudapi.cn",
        ),
        ("az://c/k", "https://mine.blob.core.windows.net"),
        ("abfss://c/k", "https://mine.blob.core.windows.net"),
        ("az://c/k?blob_storage_authority=.b.org", "https://mine.b.org"),
        ("az://c/k?enable_tls=false&blob_storage_authority=b:1", "http://b:1/mine"),
        ("az://c/k?blob_storage_authority=b:1", "https://b:1/mine"),
    ],
)
def test_azure_is_asked_where_the_account_is(
    url: str, endpoint: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Services are those of the domain that a URL names, encrypted by default."""
    monkeypatch.setenv("AZURE_STORAGE_ACCOUNT", "mine")
    found = _config(url)
    assert ("c", endpoint) == (found["container_name"], found["endpoint"])
    assert endpoint.startswith("http:") is found["plain"]


def _options(host: str, scheme: str) -> str:
    """Return the options that lead to a server of this machine."""
    if scheme.startswith("a"):
        services = (
            f"{service}_storage_authority={host}" for service in ("blob", "dfs")
        )
        return "?enable_tls=false&" + "&".join(services)
    return f"?scheme=http&endpoint_override={host}"


SERVICES = {
    "s3": "s3://data/a b.csv",
    "gs": "gs://data/a b.csv",
    "az": "az://data/a b.csv",
}


@pytest.mark.parametrize("installed", [True, False])
@pytest.mark.parametrize("scheme", SERVICES)
def test_nothing_is_asked_without_credentials(
    scheme: str, *, installed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Requests are not sent unsigned because no credentials were found."""
    if not installed:
        _remove_boto3(monkeypatch)
    with recorder() as (host, asked):
        bucket = open_bucket(SERVICES[scheme] + _options(host, scheme))
        with pytest.raises(OSError, match="cannot be read"):
            bucket.has("a b.csv")
    assert [] == asked


@pytest.mark.parametrize("scheme", SERVICES)
@pytest.mark.parametrize("way", ["option", "variable"])
def test_public_data_are_read_on_request(
    way: str, scheme: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An option or a variable sends requests without a signature, whatever the keys."""
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "access")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
    option = "&anonymous=true" if way == "option" else ""
    if way == "variable":
        for name in ("AWS", "GOOGLE", "AZURE"):
            monkeypatch.setenv(f"{name}_SKIP_SIGNATURE", "true")
    with recorder() as (host, asked):
        bucket = open_bucket(SERVICES[scheme] + _options(host, scheme) + option)
        assert not bucket.has("a b.csv")
    ((path, signature),) = asked
    expected = "/account/data/a b.csv" if scheme == "az" else "/data/a b.csv"
    assert (expected, "") == (unquote(path), signature)


def test_google_knows_an_anonymous_user() -> None:
    """An older spelling of the same."""
    with recorder() as (host, asked):
        bucket = open_bucket(f"gs://anonymous@data/k{_options(host, 'gs')}")
        assert not bucket.has("k")
    assert [("/data/k", "")] == asked


@pytest.mark.parametrize("where", ["variable", "login"])
def test_google_is_asked_as_who_we_are(
    where: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Signed with the credentials that a variable names, or those of a login."""
    key = generate_private_key(65537, 2048).private_bytes(
        Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()
    )
    account = {
        "type": "service_account",
        "client_email": "reader@example.org",
        "private_key": key.decode(),
        "private_key_id": "1",
    }
    file = tmp_path / ".config" / "gcloud" / "application_default_credentials.json"
    if where == "variable":
        file = tmp_path / "account.json"
        monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", str(file))
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(account))
    with recorder() as (host, asked):
        assert not open_bucket(f"gs://data/k{_options(host, 'gs')}").has("k")
    ((path, signature),) = asked
    assert ("/data/k", True) == (path, signature.startswith("Bearer "))


@pytest.mark.parametrize(
    "url", ["abfs://data@account.dfs.core.windows.net/k", "az://data/k"]
)
@pytest.mark.parametrize("variable", ["AZURE_STORAGE_KEY", "AZURE_STORAGE_ACCOUNT_KEY"])
def test_azure_is_asked_with_a_key(
    url: str, variable: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An account that is not named is the user's."""
    monkeypatch.setenv(variable, base64.b64encode(b"hunter2").decode())
    with recorder() as (host, asked):
        assert not open_bucket(url + _options(host, "az")).has("k")
    ((path, signature),) = asked
    assert ("/account/data/k", True) == (
        path,
        signature.startswith("SharedKey account:"),
    )


@pytest.mark.parametrize("mark", ["", "?"])
def test_azure_is_asked_with_a_token(
    mark: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its question mark may be given or not."""
    monkeypatch.setenv("AZURE_STORAGE_SAS_TOKEN", f"{mark}sv=1&sig=hunter2")
    with recorder() as (host, asked):
        assert not open_bucket(f"az://data/k{_options(host, 'az')}").has("k")
    assert [("/account/data/k?sv=1&sig=hunter2", "")] == asked


def test_azure_asks_its_command_line(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """If somebody logged in there, and the machine has no identity of its own."""
    assert "use_azure_cli" not in _config("az://data/k")
    (tmp_path / ".azure").mkdir()
    assert _config("az://data/k")["use_azure_cli"] == "true"
    monkeypatch.setenv("AZURE_CLIENT_ID", "somebody")
    assert "use_azure_cli" not in _config("az://data/k")


@pytest.fixture(scope="module")
def guarded() -> Iterator[Cloud]:
    """Run an emulator of S3 that refuses requests without a signature."""
    with cloud("s3") as found:
        found.put("a.csv", b"x")
        found.guard()
        yield found


def _reads(url: str) -> bool:
    try:
        return open_bucket(url).has("a.csv")
    except OSError as error:
        if str(error) != "a remote file cannot be read":
            raise
        return False


def test_keys_decide_who_reads_s3(
    guarded: Cloud, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Those of the URL, percent-encoded, or else of the environment."""
    secret = guarded.secret.replace("/", "%2F").replace("+", "%2B")
    assert _reads(guarded.signed_url("a.csv", f"{guarded.access}:{secret}@"))
    assert not _reads(guarded.url("a.csv"))
    assert not _reads(guarded.signed_url("a.csv"))
    assert not _reads(guarded.signed_url("a.csv", f"{guarded.access}:hunter2@"))
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", guarded.access)
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", guarded.secret)
    assert _reads(guarded.signed_url("a.csv"))
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "hunter2")
    assert not _reads(guarded.signed_url("a.csv"))
    monkeypatch.setenv("AWS_SESSION_TOKEN", "of another key")
    assert _reads(guarded.signed_url("a.csv", f"{guarded.access}:{secret}@"))


@pytest.mark.parametrize("variable", ["AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_S3"])
def test_the_environment_may_name_a_server(
    guarded: Cloud, variable: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No URL has to, and a URL that does is preferred."""
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", guarded.access)
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", guarded.secret)
    monkeypatch.setenv("AWS_ENDPOINT_URL", NOBODY)
    monkeypatch.setenv(variable, f"http://127.0.0.1:{guarded.port}/")
    assert _reads("s3://data/a.csv")
    monkeypatch.setenv(variable, NOBODY)
    assert _reads(guarded.signed_url("a.csv"))


def test_a_profile_is_read_with_boto3(
    guarded: Cloud, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Without it, profiles are not found."""
    keys = f"aws_access_key_id={guarded.access}\naws_secret_access_key={guarded.secret}"
    (tmp_path / "profiles").write_text(f"[work]\n{keys}\n")
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "profiles"))
    assert not _reads(guarded.signed_url("a.csv"))
    monkeypatch.setenv("AWS_PROFILE", "work")
    assert _reads(guarded.signed_url("a.csv"))
    _remove_boto3(monkeypatch)
    assert not _reads(guarded.signed_url("a.csv"))


@pytest.mark.parametrize(
    ("variable", "installed"),
    [("AWS_EC2_METADATA_SERVICE_ENDPOINT", True), ("AWS_METADATA_ENDPOINT", False)],
)
def test_the_role_of_a_machine_is_taken(
    variable: str, *, installed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Keys come from the metadata service, with boto3 or without it."""
    keys = {
        "Code": "Success",
        "AccessKeyId": "of-the-role",
        "SecretAccessKey": "hunter2",
        "Token": "token",
        "Expiration": "2999-01-01T00:00:00Z",
    }
    roles = "/latest/meta-data/iam/security-credentials"
    answers = {
        "/latest/api/token": b"token",
        f"{roles}/": b"role",
        f"{roles}/role": json.dumps(keys).encode(),
    }
    if not installed:
        _remove_boto3(monkeypatch)
    monkeypatch.delenv("AWS_EC2_METADATA_DISABLED")
    with recorder(answers) as (role, _), recorder() as (host, asked):
        monkeypatch.setenv(variable, f"http://{role}")
        assert not open_bucket(f"s3://data/k{_options(host, 's3')}").has("k")
    ((path, signature),) = asked
    assert ("/data/k", True) == (path, "Credential=of-the-role/" in signature)


def _remove_boto3(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "boto3", None)
    monkeypatch.delitem(sys.modules, "obstore.auth.boto3", raising=False)
