"""`dpql schema` prints what is checked in."""

from __future__ import annotations

import pytest
from cli.started import ROOT, dpql, fine

pytestmark = pytest.mark.cli


@pytest.mark.parametrize("kind", ["spec", "plan", "report"])
def test_schemas_are_those_checked_in(kind: str) -> None:
    """The schema printed is the newest file under schemas/."""
    path = max((ROOT / "schemas").glob(f"{kind}.v*.schema.json"))
    assert path.read_text("utf-8") == fine(dpql("schema", kind))
