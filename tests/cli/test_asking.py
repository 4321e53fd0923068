"""On a terminal: questions are asked, and a run shows how far it has come."""

from __future__ import annotations

import os
import pty
import re
import select
import subprocess
import sys
from pathlib import Path

import pytest
from cli.released import RUN, project
from cli.started import dpql, fine, surroundings

pytestmark = pytest.mark.cli


def _answered(
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


@pytest.mark.parametrize("columns", ["120", "60"])
def test_the_demo_asks_nothing(tmp_path: Path, columns: str) -> None:
    """On a terminal too it runs to its end, and nothing else has to be typed."""
    status, screen = _answered(
        tmp_path, "", "demo", "first", TERM="xterm", COLUMNS=columns
    )
    assert (0, False) == (status, "[y/N]" in screen)
    assert "report.html to read the release" in re.sub(r"\s+", " ", screen)
    assert [p.name for p in tmp_path.glob("first/releases/*/report.html")]


STAGES = [
    "adding up rows",
    "drawing noise",
    "signing and sealing",
    "writing the folder",
]


def _frames(screen: str) -> list[tuple[str, str]]:
    """Return what the bar has shown: percentage and words, each pair once."""
    plain = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", screen)
    found = re.findall(r"running [^\r\n]*?(\d+)% +[-\\|/]? *(\w[\w ]*\w)", plain)
    return list(dict.fromkeys(found))


@pytest.mark.parametrize("columns", ["120", "60", "40"])
def test_a_run_shows_its_stages_and_nothing_of_the_rows(
    tmp_path: Path, columns: str
) -> None:
    """Every bar is the same, whatever the data: so many stages of a public number."""
    expected = [*zip(("0", "25", "50", "75"), STAGES, strict=True), ("100", "done")]
    for people in (1, 3000):
        folder = project(tmp_path / f"project-{people}", people=people)
        status, screen = _answered(
            folder, "", *RUN, "--yes", TERM="xterm", COLUMNS=columns
        )
        assert (0, expected) == (status, _frames(screen))


def test_no_bar_where_nothing_runs_or_nobody_looks(tmp_path: Path) -> None:
    """A release that was stored before, a plain terminal and a pipe show none."""
    folder = project(tmp_path / "project")
    status, screen = _answered(folder, "", *RUN, "--yes")
    assert (0, False) == (status, "%" in screen.split("release district", 1)[0])
    status, screen = _answered(folder, "", *RUN, TERM="xterm", NO_COLOR="1")
    assert (0, []) == (status, _frames(screen))
    assert "already released" in screen
    assert "running" not in dpql(*RUN, "--yes", "--again", folder=folder).stderr


def test_a_bar_without_colours(tmp_path: Path) -> None:
    """NO_COLOR leaves the bar and takes the colours."""
    folder = project(tmp_path / "project")
    status, screen = _answered(folder, "", *RUN, "--yes", TERM="xterm", NO_COLOR="1")
    assert (0, 5) == (status, len(_frames(screen)))
    assert re.search(r"\x1b\[3\d", screen) is None
