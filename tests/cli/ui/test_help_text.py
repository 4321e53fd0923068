"""Every command has help with examples."""

from __future__ import annotations

import pytest
from cli.started import dpql, fine

from dpql.cli.main import COMMANDS

pytestmark = pytest.mark.cli


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help_with_examples(name: str) -> None:
    """The line in the overview fits, and the help ends with commands to try."""
    text = fine(dpql(name, "--help"))
    assert "Examples:" in text
    assert f"dpql {name}" in text
