"""Settings of a what-if are exact and of a known name."""

from __future__ import annotations

import pytest
from cli.started import WAGES, dpql, refused

pytestmark = pytest.mark.cli


@pytest.mark.parametrize(
    "setting",
    ["epsilon", "epsilon=0", "epsilon=1e9", "epsilon=x", "delta=1", "alpha=-1"],
)
def test_wrong_settings_are_wrong_usage(setting: str) -> None:
    """A setting that means nothing is refused with what would."""
    refused(dpql("plan", WAGES, "--set", setting), 2, "--set")
