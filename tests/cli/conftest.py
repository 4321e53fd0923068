"""Projects at every stage of their life, and a repository."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from cli.released import RUN, project
from cli.started import WAGES, dpql


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Give a project before its run."""
    return project(tmp_path / "project")


@pytest.fixture
def owner(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give a project whose plan was run once, and a user with a memory of their own."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    folder = project(tmp_path / "project", cap=6)
    run = dpql(*RUN, "--yes", folder=folder)
    assert run.returncode == 0, run.stderr
    return folder


@pytest.fixture(scope="module")
def released(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give a project whose plan was run once, to all tests of a module."""
    folder = project(tmp_path_factory.mktemp("released") / "project")
    run = dpql(*RUN, "--yes", "--format", "json", folder=folder)
    assert run.returncode == 0, run.stderr
    (folder / "run.json").write_text(run.stdout, "utf-8")
    return folder


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """Give a repository with one spec, changed since."""
    text = WAGES.read_text("utf-8")
    git(tmp_path, "init", "-q", "-b", "main")
    (tmp_path / "wages.yaml").write_text(text, "utf-8")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-q", "-m", "spec")
    changed = text.replace("epsilon: 1.0", "epsilon: 2.0")
    (tmp_path / "wages.yaml").write_text(changed, "utf-8")
    return tmp_path


def git(folder: Path, *arguments: str) -> None:
    """Run git as somebody."""
    settings = ["-c", "user.name=a", "-c", "user.email=a@example.org"]
    subprocess.run(
        ["git", *settings, *arguments], cwd=folder, check=True, capture_output=True
    )
