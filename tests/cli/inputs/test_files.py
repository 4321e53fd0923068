"""Specs are found, and what cannot be read is named."""

from __future__ import annotations

from pathlib import Path

import pytest
from cli.started import WAGES, refused
from cli.unprivileged import unprivileged

pytestmark = pytest.mark.cli


def test_a_folder_without_permission_is_named(tmp_path: Path) -> None:
    """Nothing is written in part."""
    tmp_path.chmod(0o500)
    run = unprivileged("plan", WAGES, "--out", tmp_path / "p.json", folder=WAGES.parent)
    refused(run, 1, "DPQL801", "permission denied", "p.json")
    tmp_path.chmod(0o700)
    assert list(tmp_path.iterdir()) == []


def test_a_spec_without_permission_is_named(tmp_path: Path) -> None:
    """A file that may not be read is no spec."""
    spec = tmp_path / "secret.yaml"
    spec.write_bytes(WAGES.read_bytes())
    spec.chmod(0)
    for command in ("check", "plan", "fmt", "show"):
        run = unprivileged(command, spec, folder=tmp_path)
        refused(run, 1, "DPQL803", "secret.yaml", "permission denied")


def test_a_folder_of_other_things_is_not_searched_in_vain(tmp_path: Path) -> None:
    """A file that cannot be read is named, with the way around it."""
    locked = tmp_path / "other" / "secret.yaml"
    locked.parent.mkdir()
    locked.write_text("a: b\n", "utf-8")
    locked.chmod(0)
    run = unprivileged("check", ".", folder=tmp_path)
    refused(run, 1, "DPQL803", "other/secret.yaml", "name the folder of your specs")
