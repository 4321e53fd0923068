"""Emulators of object stores, each in a process of its own.

    python object_stores.py s3|gs|az

prints its port and one pair of keys, and ends when its input is closed.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import format_datetime
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from io import BytesIO
from pathlib import Path
from typing import Any, ClassVar
from urllib.parse import parse_qs, quote, unquote, urlsplit
from urllib.request import Request, urlopen
from xml.sax.saxutils import escape

import pytest
from pyarrow import fs

BUCKET = "data"
ACCOUNT = "account"
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
    monkeypatch.setenv("AWS_METADATA_ENDPOINT", NOBODY)
    monkeypatch.setenv("AZURE_MSI_ENDPOINT", NOBODY)
    monkeypatch.setenv("AZURE_STORAGE_ACCOUNT", ACCOUNT)
    monkeypatch.setenv("HOME", str(home))


@dataclass(frozen=True, slots=True, kw_only=True)
class Cloud:
    """An emulator with one bucket, and the keys of its one user."""

    kind: str
    port: int
    access: str
    secret: str

    @property
    def options(self) -> str:
        """The options that lead to this emulator."""
        if self.kind == "az":
            return f"?blob_storage_authority=127.0.0.1:{self.port}&enable_tls=false"
        return f"?endpoint_override=127.0.0.1:{self.port}&scheme=http"

    def url(self, key: str, user: str = "") -> str:
        """Return the URL of a key, read without a signature."""
        return f"{self.kind}://{user}{BUCKET}/{key}{self.options}&anonymous=true"

    def signed_url(self, key: str, user: str = "") -> str:
        """Return the URL of a key, read with the keys of a user or the environment."""
        return f"{self.kind}://{user}{BUCKET}/{key}{self.options}"

    def put(self, key: str, content: bytes) -> None:
        """Store an object, as long as requests need no signature."""
        if self.kind != "gs":
            account = f"/{ACCOUNT}" if self.kind == "az" else ""
            self.ask("PUT", f"{account}/{BUCKET}/{quote(key)}", content)
            return
        # The emulator takes no empty body of a plain request.
        system, _ = fs.FileSystem.from_uri(f"gs://anonymous@{BUCKET}{self.options}")
        with system.open_output_stream(f"{BUCKET}/{key}") as file:
            file.write(content)

    def guard(self) -> None:
        """Refuse from now on requests without a valid signature."""
        self.ask("POST", "/moto-api/reset-auth", b"0")

    def ask(self, method: str, path: str, content: bytes = b"") -> bytes:
        """Send a request."""
        url = f"http://127.0.0.1:{self.port}{path}"
        request = Request(url, content, method=method)
        request.add_header("Content-Type", "application/octet-stream")
        request.add_header("x-amz-acl", "public-read-write")
        with urlopen(request, timeout=900) as answer:  # noqa: S310  an emulator
            body: bytes = answer.read()
        return body


@contextmanager
def cloud(kind: str) -> Iterator[Cloud]:
    """Run an emulator."""
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
    options = {
        "endpoint_url": f"http://127.0.0.1:{port}",
        "region_name": "us-east-1",
        "aws_access_key_id": "first",
        "aws_secret_access_key": "first",
    }
    boto3.client("s3", **options).create_bucket(Bucket=BUCKET, ACL="public-read-write")
    users = boto3.client("iam", **options)
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
    """Run an emulator of the JSON API, and add what obstore needs of the XML API."""
    from gcp_storage_emulator import server as emulator

    *others, (object_route, methods) = emulator.HANDLERS
    emulator.HANDLERS = (
        *others,
        (r"^/(?P<bucket_name>[-.\w]+)/?$", {"GET": _gs_list}),
        (object_route, methods | {"GET": _gs_download}),
    )
    emulator.RequestHandler.do_HEAD = _gs_head
    server = emulator.create_server(
        "127.0.0.1", 0, in_memory=True, default_bucket=BUCKET
    )
    server._api.daemon = True
    server.start()
    port = server._api._httpd.server_address[1]
    return {"port": port, "access": "", "secret": ""}


def _gs_head(handler: Any) -> None:
    """Send the headers of an object, and not what is written after them."""
    output, headers = handler.wfile, BytesIO()
    handler.wfile = headers
    handler.do_GET()
    handler.wfile = output
    output.write(headers.getvalue().partition(b"\r\n\r\n")[0] + b"\r\n\r\n")


def _gs_download(request: Any, response: Any, storage: Any) -> None:
    """Send an object with the headers that tell its version."""
    from gcp_storage_emulator.handlers import objects

    objects.download(request, response, storage)
    if response.status != HTTPStatus.NOT_FOUND:
        names = request.params["bucket_name"], request.params["object_id"]
        found = storage.get_file_obj(*names)
        updated = datetime.fromisoformat(found["updated"])
        response["ETag"] = f'"{found["etag"]}"'
        response["x-goog-generation"] = found["generation"]
        response["Last-Modified"] = format_datetime(updated, usegmt=True)


def _gs_list(request: Any, response: Any, storage: Any) -> None:
    """List the objects of a bucket."""
    bucket, prefix = request.params["bucket_name"], request.query.get("prefix", [None])
    if storage.get_bucket(bucket) is None:
        response.status = HTTPStatus.NOT_FOUND
        return
    files, _ = storage.get_file_list(bucket, prefix[0])
    found = "".join(
        f"<Contents><Key>{escape(file['name'])}</Key><Size>{file['size']}</Size>"
        f"<LastModified>{file['updated']}</LastModified>"
        f"<ETag>{file['etag']}</ETag></Contents>"
        for file in files
    )
    body = f"<ListBucketResult>{found}</ListBucketResult>".encode()
    response.write_file(body, content_type="application/xml")


class _Azure(BaseHTTPRequestHandler):
    """The requests of Azure's Blob service that a reader sends."""

    container = f"/{ACCOUNT}/{BUCKET}"
    blobs: ClassVar[dict[str, tuple[bytes, str, str]]] = {}

    def do_PUT(self) -> None:
        """Store a blob."""
        content = self.rfile.read(int(self.headers["Content-Length"]))
        key = unquote(self.path).removeprefix(f"{self.container}/")
        now = format_datetime(datetime.now(UTC), usegmt=True)
        self.blobs[key] = content, f"0x{time.time_ns():X}", now
        self._send(HTTPStatus.CREATED, b"")

    def do_GET(self) -> None:
        """Send a blob, a range of it or a list."""
        parts = urlsplit(self.path)
        query = parse_qs(parts.query)
        found = self.blobs.get(unquote(parts.path).removeprefix(f"{self.container}/"))
        if parts.path == self.container and query.get("comp") == ["list"]:
            self._send(HTTPStatus.OK, self._list(query.get("prefix", [""])[0]))
        elif found is None or not parts.path.startswith(self.container):
            self._send(HTTPStatus.NOT_FOUND, b"")
        else:
            self._blob(*found)

    def do_HEAD(self) -> None:
        """Send the headers of a blob."""
        self.do_GET()

    def _blob(self, content: bytes, tag: str, time: str) -> None:
        status, headers = HTTPStatus.OK, {"ETag": f'"{tag}"', "Last-Modified": time}
        if "Range" in self.headers:
            first, last = map(int, self.headers["Range"][len("bytes=") :].split("-"))
            total, content = len(content), content[first : last + 1]
            status = HTTPStatus.PARTIAL_CONTENT
            if not content:
                status = HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE
            end = first + len(content) - 1
            headers["Content-Range"] = f"bytes {first}-{end}/{total}"
        self._send(status, content, headers)

    def _list(self, prefix: str) -> bytes:
        found = "".join(
            f"<Blob><Name>{escape(key)}</Name><Properties><Etag>{tag}</Etag>"
            f"<Last-Modified>{time}</Last-Modified>"
            "<Content-Type>application/octet-stream</Content-Type>"
            f"<Content-Length>{len(content)}</Content-Length></Properties></Blob>"
            for key, (content, tag, time) in sorted(self.blobs.items())
            if key.startswith(prefix)
        )
        blobs = f"<Blobs>{found}</Blobs><NextMarker/>"
        return f"<EnumerationResults>{blobs}</EnumerationResults>".encode()

    def _send(
        self,
        status: HTTPStatus,
        content: bytes,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        self.send_response(status)
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content)


def _az() -> dict[str, object]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Azure)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return {"port": server.server_address[1], "access": "", "secret": ""}


if __name__ == "__main__":
    print(json.dumps({"s3": _s3, "gs": _gs, "az": _az}[sys.argv[1]]()), flush=True)
    sys.stdin.read()
