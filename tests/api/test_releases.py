"""No verb runs, signs or approves a plan that is not what its spec compiles to."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

import polars as pl
import pytest
from api.office import code_of
from reports.sample_releases import OFFICER, STEWARD, make_outcome, small_plan

import dpql
from dpql.curator import entropy
from dpql.errors import VerifyFault
from dpql.model.plan import Plan
from dpql.model.release import Release

ROWS = pl.DataFrame({"region": ["a"] * 30 + ["b"] * 20})


def _with_part(plan: Plan, **changes: object) -> Plan:
    """Return the plan with something changed in the one part of its one step."""
    (step,) = plan.steps
    (part,) = step.parts
    changed = replace(part, **changes)  # type: ignore[arg-type]
    return replace(plan, steps=(replace(step, parts=(changed,)),))


def _quieter(plan: Plan) -> Plan:
    """Return the plan with the noise of a plan that spends ten times as much."""
    spec = plan.spec
    loud = dpql.plan(
        replace(spec, privacy=replace(spec.privacy, epsilon=10 * spec.privacy.epsilon))
    )
    return _with_part(plan, noise=loud.steps[0].parts[0].noise)


def _narrower(plan: Plan) -> Plan:
    """Return the plan with a unit that may change half as much."""
    (part,) = plan.steps[0].parts
    return _with_part(plan, measure=replace(part.measure, sensitivity=Fraction(1, 2)))


def _cheaper(plan: Plan) -> Plan:
    return replace(plan, spent=plan.spent / 2)


def _unfiltered(plan: Plan) -> Plan:
    """Return the plan with another spec than it was made of."""
    return replace(plan, spec=replace(plan.spec, purpose="Another purpose."))


ALTERED = [_quieter, _narrower, _cheaper, _unfiltered]


@pytest.mark.parametrize("alter", ALTERED)
def test_altered_plan_is_neither_run_nor_signed_nor_approved(
    alter: Callable[[Plan], Plan], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A plan altered in memory is refused before a row is read or a coin drawn."""
    sound = small_plan()
    released = dpql.run(sound, {"rows": ROWS})
    assert dpql.sign(released, STEWARD).digest
    assert dpql.approve(sound, OFFICER)

    def drawn(*_: object, **__: object) -> None:
        raise AssertionError("a coin was drawn")

    monkeypatch.setattr(entropy.SystemBits, "read", drawn)
    plan = alter(sound)
    for attempt in (
        lambda: dpql.run(plan, {"rows": object()}),
        lambda: dpql.sign(replace(released, plan=plan), STEWARD),
        lambda: dpql.approve(plan, OFFICER),
    ):
        assert code_of(attempt) in {"DPQL402", "DPQL403"}


def test_release_is_not_signed_by_nobody() -> None:
    """An envelope without a signature is no report."""
    release = make_outcome(small_plan())
    assert isinstance(release, Release)
    with pytest.raises(VerifyFault) as refusal:
        dpql.sign(release)
    assert refusal.value.diagnostics[0].code == "DPQL615"
