"""Specs as they were at a commit, read through git."""

from __future__ import annotations

import subprocess
from pathlib import Path

from dpql.cli.statuses import CommandFault
from dpql.diagnostics import shown


def text_at(reference: str, path: Path) -> str | None:
    """Return the text that a file had at a commit, None if it was not there.

    Raises:
        CommandFault: git is missing, or knows neither folder nor commit (DPQL802).
    """
    folder = path.parent.resolve()
    # A reference that starts with a dash would be taken for an option.
    if reference.startswith("-") or not reference:
        raise _fault(f"`{shown(reference)}` is no reference")
    commit = _git(folder, "rev-parse", "--verify", "--quiet", f"{reference}^{{commit}}")
    if commit.returncode:
        raise _fault(f"git knows no `{shown(reference)}` here")
    name = commit.stdout.decode().strip()
    found = _git(folder, "show", f"{name}:./{path.name}")
    if found.returncode:
        return None
    try:
        return found.stdout.decode("utf-8")
    except UnicodeDecodeError:
        raise _fault(
            f"`{shown(str(path), limit=400)}` was not UTF-8 text then"
        ) from None


def _git(folder: Path, *arguments: str) -> subprocess.CompletedProcess[bytes]:
    try:
        return subprocess.run(  # noqa: S603  fixed words, no shell
            ["git", "-C", str(folder), *arguments],  # noqa: S607  the git people use
            capture_output=True,
            check=False,
            stdin=subprocess.DEVNULL,
        )
    except OSError:
        raise _fault("git cannot be started") from None


def _fault(reason: str) -> CommandFault:
    return CommandFault.of(
        "DPQL802",
        f"the old spec cannot be had: {reason}",
        hint="run inside the repository and name a branch, tag or commit; "
        "in CI, fetch the base branch first",
    )
