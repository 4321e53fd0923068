"""Runs that are killed at any moment neither lose a debit nor give one away."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

TOOL = Path(__file__).parents[2] / "tools" / "kill_runs.py"


def test_fifty_killed_runs_break_no_promise() -> None:
    """Fifty real SIGKILLs; the ledger is sound and usable after each."""
    done = subprocess.run(
        [sys.executable, str(TOOL), "--kills", "50"],
        capture_output=True,
        text=True,
        check=False,
        timeout=900,
    )
    assert done.stdout.endswith("0 broken promises\n"), done.stdout + done.stderr
    assert done.returncode == 0
