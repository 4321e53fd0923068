"""Specs of a commit are read through git."""

from __future__ import annotations

from pathlib import Path

import pytest
from cli.started import WAGES, dpql, refused

pytestmark = pytest.mark.cli


def test_git_that_cannot_help_is_named(repository: Path) -> None:
    """An unknown reference, an option in its place, no repository."""
    for reference in ("nowhere", "--help", ""):
        run = dpql("diff", f"--base={reference}", "wages.yaml", folder=repository)
        refused(run, 1, "DPQL802")
    outside = Path("/")
    refused(
        dpql("diff", "--base", "main", WAGES, folder=outside, PATH=""), 1, "DPQL802"
    )
