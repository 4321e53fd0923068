"""The plans of the gallery are fresh, and staleness is noticed."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from dpql.language import load
from dpql.planner.check import main, plan_path, specs_in, stale, write

SPECS = Path(__file__).parents[2] / "specs"


@pytest.mark.golden
def test_the_gallery_is_fresh() -> None:
    """Every spec compiles to exactly the plan beside it, in both forms."""
    specs = specs_in(SPECS)
    assert len(specs) >= 24
    assert stale(specs, load) == ()


@pytest.mark.golden
def test_every_plan_has_its_spec() -> None:
    """No plan is left behind by a spec that is gone."""
    plans = {path.name for path in SPECS.glob("*.plan.json")}
    assert plans == {plan_path(spec).name for spec in specs_in(SPECS)}


@pytest.mark.cli
def test_the_module_answers_with_its_exit_status(tmp_path: Path) -> None:
    """0 when fresh; 1 and the names of the specs when not."""
    command = [sys.executable, "-m", "dpql.planner.check"]
    fresh = subprocess.run([*command, str(SPECS)], capture_output=True, check=False)
    assert (fresh.returncode, fresh.stdout, fresh.stderr) == (0, b"", b"")
    shutil.copy(SPECS / "income.yaml", tmp_path)
    missing = subprocess.run(
        [*command, str(tmp_path)], capture_output=True, check=False, text=True
    )
    assert missing.returncode == 1
    assert "DPQL405 the plan of `income.yaml` is missing" in missing.stderr


def test_a_changed_spec_makes_its_plan_stale(tmp_path: Path) -> None:
    """One more epsilon, and DPQL405 until the plan is written anew."""
    spec = tmp_path / "income.yaml"
    text = (SPECS / "income.yaml").read_text("utf-8")
    spec.write_text(text, "utf-8")
    write([spec], load)
    assert stale([spec], load) == ()
    changed = text.replace("epsilon: 1", "epsilon: 2")
    assert changed != text
    spec.write_text(changed, "utf-8")
    (fault,) = stale([spec], load)
    assert fault.code == "DPQL405"
    assert "stale" in fault.message
    assert main([str(tmp_path), "--write"]) == 0
    assert stale([spec], load) == ()


def test_a_spec_at_fault_is_reported_as_such(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The spec's own faults are shown."""
    (tmp_path / "broken.yaml").write_text("dpql: 1\n", "utf-8")
    assert main([str(tmp_path)]) == 1
    assert "DPQL2" in capsys.readouterr().err
