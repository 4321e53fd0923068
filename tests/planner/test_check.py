"""The plans of the gallery are fresh, and staleness is noticed."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from dpql.language import load
from dpql.planner import plan
from dpql.planner.check import plan_path, stale

SPECS = Path(__file__).parents[2] / "specs"


def gallery() -> list[Path]:
    """Return the specs of the gallery, in both forms."""
    return sorted([*SPECS.glob("*.yaml"), *SPECS.glob("*.dpql")])


@pytest.mark.heavy
@pytest.mark.golden
def test_the_gallery_is_fresh() -> None:
    """Every spec compiles to exactly the plan beside it, in both forms."""
    specs = gallery()
    assert len(specs) >= 24
    assert stale(specs, load) == ()


@pytest.mark.golden
def test_every_plan_has_its_spec() -> None:
    """No plan is left behind by a spec that is gone."""
    plans = {path.name for path in SPECS.glob("*.plan.json")}
    assert plans == {plan_path(spec).name for spec in gallery()}


def test_a_changed_spec_makes_its_plan_stale(tmp_path: Path) -> None:
    """One more epsilon, and DPQL405 until the plan is written anew."""
    spec = tmp_path / "income.yaml"
    text = (SPECS / "income.yaml").read_text("utf-8")
    spec.write_text(text, "utf-8")
    plan_path(spec).write_bytes(plan(load(spec)).to_json())
    assert stale([spec], load) == ()
    changed = text.replace("epsilon: 1", "epsilon: 2")
    assert changed != text
    spec.write_text(changed, "utf-8")
    (fault,) = stale([spec], load)
    assert fault.code == "DPQL405"
    assert "stale" in fault.message
    plan_path(spec).write_bytes(plan(load(spec)).to_json())
    assert stale([spec], load) == ()


def test_a_plan_that_is_not_there_is_missing(tmp_path: Path) -> None:
    """The fault names the spec, and says so."""
    shutil.copy(SPECS / "income.yaml", tmp_path)
    (fault,) = stale([tmp_path / "income.yaml"], load)
    assert "DPQL405" == fault.code
    assert "the plan of `income.yaml` is missing" == fault.message


def test_a_spec_at_fault_is_reported_as_such(tmp_path: Path) -> None:
    """The spec's own faults are shown."""
    broken = tmp_path / "broken.yaml"
    broken.write_text("dpql: 1\n", "utf-8")
    faults = stale([broken], load)
    assert faults
    assert all(fault.code.startswith("DPQL2") for fault in faults)
