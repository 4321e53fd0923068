"""Runs the command with no more rights than anybody has."""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from cli.started import surroundings


def unprivileged(
    *arguments: str | Path, folder: Path, **options: Any
) -> subprocess.CompletedProcess[str]:
    """Run a command that has no more rights than anybody."""
    try:
        return subprocess.run(
            [sys.executable, "-m", "dpql", *map(str, arguments)],
            cwd=folder,
            env=surroundings(),
            capture_output=True,
            encoding="utf-8",
            timeout=900,
            check=False,
            preexec_fn=_drop_rights,
            **options,
        )
    except subprocess.SubprocessError:
        pytest.skip("root cannot lay down its rights here")


def _drop_rights() -> None:
    """Take from the process to be started what lets root pass over permissions."""
    if os.geteuid() == 0:
        drop, override, search = 24, 1, 2
        libc = ctypes.CDLL(None)
        for capability in (override, search):
            if libc.prctl(drop, capability, 0, 0, 0):
                raise PermissionError
