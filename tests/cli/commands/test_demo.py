"""`dpql demo`: the whole story, which harms nothing."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from cli.started import dpql, fine, refused
from cli.terminal import answered

pytestmark = pytest.mark.cli


@pytest.mark.parametrize("columns", ["120", "60"])
def test_the_demo_asks_nothing(tmp_path: Path, columns: str) -> None:
    """On a terminal too it runs to its end, and nothing else has to be typed."""
    status, screen = answered(
        tmp_path, "", "demo", "first", TERM="xterm", COLUMNS=columns
    )
    assert (0, False) == (status, "[y/N]" in screen)
    assert "report.html to read the release" in re.sub(r"\s+", " ", screen)
    assert [p.name for p in tmp_path.glob("first/releases/*/report.html")]


def test_the_demo_ends_with_a_verified_release(tmp_path: Path) -> None:
    """Each command is shown before its output; the folder is left to play with."""
    run = dpql("demo", "first", folder=tmp_path)
    assert run.returncode == 0, run.stderr
    for word in ("check", "plan", "approve", "run", "verify", "ledger show"):
        assert f"$ dpql {word} " in run.stdout
    assert " ok  arithmetic" in run.stdout
    (report,) = (tmp_path / "first").glob("releases/*/report.html")
    assert f"Open {report.relative_to(tmp_path)} to read" in run.stdout
    verify = dpql("verify", report.parent, folder=tmp_path / "first")
    assert " ok  signature" in fine(verify)
    kept = dpql("demo", "first", "--keep", folder=tmp_path)
    assert kept.returncode == 0
    assert "already released" in kept.stdout


def test_the_demo_spares_other_folders(tmp_path: Path) -> None:
    """A folder that no demo made is refused and left alone."""
    precious = tmp_path / "mine" / "precious"
    precious.parent.mkdir()
    precious.write_text("keep", "utf-8")
    refused(dpql("demo", "mine", folder=tmp_path), 1, "DPQL801")
    assert precious.read_text("utf-8") == "keep"
