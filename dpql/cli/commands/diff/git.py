"""Specs as they were at a commit, read through git."""

from __future__ import annotations

import errno
import os
import subprocess
from collections.abc import Callable
from pathlib import Path

from dpql.cli.inputs import files
from dpql.cli.ui.exit_codes import CommandFault
from dpql.diagnostics import shown


def text_at(reference: str, path: Path) -> str | None:
    """Return the text that a file had at a commit, None if it was not there.

    Raises:
        CommandFault: git is missing, or has no such folder or commit (DPQL802).
    """
    folder = path.parent.resolve()
    found = _git(folder, "show", f"{_commit(folder, reference)}:./{path.name}")
    return None if found.returncode else _decoded(found.stdout, path)


def beside_at(reference: str, folder: Path) -> Callable[[str], bytes]:
    """Return what reads the files below a folder as they were at a commit.

    It raises OSError where there was none.
    """

    def read(name: str) -> bytes:
        blob = f"{_commit(folder, reference)}:./{name}"
        found = _git(folder, "cat-file", "blob", blob)
        if found.returncode:
            raise FileNotFoundError(errno.ENOENT, "no such file at that commit")
        return found.stdout

    return read


def deleted_specs(reference: str, folder: Path) -> dict[Path, str]:
    """Return the texts of the specs in a folder that have been deleted since a commit.

    Raises:
        CommandFault: git is missing, or has no such folder or commit (DPQL802).
    """
    there = folder.resolve()
    listing = _git(there, "ls-tree", "-r", "-z", _commit(there, reference))
    if listing.returncode:
        raise _fault(f"git cannot list `{shown(str(folder), limit=400)}`")
    lost: dict[Path, str] = {}
    for entry in filter(None, listing.stdout.split(b"\0")):
        about, _, name = entry.partition(b"\t")
        path = folder / os.fsdecode(name)
        _, kind, blob = about.decode("ascii").split()
        if kind != "blob" or not files.may_be_spec(path) or files.is_spec(path):
            continue
        content = _git(there, "cat-file", "blob", blob).stdout
        if files.reads_as_spec(path, content):
            lost[path] = _decoded(content, path)
    return lost


def _commit(folder: Path, reference: str) -> str:
    # A reference that starts with a dash would be taken for an option.
    if reference.startswith("-") or not reference:
        raise _fault(f"`{shown(reference)}` is not a branch, tag or commit")
    commit = _git(folder, "rev-parse", "--verify", "--quiet", f"{reference}^{{commit}}")
    if commit.returncode:
        raise _fault(f"git has no branch, tag or commit `{shown(reference)}`")
    return commit.stdout.decode().strip()


def _decoded(content: bytes, path: Path) -> str:
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError:
        raise _fault(
            f"`{shown(str(path), limit=400)}` was not UTF-8 text at that commit"
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
        f"cannot read the old spec: {reason}",
        hint="run inside the repository and name a branch, tag or commit; "
        "in CI, fetch the base branch first",
    )
