"""Questions on a terminal: the debit, the signature, the passphrase."""

from __future__ import annotations

import os
import pty
import select
import subprocess
import sys
from pathlib import Path

import pytest
from cli.released import RUN, project
from cli.started import dpql, fine, surroundings

pytestmark = pytest.mark.cli


def _answered(folder: Path, answers: str, *arguments: str) -> tuple[int, str]:
    """Run a command on a terminal, answer each question; return status and screen."""
    leader, follower = pty.openpty()
    run = subprocess.Popen(
        [sys.executable, "-m", "dpql", *arguments],
        cwd=folder,
        env=surroundings(TERM="dumb"),
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
    return run.wait(timeout=60), screen.decode("utf-8", "replace")


def test_a_debit_is_asked_for(tmp_path: Path) -> None:
    """No spends nothing; yes runs."""
    folder = project(tmp_path / "project")
    status, screen = _answered(folder, "n\n", *RUN)
    assert (1, True) == (status, "nothing was spent" in screen)
    assert "ε = 1 from wages (0 → 1 of 2)" in screen
    assert "spent 0 of 2" in fine(dpql("ledger", "show", folder=folder))
    status, screen = _answered(folder, "y\n", *RUN)
    assert (0, True) == (status, "released     releases/" in screen)
    assert "spent 1 of 2" in fine(dpql("ledger", "show", folder=folder))


def test_a_signature_is_asked_for(tmp_path: Path) -> None:
    """The reviewer sees the plan before signing it."""
    folder = project(tmp_path / "project")
    (folder / "wages.approval.officer.json").unlink()
    sign = ("approve", "wages.plan.json", "--key", "officer")
    status, screen = _answered(folder, "\n", *sign)
    assert (1, True) == (status, "headcount by district" in screen)
    assert not (folder / "wages.approval.officer.json").exists()
    status, _ = _answered(folder, "y\n", *sign)
    assert (0, True) == (status, (folder / "wages.approval.officer.json").exists())


def test_a_passphrase_is_asked_for_unseen(tmp_path: Path) -> None:
    """It is asked twice when a key is made, once when it signs."""
    folder = project(tmp_path / "project")
    status, screen = _answered(folder, "sesame\nsesame\n", "keys", "new", "third")
    assert (0, True) == (status, "SHA256:" in screen)
    assert b"ENCRYPTED" in (folder / "keys" / "third").read_bytes()
    sign = ("approve", "wages.plan.json", "--key", "third", "--yes")
    status, _ = _answered(folder, "sesame\n", *sign)
    assert status == 0
    status, screen = _answered(folder, "barley\n", *sign)
    assert (4, True) == (status, "DPQL622" in screen)
