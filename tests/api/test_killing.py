"""Runs that are killed at any moment neither lose a debit nor give one away."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

TOOLS = Path(__file__).parents[2] / "tools"


def test_fifty_killed_runs_break_no_promise() -> None:
    """Fifty real SIGKILLs; the ledger is sound and usable after each."""
    done = subprocess.run(
        [sys.executable, str(TOOLS / "kill_runs.py"), "--kills", "50"],
        capture_output=True,
        text=True,
        check=False,
        timeout=900,
    )
    assert done.stdout.endswith("0 broken promises\n"), done.stdout + done.stderr
    assert done.returncode == 0


@pytest.mark.parametrize("what", [(), ("--again",)], ids=["run", "mending"])
@pytest.mark.parametrize(
    "every", ["12", pytest.param("1", marks=pytest.mark.slow)], ids=["some", "all"]
)
def test_no_step_is_a_bad_one_to_stop_at(what: tuple[str, ...], every: str) -> None:
    """A run that leaves before a step of its own breaks no promise, whichever it is."""
    tool = str(TOOLS / "crash_points.py")
    done = subprocess.run(
        [sys.executable, tool, "--every", every, *what],
        capture_output=True,
        text=True,
        check=False,
        timeout=1800,
    )
    assert done.stdout.endswith("0 broken promises\n"), done.stdout + done.stderr
    assert done.returncode == 0


def test_racing_runs_take_exactly_the_budget() -> None:
    """Eight whole runs at once where seven fit: seven releases, one refusal."""
    done = subprocess.run(
        [
            sys.executable,
            str(TOOLS / "concurrent_runs.py"),
            "--rounds",
            "1",
            "--runs",
            "8",
        ],
        capture_output=True,
        text=True,
        check=False,
        timeout=900,
    )
    assert done.stdout == "1 races of 8 runs; 0 ended wrongly\n", done.stderr
