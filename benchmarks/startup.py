"""Prints the processor time that commands take to start, beside plain Python.

Run ``python benchmarks/startup.py``; the least of several runs is shown.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parent.parent
RUNS = 7
SPEC = "specs/district_wages.yaml"

COMMANDS: dict[str, tuple[str, ...]] = {
    "python -c pass": ("-c", "pass"),
    "dpql --help": ("-m", "dpql", "--help"),
    "dpql check": ("-m", "dpql", "check", SPEC),
    "dpql plan": ("-m", "dpql", "plan", SPEC),
    "dpql diff": ("-m", "dpql", "diff", SPEC, SPEC),
}


def processor_time(arguments: tuple[str, ...]) -> float:
    """Return user and system seconds of one run."""
    before = os.times()
    subprocess.run(
        [sys.executable, *arguments],
        cwd=ROOT,
        stdout=subprocess.DEVNULL,
        check=True,
    )
    after = os.times()
    return (
        after.children_user
        - before.children_user
        + after.children_system
        - before.children_system
    )


def main() -> None:
    """Measure every command and print the table."""
    print(f"{'command':<24}{'CPU seconds':>12}")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "demo"
        subprocess.run(
            [sys.executable, "-m", "dpql", "demo", str(folder)],
            capture_output=True,
            check=True,
        )
        (release,) = (folder / "releases").iterdir()
        trust, ledger = folder / "allowed_signers", folder / "ledger.sqlite"
        asking = ("-m", "dpql", "ledger", "show", "--ledger", str(ledger))
        verifying = ("-m", "dpql", "verify", str(release), "--trust", str(trust))
        measure({**COMMANDS, "dpql verify": verifying, "dpql ledger show": asking})


def measure(commands: dict[str, tuple[str, ...]]) -> None:
    """Print a line for each command."""
    for name, arguments in commands.items():
        least = min(processor_time(arguments) for _ in range(RUNS))
        print(f"{name:<24}{least:>12.3f}")


if __name__ == "__main__":
    main()
