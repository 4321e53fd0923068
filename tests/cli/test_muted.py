"""What an engine writes to the standard error behind everybody's back is not heard."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from cli.released import RUN, project
from cli.started import surroundings

TALKATIVE = """
import os, sys
from dpql.cli.main import main
from dpql.curator.engines import polars

honest = polars.sums

def talkative(*arguments, **named):
    os.write(2, b"a cell that nobody may see")
    return honest(*arguments, **named)

polars.sums = talkative
main(sys.argv[1:])
"""


def test_an_engine_that_talks_is_not_heard(tmp_path: Path) -> None:
    """Its words go nowhere; the command's own come through, before and after."""
    project(tmp_path)
    done = subprocess.run(
        [sys.executable, "-c", TALKATIVE, *RUN, "--yes"],
        cwd=tmp_path,
        env=surroundings(),
        capture_output=True,
        encoding="utf-8",
        timeout=900,
        check=False,
    )
    assert done.returncode == 0
    assert "nobody may see" not in done.stderr + done.stdout
    assert "debit" in done.stderr + done.stdout
    assert "released" in done.stderr + done.stdout
