"""Addresses of clouds in their parts, and who is asked with which credentials."""

from __future__ import annotations

import base64
import json
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import SimpleNamespace
from typing import Any, ClassVar

import pytest
from cloud_server import cloud, without_account

from dpql.curator.engines import cloud_systems
from dpql.curator.engines.cloud_systems import address_of
from dpql.curator.engines.clouds import cloud_files
from dpql.errors import RunFault
from dpql.model.spec import Data, RowsAtMost

DATA = Data(source="rows", rows=RowsAtMost(count=9), columns=())


@pytest.fixture(autouse=True)
def _without_account(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    without_account(monkeypatch, tmp_path)


class _Recorder(BaseHTTPRequestHandler):
    """Notes what it is asked, and knows only the answers that it was given."""

    answers: ClassVar[dict[str, bytes]] = {}
    headers_sent: ClassVar[dict[str, str]] = {}
    asked: ClassVar[list[tuple[str, str]]] = []

    def _answer(self) -> None:
        self.asked.append((self.path, self.headers.get("Authorization", "")))
        content = self.answers.get(self.path.partition("?")[0])
        self.send_response(404 if content is None else 200)
        for name, value in self.headers_sent.items():
            self.send_header(name, value)
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
        """Say nothing."""


@contextmanager
def _recorder(
    answers: dict[str, bytes] | None = None, **headers: str
) -> Iterator[tuple[str, list[tuple[str, str]]]]:
    asked: list[tuple[str, str]] = []
    sent = {name.replace("_", "-"): value for name, value in headers.items()}
    manner = {"answers": answers or {}, "headers_sent": sent, "asked": asked}
    kind = type("Manner", (_Recorder,), manner)
    server = ThreadingHTTPServer(("127.0.0.1", 0), kind)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield f"127.0.0.1:{server.server_address[1]}", asked
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


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
        (
            "s3://i:s%2F@b/k?endpoint_override=http%3A%2F%2Fa:1&region=x",
            "i:s%2F",
            "b",
            "k",
            {"endpoint_override": "http://a:1", "region": "x"},
        ),
        ("gs://anonymous@b/k@1", "anonymous", "b", "k@1", {}),
        ("gs://b/k?region=x", "", "b", "k?region=x", {}),
        ("az://b/k?enable_tls=false", "", "b", "k", {"enable_tls": "false"}),
    ],
)
def test_an_address_has_parts(
    url: str, user: str, bucket: str, key: str, options: dict[str, str]
) -> None:
    """Keys are literal; a question mark is a wildcard unless options follow it."""
    found = address_of(url)
    assert (user, bucket, key) == (found.user, found.bucket, found.key)
    assert options == found.options
    assert "i:s" not in repr(found)


def _options(url: str, **known: Any) -> dict[str, Any]:
    """Return with which options the filesystem of an s3 URL is made."""
    fs = SimpleNamespace(S3FileSystem=dict, **known)
    made, _ = cloud_systems._s3(fs, address_of(url))
    found: dict[str, Any] = made
    return found


def test_the_region_of_a_bucket_is_looked_up() -> None:
    """Unless it or a server is named; what cannot be found is left to the user."""

    def nowhere(_: str) -> str:
        raise OSError("secret words")

    looked = {"resolve_s3_region": "region of {}".format}
    assert "region of b" == _options("s3://b/k", **looked)["region"]
    assert "here" == _options("s3://b/k?region=here", **looked)["region"]
    assert _options("s3://b/k?endpoint_override=a:1", **looked)["region"] is None
    assert _options("s3://b/k", resolve_s3_region=nowhere)["region"] is None


def test_requests_to_s3_are_bounded_and_encrypted() -> None:
    """Plain text has to be asked for, by the URL or by the address of the server."""
    made = _options("s3://i%2B:s%2F@b/k?endpoint_override=a:1")
    assert ("i+", "s/") == (made["access_key"], made["secret_key"])
    assert ("https", "a:1") == (made["scheme"], made["endpoint_override"])
    assert 0 < made["connect_timeout"] <= made["request_timeout"] <= 10
    plain = _options("s3://b/k?endpoint_override=http://a:1/")
    assert ("http", "a:1") == (plain["scheme"], plain["endpoint_override"])
    assert "http" == _options("s3://b/k?endpoint_override=a&scheme=http")["scheme"]


METADATA = """
import os, sys
from dpql.curator.engines.clouds import cloud_files
from dpql.model.spec import Data, RowsAtMost
del os.environ["AWS_EC2_METADATA_DISABLED"]
data = Data(source="rows", rows=RowsAtMost(count=9), columns=())
for _ in range(3):
    cloud_files(sys.argv[1], data)
print(os.environ.get("AWS_EC2_METADATA_DISABLED"))
"""


def _read(url: str) -> str:
    run = subprocess.run(
        [sys.executable, "-c", METADATA, url],
        capture_output=True,
        check=False,
        text=True,
        timeout=900,
    )
    assert (0, "") == (run.returncode, run.stderr)
    return run.stdout


