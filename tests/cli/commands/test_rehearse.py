"""`dpql rehearse`: invented rows, the same for a seed."""

from __future__ import annotations

import json

import pytest
from cli.started import WAGES, dpql

pytestmark = pytest.mark.cli


def test_a_rehearsal_is_the_same_for_a_seed() -> None:
    """Nothing is read; the word is on stderr and in the text."""
    first = dpql("rehearse", WAGES, "--seed", "a", "--format", "csv")
    again = dpql("rehearse", WAGES, "--seed", "a", "--format", "csv")
    other = dpql("rehearse", WAGES, "--seed", "b", "--format", "csv")
    assert first.returncode == 0
    assert "REHEARSAL" in first.stderr
    assert first.stdout == again.stdout != other.stdout
    document = json.loads(dpql("rehearse", WAGES, "--format", "json").stdout)
    assert ("rehearsal", 14) == (document["kind"], len(document["values"]))
    assert dpql("rehearse", WAGES).stdout.startswith("rehearsal ")
