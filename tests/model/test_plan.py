"""Plans as bytes: canonical, strict, bound to their digest."""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
from pathlib import Path

import pytest

from dpql.errors import PlanFault
from dpql.language import load
from dpql.model.plan import spec_digest
from dpql.planner import plan, read

SPECS = Path(__file__).parents[2] / "specs"
PLANS = sorted(SPECS.glob("*.plan.json"))
SMALL = SPECS / "smallest_mean.plan.json"


@pytest.mark.golden
@pytest.mark.parametrize("path", PLANS, ids=lambda path: path.stem)
def test_the_digest_is_that_of_the_file(path: Path) -> None:
    """sha256sum of a plan's file is the plan's digest."""
    data = path.read_bytes()
    assert hashlib.sha256(data).hexdigest() == read(data).digest


@pytest.mark.golden
@pytest.mark.skipif(shutil.which("jq") is None, reason="jq is not installed")
@pytest.mark.parametrize("path", PLANS, ids=lambda path: path.stem)
def test_the_canonical_form_is_that_of_jq(path: Path) -> None:
    """An outsider gets the same bytes from any layout with `jq -S .`."""
    loose = json.dumps(json.loads(path.read_bytes()), indent=None)
    found = subprocess.run(
        ["jq", "-S", "."], input=loose.encode(), capture_output=True, check=True
    )
    assert path.read_bytes() == found.stdout


def test_every_exact_number_is_text() -> None:
    """No JSON number occurs in a plan, so no reader can round one."""
    for path in PLANS:
        numbers: list[str] = []
        json.loads(
            path.read_bytes(), parse_int=numbers.append, parse_float=numbers.append
        )
        assert numbers == []


def test_the_spec_inside_is_the_spec() -> None:
    """A plan carries what its spec means, and its digest."""
    spec = load(SPECS / "smallest_mean.yaml")
    made = read(SMALL.read_bytes())
    assert made.spec == spec
    assert made.spec_digest == spec_digest(spec)
    assert made.step("mean_age").name == "mean_age"
    with pytest.raises(PlanFault, match="DPQL406 the plan has no statistic `nope`"):
        made.step("nope")


def test_a_plan_of_a_planned_spec_is_frozen() -> None:
    """Plans are values: hashable, equal by content, not assignable."""
    spec = load(SPECS / "income.yaml")
    one, other = plan(spec), plan(spec)
    assert one == other
    assert len({one, other}) == 1
    with pytest.raises(AttributeError):
        one.epsilon = one.delta  # type: ignore[misc]
