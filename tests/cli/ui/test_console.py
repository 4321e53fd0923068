"""Streams that are closed, full, or cannot carry every character."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from cli.released import RUN, release_in
from cli.started import WAGES, dpql, fine, surroundings

pytestmark = pytest.mark.cli


def test_a_full_disk_is_named() -> None:
    """Output to a full device is an error of the system, not a traceback."""
    if not Path("/dev/full").exists():
        pytest.skip("no /dev/full on this machine")
    for form in ("text", "json"):
        with Path("/dev/full").open("w") as target:
            run = subprocess.run(
                [sys.executable, "-m", "dpql", "plan", WAGES, "--format", form],
                stdout=target,
                stderr=subprocess.PIPE,
                encoding="utf-8",
                env=surroundings(),
                check=False,
            )
        assert (1, True) == (run.returncode, "DPQL800" in run.stderr)
        assert "no space left" in run.stderr
        assert "Traceback" not in run.stderr


def test_a_closed_pipe_changes_nothing_but_what_is_seen(folder: Path) -> None:
    """A run whose reader has left goes on to its end and keeps its exit code."""
    reader, writer = os.pipe()
    os.close(reader)
    run = subprocess.run(
        [sys.executable, "-m", "dpql", *RUN, "--yes"],
        cwd=folder,
        stdout=writer,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        env=surroundings(),
        check=False,
    )
    os.close(writer)
    assert (0, False) == (run.returncode, "Broken" in run.stderr)
    fine(dpql("verify", release_in(folder), folder=folder))


@pytest.mark.parametrize("closed", [">&-", "2>&-", ">&- 2>&-", "<&- >&- 2>&-"])
def test_closed_streams_are_no_fault(folder: Path, closed: str) -> None:
    """A command without stdout or stderr works; no file takes a stream's column."""
    line = f'exec "$0" -m dpql "$@" {closed}'
    run = subprocess.run(
        ["sh", "-c", line, sys.executable, *RUN, "--yes"],
        cwd=folder,
        env=surroundings(),
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert (0, False) == (run.returncode, "Traceback" in run.stderr)
    fine(dpql("ledger", "verify", folder=folder))
    fine(dpql("verify", release_in(folder), folder=folder))


@pytest.mark.parametrize(
    "surrounding",
    [
        {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
        {"PYTHONIOENCODING": "latin-1"},
        {"PYTHONIOENCODING": "cp1252"},
    ],
    ids=["C", "latin-1", "cp1252"],
)
def test_terminals_that_cannot_say_everything(
    folder: Path, surrounding: dict[str, str]
) -> None:
    """Words take the column of signs; columns stay in line; nothing is lost."""
    kept = surroundings()
    kept.pop("PYTHONIOENCODING")
    for arguments, status in (((*RUN, "--yes"), 0), (("plan", "nö.yaml"), 1)):
        run = subprocess.run(
            [sys.executable, "-m", "dpql", *arguments],
            cwd=folder,
            env={**kept, **surrounding},
            capture_output=True,
            check=False,
        )
        assert status == run.returncode, run.stderr
        assert b"Traceback" not in run.stderr
        assert "ε".encode() not in run.stdout + run.stderr
    plan = subprocess.run(
        [sys.executable, "-m", "dpql", "plan", "wages.yaml"],
        cwd=folder,
        env={**kept, **surrounding},
        capture_output=True,
        check=True,
    ).stdout.decode("latin-1")
    heading, rule, *rows = plan.splitlines()[2:7]
    column = heading.index("share")
    assert set(rule) == {" ", "-"}
    assert all(row[column - 1] == " " and row[column] in "#." for row in rows[:3])


def test_a_terminal_without_greek_gets_words() -> None:
    """An encoding without ε gets eps, and bars of #."""
    run = dpql("plan", WAGES, PYTHONIOENCODING="ascii")
    assert run.returncode == 0
    assert "spends     eps = 1, pure DP" in run.stdout
    assert "+/- 60" in run.stdout
    assert run.stdout.isascii()
