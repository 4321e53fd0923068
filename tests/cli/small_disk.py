"""Runs a project on a disk that is full, then makes room and runs it again.

Started by a test as ``unshare --map-root-user --mount python small_disk.py PROJECT
FREE``, so that the disk is there for this process and its children only. It prints what
came of each step as JSON.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

DISK = "2m"
RUN = ("run", "wages.plan.json", "--data", "wages=wages.csv", "--key", "steward")


def main(project: Path, free: int) -> dict[str, Any]:
    """Return exit codes and outputs before and after there was room."""
    with tempfile.TemporaryDirectory() as name:
        disk = Path(name)
        mount = ["mount", "-t", "tmpfs", "-o", f"size={DISK}", "tmpfs", str(disk)]
        subprocess.run(mount, check=True)
        try:
            return _tried(project, disk, free)
        finally:
            subprocess.run(["umount", "--lazy", str(disk)], check=True)


def _tried(project: Path, disk: Path, free: int) -> dict[str, Any]:
    folder = disk / "project"
    shutil.copytree(project, folder)
    left = os.statvfs(disk).f_bavail * os.statvfs(disk).f_frsize
    filler = disk / "filler"
    filler.write_bytes(b"\0" * max(0, left - free))
    full = _dpql(folder, *RUN, "--yes")
    begun = sorted(path.name for path in folder.glob("releases/*/*"))
    filler.unlink()
    return {
        "full": full,
        "begun": begun,
        "verified": _dpql(folder, "ledger", "verify"),
        "recovered": _dpql(folder, "ledger", "recover", "wages"),
        "again": _dpql(folder, *RUN, "--yes"),
        "shown": _dpql(folder, "ledger", "show", "--format", "json"),
        "release": _dpql(
            folder, "verify", *map(str, folder.glob("releases/*")), "--format", "json"
        ),
    }


def _dpql(folder: Path, *arguments: str) -> tuple[int, str, str]:
    run = subprocess.run(
        [sys.executable, "-m", "dpql", *arguments],
        cwd=folder,
        capture_output=True,
        encoding="utf-8",
        timeout=900,
        check=False,
    )
    return run.returncode, run.stdout, run.stderr


if __name__ == "__main__":
    print(json.dumps(main(Path(sys.argv[1]), int(sys.argv[2]))))
