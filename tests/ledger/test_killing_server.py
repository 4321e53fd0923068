"""Runs that are killed lose no debit on a server either, and races end the same."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

TOOLS = Path(__file__).parents[2] / "tools"


def _tool(name: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, str(TOOLS / name), *arguments],
        capture_output=True,
        text=True,
        check=False,
        timeout=900,
    )


def test_killed_runs_break_no_promise_on_a_server(postgres_server: str) -> None:
    """Fifteen real SIGKILLs; the ledger is sound and usable after each."""
    address = f"{postgres_server}postgres"
    done = _tool("kill_runs.py", "--kills", "15", "--server", address)
    assert done.stdout.endswith("0 broken promises\n"), done.stdout + done.stderr
    assert done.returncode == 0


def test_racing_runs_take_exactly_the_budget_on_a_server(postgres_server: str) -> None:
    """Eight whole runs at once where seven fit: seven releases, one refusal."""
    address = f"{postgres_server}postgres"
    arguments = ("--rounds", "1", "--runs", "8", "--server", address)
    done = _tool("concurrent_runs.py", *arguments)
    assert done.stdout == "1 races of 8 runs; 0 ended wrongly\n", done.stderr
