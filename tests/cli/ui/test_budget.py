"""What the ledger would hold stands beside plans and differences."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from cli.started import dpql, fine, refused

pytestmark = pytest.mark.cli


def test_a_plan_is_held_against_the_budget(released: Path, tmp_path: Path) -> None:
    """The ledger of the folder, or one that is named, says what would be left."""
    dearer = released / "dearer.yaml"
    text = (released / "wages.yaml").read_text("utf-8")
    dearer.write_text(text.replace("epsilon: 1.0", "epsilon: 1.25"), "utf-8")
    shown = fine(dpql("plan", "dearer.yaml", folder=released))
    assert "ledger     wages   spent 1 → 9/4 of 2   does not fit" in shown
    shown = fine(dpql("plan", "wages.yaml", folder=released))
    assert "wages   spent 1 of 2   █████░░░░░   released already" in shown
    named = ("--ledger", released / "ledger.sqlite")
    shown = fine(dpql("plan", dearer, *named, folder=tmp_path))
    assert "spent 1 → 9/4 of 2" in shown
    assert "ledger  " not in fine(dpql("plan", dearer, folder=tmp_path))
    unknown = ("plan", "wages.yaml", "--dataset", "other")
    assert "ledger  " not in fine(dpql(*unknown, folder=released))
    refused(dpql(*unknown, *named, folder=released), 3, "DPQL701")


def test_a_change_is_held_against_the_budget(released: Path) -> None:
    """What the ledger would hold after either spec stands beside the budget."""
    text = (released / "wages.yaml").read_text("utf-8")
    for name, epsilon in (("small", "0.5"), ("large", "0.75"), ("huge", "1.5")):
        changed = text.replace("epsilon: 1.0", f"epsilon: {epsilon}")
        (released / f"{name}.yaml").write_text(changed, "utf-8")
    shown = fine(dpql("diff", "small.yaml", "large.yaml", folder=released))
    assert "e^ε 1.65 → 2.12   ledger after: 3/2 → 7/4 of 2\n" in shown
    shown = fine(dpql("diff", "wages.yaml", "huge.yaml", folder=released))
    assert "ledger after: 1 → 5/2 of 2, does not fit\n" in shown
    shown = fine(dpql("diff", "small.yaml", "small.yaml", folder=released))
    assert "   ledger     after: 3/2 of 2\n" in shown
    asked = ("diff", "small.yaml", "large.yaml", "--format", "json")
    (document,) = json.loads(fine(dpql(*asked, folder=released)))
    assert ("1", "7/4", "2", True) == tuple(
        document["ledger"][key] for key in ("before", "after", "cap", "fits")
    )
