"""The overview, and the way out of a bug."""

from __future__ import annotations

import subprocess
import sys

import pytest
from cli.started import ROOT, dpql, fine, surroundings

from dpql.cli.main import COMMANDS, LazyGroup
from dpql.cli.main import dpql as group

pytestmark = pytest.mark.cli


def test_overview_is_in_the_order_of_the_story() -> None:
    """Help lists the table of commands; each loads the module of its name."""
    text = fine(dpql("--help"))
    positions = [text.index(f"\n  {name} ") for name in COMMANDS]
    assert positions == sorted(positions)
    assert isinstance(group, LazyGroup)
    assert fine(dpql("--version")) == "dpql 0.5.0\n"


def test_a_bug_is_owned_up_to() -> None:
    """An unexpected exception is 70, with a hint; details only when asked for."""
    program = (
        "import sys\n"
        "from dpql.cli import main\n"
        "import dpql.cli.commands.explain.pages as manual\n"
        "def page(*_): raise ZeroDivisionError('secret')\n"
        "manual.page = page\n"
        "main.main(['explain', 'epsilon'])\n"
    )
    for debug in (False, True):
        run = subprocess.run(
            [sys.executable, "-c", program],
            cwd=ROOT,
            env=surroundings(**({"DPQL_DEBUG": "1"} if debug else {})),
            capture_output=True,
            encoding="utf-8",
            check=False,
        )
        if debug:
            assert "Traceback" in run.stderr
        else:
            assert run.returncode == 70
            assert "this is a bug in dpql" in run.stderr
            assert "Traceback" not in run.stderr
            assert "secret" not in run.stderr