def test_public_data_are_read_without_an_account(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A metadata service that says nothing is asked once, and nobody after it."""
    with cloud("s3") as public, socket.create_server(("127.0.0.1", 0)) as listener:
        public.put("a.csv", b"x")
        place = f"http://127.0.0.1:{listener.getsockname()[1]}"
        monkeypatch.setenv("AWS_EC2_METADATA_SERVICE_ENDPOINT", place)
        assert "true\n" == _read(public.url("a.csv"))
        listener.settimeout(0)
        listener.accept()[0].close()
        with pytest.raises(BlockingIOError):
            listener.accept()


def test_the_role_of_a_machine_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keys come from a metadata service that answers."""
    with cloud("s3") as guarded:
        guarded.put("a.csv", b"x")
        guarded.guard()
        keys = {
            "Code": "Success",
            "AccessKeyId": guarded.access,
            "SecretAccessKey": guarded.secret,
            "Token": "",
            "Expiration": "2999-01-01T00:00:00Z",
        }
        roles = "/latest/meta-data/iam/security-credentials"
        answers = {
            "/latest/api/token": b"token",
            "/latest/meta-data/placement/availability-zone": b"us-east-1a",
            roles: b"role",
            f"{roles}/": b"role",
            f"{roles}/role": json.dumps(keys).encode(),
        }
        with _recorder(answers) as (place, _):
            variable = "AWS_EC2_METADATA_SERVICE_ENDPOINT"
            monkeypatch.setenv(variable, f"http://{place}")
            assert "None\n" == _read(guarded.url("a.csv"))


def _google(url: str = "gs://b/k") -> bool:
    """Return whether requests to Google are signed."""
    fs = SimpleNamespace(GcsFileSystem=dict)
    made, _ = cloud_systems._google(fs, address_of(url))
    assert made["retry_time_limit"].total_seconds() <= 10
    return not made["anonymous"]


def test_google_is_asked_as_who_we_are(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Signed with credentials of the environment, of a login or of the machine."""
    assert not _google()
    with _recorder() as (place, _):
        monkeypatch.setattr(cloud_systems, "_METADATA", f"http://{place}")
        assert not _google()
    with _recorder(Metadata_Flavor="Google") as (place, asked):
        monkeypatch.setattr(cloud_systems, "_METADATA", f"http://{place}")
        assert not _google("gs://anonymous@b/k")
        assert [] == asked
        assert _google()
    assert not _google()
    login = tmp_path / ".config" / "gcloud" / "application_default_credentials.json"
    login.parent.mkdir(parents=True)
    login.touch()
    assert _google()
    login.unlink()
    monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", "somewhere")
    assert _google()


def test_azure_is_asked_as_who_we_are(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Tokens are sought where a variable, a login or the machine speaks of some."""
    assert not cloud_systems._azure_knows_us()
    with _recorder() as (place, _):
        monkeypatch.setattr(cloud_systems, "_METADATA", f"http://{place}")
        assert not cloud_systems._azure_knows_us()
    with _recorder({"/metadata/versions": b"{}"}) as (place, _):
        monkeypatch.setattr(cloud_systems, "_METADATA", f"http://{place}")
        assert cloud_systems._azure_knows_us()
    assert not cloud_systems._azure_knows_us()
    (tmp_path / ".azure").mkdir()
    assert cloud_systems._azure_knows_us()
    (tmp_path / ".azure").rmdir()
    monkeypatch.setenv("AZURE_CLIENT_ID", "somebody")
    assert cloud_systems._azure_knows_us()


@pytest.mark.parametrize(
    "url",
    [
        "abfs://data@account.dfs.core.windows.net/a b.csv",
        "abfss://data@account.blob.core.windows.net/a b.csv",
        "az://data/a b.csv",
        "abfss://data/a b.csv",
    ],
)
@pytest.mark.parametrize("signed", ["key", "token", ""])
def test_an_account_of_azure_is_asked_for_a_container(
    url: str, signed: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With a key, a token or nothing; an account that is not named is the user's."""
    monkeypatch.setenv("AZURE_STORAGE_ACCOUNT", "account")
    if signed == "key":
        key = base64.b64encode(b"hunter2").decode()
        monkeypatch.setenv("AZURE_STORAGE_KEY", key)
    if signed == "token":
        monkeypatch.setenv("AZURE_STORAGE_SAS_TOKEN", "sv=1&sig=hunter2")
    with _recorder() as (place, asked):
        authorities = f"blob_storage_authority={place}&dfs_storage_authority={place}"
        with pytest.raises(RunFault, match="DPQL501"):
            cloud_files(f"{url}?enable_tls=false&{authorities}", DATA)
    assert asked
    for path, authorization in asked:
        assert path.startswith("/account/data")
        assert ("sig=hunter2" in path) is (signed == "token")
        assert authorization.startswith("SharedKey account:") is (signed == "key")
        assert bool(authorization) is (signed == "key")


def test_azure_is_encrypted_and_national(monkeypatch: pytest.MonkeyPatch) -> None:
    """Services are those of the domain that a URL names."""
    made: dict[str, Any] = {}
    fs = SimpleNamespace(
        AzureFileSystem=lambda account, **options: made.update(options, account=account)
    )
    monkeypatch.setenv("AZURE_STORAGE_ACCOUNT_KEY", "key")
    url = "abfs://data@account.dfs.core.chinacloudapi.cn/k"
    _, container = cloud_systems._azure(fs, address_of(url))
    assert container == "data"
    assert made == {
        "account": "account",
        "account_key": "key",
        "blob_storage_authority": ".blob.core.chinacloudapi.cn",
        "blob_storage_scheme": "https",
        "dfs_storage_authority": ".dfs.core.chinacloudapi.cn",
        "dfs_storage_scheme": "https",
    }
