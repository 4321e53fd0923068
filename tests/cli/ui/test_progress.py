"""A run shows its stages, and nothing about the rows."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from cli.released import RUN, project
from cli.started import dpql
from cli.terminal import answered

pytestmark = pytest.mark.cli


STAGES = [
    "aggregating rows",
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
        status, screen = answered(
            folder, "", *RUN, "--yes", TERM="xterm", COLUMNS=columns
        )
        assert (0, expected) == (status, _frames(screen))


def test_no_bar_where_nothing_runs_or_nobody_looks(tmp_path: Path) -> None:
    """A release that was stored before, a plain terminal and a pipe show none."""
    folder = project(tmp_path / "project")
    status, screen = answered(folder, "", *RUN, "--yes")
    assert (0, False) == (status, "%" in screen.split("release district", 1)[0])
    status, screen = answered(folder, "", *RUN, TERM="xterm", NO_COLOR="1")
    assert (0, []) == (status, _frames(screen))
    assert "already released" in screen
    assert "running" not in dpql(*RUN, "--yes", "--again", folder=folder).stderr


def test_a_bar_without_colours(tmp_path: Path) -> None:
    """NO_COLOR leaves the bar and takes the colours."""
    folder = project(tmp_path / "project")
    status, screen = answered(folder, "", *RUN, "--yes", TERM="xterm", NO_COLOR="1")
    assert (0, 5) == (status, len(_frames(screen)))
    assert re.search(r"\x1b\[3\d", screen) is None
