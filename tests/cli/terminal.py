"""Runs the command on a terminal, where somebody answers or looks."""

from __future__ import annotations

import os
import pty
import select
import subprocess
import sys
from pathlib import Path

from cli.started import ROOT, surroundings


def answered(
    folder: Path, answers: str, *arguments: str, **environment: str
) -> tuple[int, str]:
    """Run a command on a terminal, answer each question; return status and screen."""
    leader, follower = pty.openpty()
    run = subprocess.Popen(
        [sys.executable, "-m", "dpql", *arguments],
        cwd=folder,
        env=surroundings(**{"TERM": "dumb", **environment}),
        stdin=follower,
        stdout=follower,
        stderr=follower,
        start_new_session=True,
    )
    os.close(follower)
    waiting = answers.splitlines()
    screen = b""
    while select.select([leader], [], [], 60)[0]:
        try:
            chunk = os.read(leader, 65536)
        except OSError:
            break
        if not chunk:
            break
        screen += chunk
        # A hidden question throws away what was typed before it was asked.
        if waiting and screen.endswith(b": "):
            os.write(leader, waiting.pop(0).encode() + b"\n")
    os.close(leader)
    return run.wait(timeout=900), screen.decode("utf-8", "replace")


def shown_on_a_terminal(columns: int, *arguments: str, **environment: str) -> str:
    """Return what the command shows on a terminal of that width."""
    leader, follower = pty.openpty()
    subprocess.run(
        [sys.executable, "-m", "dpql", *arguments],
        cwd=ROOT,
        env=surroundings(COLUMNS=str(columns), TERM="xterm", **environment),
        stdin=subprocess.DEVNULL,
        stdout=follower,
        stderr=subprocess.STDOUT,
        timeout=900,
        check=True,
    )
    os.close(follower)
    shown = b""
    while True:
        try:
            chunk = os.read(leader, 65536)
        except OSError:
            break
        if not chunk:
            break
        shown += chunk
    os.close(leader)
    return shown.decode("utf-8").replace("\r\n", "\n")
