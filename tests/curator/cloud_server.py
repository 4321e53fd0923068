"""Servers that speak as clouds do, each in a process of its own.

    python cloud_server.py s3|gs

prints where it is and one pair of keys, and ends when nobody holds its input.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote
from urllib.request import Request, urlopen

import pytest
from pyarrow import fs

from dpql.curator.engines import cloud_systems

BUCKET = "data"
NOBODY = "http://127.0.0.1:9"
"""Where no test ever finds anything."""


def without_account(monkeypatch: pytest.MonkeyPatch, home: Path) -> None:
    """Keep tests from whatever accounts this machine may have."""
    for name in sorted(os.environ):
        if name.startswith(("AWS_", "AZURE_", "GOOGLE_", "IDENTITY_", "MSI_")):
            monkeypatch.delenv(name)
    for name in ("AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE"):
        monkeypatch.setenv(name, str(home / "none"))
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.delenv("APPDATA", raising=False)
    monkeypatch.setattr(cloud_systems, "_METADATA", NOBODY)


@dataclass(frozen=True, slots=True, kw_only=True)
class Cloud:
    """A server with one bucket, and the keys of its one user."""

    kind: str
    port: int
    access: str
    secret: str

    @property
    def question(self) -> str:
        """What stands behind a URL of this cloud."""
        return f"?endpoint_override=127.0.0.1:{self.port}&scheme=http"

    def url(self, key: str, user: str = "") -> str:
        """Return the URL of a key."""
        return f"{self.kind}://{user}{BUCKET}/{key}{self.question}"

    def put(self, key: str, content: bytes) -> None:
        """Store an object, as long as nobody has to sign."""
        if self.kind == "s3":
            self.ask("PUT", f"/{BUCKET}/{quote(key)}", content)
            return
        # The emulator takes no empty body of a plain request.
        system, _ = fs.FileSystem.from_uri(f"gs://anonymous@{BUCKET}{self.question}")
        with system.open_output_stream(f"{BUCKET}/{key}") as file:
            file.write(content)

    def guard(self) -> None:
        """Refuse from now on whoever does not sign with the keys."""
        self.ask("POST", "/moto-api/reset-auth", b"0")

    def ask(self, method: str, path: str, content: bytes = b"") -> bytes:
        """Send a request."""
        place = f"http://127.0.0.1:{self.port}{path}"
        request = Request(place, content, method=method)
        request.add_header("Content-Type", "application/octet-stream")
        request.add_header("x-amz-acl", "public-read-write")
        with urlopen(request, timeout=900) as answer:  # noqa: S310  the same
            told: bytes = answer.read()
        return told


@contextmanager
def cloud(kind: str) -> Iterator[Cloud]:
    """Run a cloud."""
    with subprocess.Popen(
        [sys.executable, __file__, kind],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            yield Cloud(kind=kind, **json.loads(process.stdout.readline()))
        finally:
            process.stdin.close()
            process.wait(900)


def _s3() -> dict[str, object]:
    import boto3
    from moto.server import ThreadedMotoServer

    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    port = server.get_host_and_port()[1]
    place = {
        "endpoint_url": f"http://127.0.0.1:{port}",
        "region_name": "us-east-1",
        "aws_access_key_id": "first",
        "aws_secret_access_key": "first",
    }
    boto3.client("s3", **place).create_bucket(Bucket=BUCKET, ACL="public-read-write")
    users = boto3.client("iam", **place)
    users.create_user(UserName="reader")
    rule = {"Effect": "Allow", "Action": "s3:*", "Resource": "*"}
    users.put_user_policy(
        UserName="reader",
        PolicyName="reads",
        PolicyDocument=json.dumps({"Version": "2012-10-17", "Statement": [rule]}),
    )
    keys = users.create_access_key(UserName="reader")["AccessKey"]
    return {
        "port": port,
        "access": keys["AccessKeyId"],
        "secret": keys["SecretAccessKey"],
    }


def _gs() -> dict[str, object]:
    from gcp_storage_emulator.server import create_server

    server = create_server("127.0.0.1", 0, in_memory=True, default_bucket=BUCKET)
    server._api.daemon = True
    server.start()
    port = server._api._httpd.server_address[1]
    return {"port": port, "access": "", "secret": ""}


if __name__ == "__main__":
    print(json.dumps({"s3": _s3, "gs": _gs}[sys.argv[1]]()), flush=True)
    sys.stdin.read()
