"""`dpql completion`: scripts that shells understand."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from cli.started import ROOT, dpql, fine, surroundings

pytestmark = pytest.mark.cli


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_scripts_are_printed(shell: str) -> None:
    """Each script asks dpql itself for the words."""
    assert "_DPQL_COMPLETE" in fine(dpql("completion", shell))


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("pl",), {"plan"}),
        (("ledger", "r"), {"raise-cap", "recover"}),
        (("check", "--format", "s"), {"sarif"}),
        (("plan", "--ht"), {"--html"}),
        (("completion", ""), {"bash", "zsh", "fish"}),
    ],
    ids=range(5),
)
def test_completion_works_in_bash(
    tmp_path: Path, words: tuple[str, ...], expected: set[str]
) -> None:
    """The script is sourced, and completes commands, options and values."""
    script = tmp_path / "dpql.bash"
    script.write_text(fine(dpql("completion", "bash")), "utf-8")
    program = tmp_path / "dpql"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m dpql "$@"\n', "utf-8")
    program.chmod(0o755)
    typed = " ".join(f"'{word}'" for word in ("dpql", *words))
    line = (
        f'source "$0"; COMP_WORDS=({typed}); COMP_CWORD={len(words)}; '
        "complete -p dpql > /dev/null && _dpql_completion dpql && "
        'printf "%s\\n" "${COMPREPLY[@]}"'
    )
    run = subprocess.run(
        ["bash", "-c", line, script],
        cwd=ROOT,
        env={**surroundings(), "PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}"},
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert (0, "") == (run.returncode, run.stderr)
    assert expected == set(run.stdout.split())
