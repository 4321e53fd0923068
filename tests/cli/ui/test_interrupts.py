"""Exit codes of interrupted commands, and a second Ctrl-C."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from dpql.cli.ui import interrupts

CAUGHT = """\
import sys
from dpql.cli.ui import interrupts
try:
    exec("raise KeyboardInterrupt")
except KeyboardInterrupt:
    pass
if len(sys.argv) > 1:
    interrupts.forget()
sys.exit(130)
"""


def ended(folder: Path, program: str, *arguments: str) -> tuple[int, str]:
    """Run a module as `python -m` does, and return its exit code and stderr.

    With `python -c` the program itself is a text, and Python forgets at once.
    """
    (folder / "interrupted.py").write_text(program, "utf-8")
    run = subprocess.run(
        [sys.executable, "-m", "interrupted", *arguments],
        cwd=folder,
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    return run.returncode, run.stderr


@pytest.mark.parametrize(
    ("arguments", "expected"), [((), -signal.SIGINT), (("forget",), 130)]
)
def test_a_caught_interrupt_is_forgotten(
    tmp_path: Path, arguments: tuple[str, ...], expected: int
) -> None:
    """An interrupt that left a text of `exec` ends the process unless forgotten."""
    assert (expected, "") == ended(tmp_path, CAUGHT, *arguments)


def test_a_second_interrupt_is_ignored_for_a_while() -> None:
    """Ctrl-C changes nothing inside, and is an interrupt again behind it."""
    with interrupts.ignored():
        signal.raise_signal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt):
        signal.raise_signal(signal.SIGINT)


def test_an_interrupt_during_an_import_ends_with_130(tmp_path: Path) -> None:
    """The command says that it was interrupted, and its exit code says so too."""
    program = (
        "from dpql.cli import main\n"
        "import dpql.cli.commands.explain.pages as manual\n"
        "def page(*_): exec('raise KeyboardInterrupt')\n"
        "manual.page = page\n"
        "main.main(['explain', 'epsilon'])\n"
    )
    status, text = ended(tmp_path, program)
    assert (130, True) == (status, "DPQL807 interrupted" in text)
