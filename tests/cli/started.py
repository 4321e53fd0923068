"""Starts the command in a process of its own, as people do."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
SPECS = ROOT / "specs"
WAGES = SPECS / "district_wages.yaml"


def dpql(
    *arguments: str | Path,
    folder: Path = ROOT,
    text: str | None = None,
    **environment: str,
) -> subprocess.CompletedProcess[str]:
    """Run `dpql` and return what it wrote and its exit code."""
    return subprocess.run(
        [sys.executable, "-m", "dpql", *map(str, arguments)],
        cwd=folder,
        env=surroundings(**environment),
        input=text,
        capture_output=True,
        encoding="utf-8",
        timeout=900,
        check=False,
    )


def surroundings(**environment: str) -> dict[str, str]:
    """Return an environment without settings of the person who runs the tests."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("DPQL", "PYTHON")) and name != "NO_COLOR"
    }
    return {**kept, "PYTHONIOENCODING": "utf-8", **environment}


def fine(run: subprocess.CompletedProcess[str]) -> str:
    """Return what a run that must succeed has printed."""
    assert (0, "") == (run.returncode, run.stderr)
    return run.stdout


def refused(
    run: subprocess.CompletedProcess[str], status: int, *words: str
) -> subprocess.CompletedProcess[str]:
    """Check a refusal: the exit code, the words, no traceback, nothing on stdout."""
    assert status == run.returncode, run.stderr
    assert "Traceback" not in run.stderr
    for word in words:
        assert word in run.stderr
    assert run.stdout == ""
    return run
