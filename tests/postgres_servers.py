"""A private PostgreSQL server for tests, where there are binaries of one."""

from __future__ import annotations

import os
import pwd
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

_BINARIES = sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)


def _server_binaries() -> Path | None:
    on_path = shutil.which("pg_ctl")
    found = [Path(on_path).parent] if on_path else []
    return next(
        (folder for folder in [*found, *_BINARIES] if (folder / "initdb").exists()),
        None,
    )


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _as_server_user(command: list[str], folder: Path) -> None:
    """Run the command as a user that PostgreSQL accepts: it refuses to be root."""
    prefix = ["runuser", "-u", "postgres", "--"] if os.getuid() == 0 else []
    subprocess.run(
        [*prefix, *command], check=True, cwd=folder, stdout=subprocess.DEVNULL
    )


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[str]:
    """Start a server of our own on a loopback port; give its address."""
    pytest.importorskip("psycopg", reason="the extra `postgres` is not installed")
    binaries = _server_binaries()
    if binaries is None:
        pytest.skip("no PostgreSQL server binaries on this machine")
    # Not below pytest's own folder, which the server's user may not enter.
    folder = Path(tempfile.mkdtemp(prefix="dpql-postgres-"))
    if os.getuid() == 0:
        try:
            owner = pwd.getpwnam("postgres")
        except KeyError:
            pytest.skip("PostgreSQL refuses to run as root, and has no user here")
        os.chown(folder, owner.pw_uid, owner.pw_gid)
    data, port = folder / "data", _free_port()
    options = f"-p {port} -k {folder} -c listen_addresses=127.0.0.1"
    initialise = [str(binaries / "initdb"), "-D", str(data), "-A", "trust", "-U", "t"]
    _as_server_user(initialise, folder)
    control = [str(binaries / "pg_ctl"), "-D", str(data), "-w"]
    start = ["-o", options, "-l", str(folder / "log"), "start"]
    _as_server_user([*control, *start], folder)
    yield f"postgresql://t@127.0.0.1:{port}/"
    _as_server_user([*control, "-m", "immediate", "stop"], folder)
    shutil.rmtree(folder)
