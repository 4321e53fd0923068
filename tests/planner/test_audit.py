"""The audit: planted faults are found, wherever they are."""

from __future__ import annotations

import copy as copying
import json
import pickle
from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from importlib import import_module
from typing import Any

import pytest
from spec_text import ID, integer, make_spec

from dpql.errors import PlanFault
from dpql.model.codec import canonical, decode, encode
from dpql.model.plan import Plan, spec_digest
from dpql.model.spec import AccuracyTarget, Spec
from dpql.planner import audit, compiler, plan, read
from dpql.planner.audit import audit_loss
from dpql.planner.compiler import PASSES
from dpql.planner.rules import Rules

COLUMNS = {
    "p": ID,
    "x": integer(0, 100),
    "y": "{type: float, bounds: [0, 1], nulls: {as: 0.5}}",
    "g": "{type: category, keys: [a, b]}",
}


@pytest.fixture(scope="module")
def made() -> Plan:
    """Return a plan with every kind of member."""
    spec = make_spec(
        COLUMNS,
        {
            "rows": {"count": "rows", "by": "[g]", "spend": "{accuracy: 60}"},
            "level": {
                "mean": "x",
                "where": "'x > 3 and not (g == \"a\" or x between 7 and 9)'",
                "at_least": "50",
                "mechanism": "snapping",
                "spend": "{share: 2}",
            },
            "spread": {"variance": "y", "mechanism": "auto", "spend": "{epsilon: 0.2}"},
            "bins": {"histogram": "x", "bins": "[0, 50, 100]", "spend": "{share: 1}"},
        },
        unit="p",
        contributes="{rows: 2, groups: 3}",
    )
    return plan(spec)


def codes(data: bytes) -> list[str]:
    """Return the codes with which a plan is refused, none when it is read."""
    try:
        read(data)
    except PlanFault as fault:
        return [diagnostic.code for diagnostic in fault.diagnostics]
    return []


def altered(document: Any) -> Iterator[tuple[str, Any]]:
    """Yield the document with one leaf changed, for every leaf, with its path."""
    for path, value in leaves(document, ()):
        for other in others(value):
            copy = json.loads(json.dumps(document))
            node = copy
            for key in path[:-1]:
                node = node[key]
            node[path[-1]] = other
            yield ".".join(map(str, path)), copy


def leaves(
    document: Any, path: tuple[Any, ...]
) -> Iterator[tuple[tuple[Any, ...], Any]]:
    """Yield the path and value of every leaf and of every empty array."""
    if isinstance(document, dict | list) and document:
        items = document.items() if isinstance(document, dict) else enumerate(document)
        for key, value in items:
            yield from leaves(value, (*path, key))
    else:
        yield path, document


def others(value: Any) -> list[Any]:
    """Return other values of a leaf that are well-formed."""
    if value is None:
        return ["1"]
    if isinstance(value, list):
        return [["1"]]
    try:
        number = Fraction(value)
    except ValueError:
        return [f"{value}x", "geometric" if value == "snapping" else "snapping"]
    changed = {number + 1, number / 2} - {number}
    return sorted(map(str, changed))


def test_a_plan_survives_the_journey(made: Plan) -> None:
    """Bytes and back give an equal plan and the same digest."""
    again = read(made.to_json())
    assert again == made
    assert again.digest == made.digest
    assert hash(again) == hash(made)


@pytest.mark.heavy
def test_every_single_altered_member_is_refused(made: Plan) -> None:
    """No leaf of a plan can be changed alone."""
    document = encode(Plan, made)
    tried = 0
    for path, copy in altered(document):
        assert codes(canonical(copy)), path
        tried += 1
    assert tried > 500


def test_the_refusal_names_the_member(made: Plan) -> None:
    """The path of the first difference, down to the leaf."""
    step = replace(made.steps[1], quantisation=Fraction(1))
    forged = replace(made, steps=(made.steps[0], step, *made.steps[2:]))
    with pytest.raises(PlanFault, match=r"`plan\.steps\[1\]\.quantisation`"):
        audit(forged)


@pytest.mark.heavy
def test_a_resealed_spec_must_still_give_the_steps(made: Plan) -> None:
    """Changing the spec and its digest together is found, or changes wording only."""
    document = encode(Plan, made)
    cosmetic = set()
    for path, copy in altered(document):
        if not path.startswith("spec."):
            continue
        try:
            spec = decode(Spec, copy["spec"])
        except ValueError:
            continue
        copy["spec_digest"] = spec_digest(spec)
        if not codes(canonical(copy)):
            cosmetic.add(path)
    moved = {path for path in cosmetic if path.rpartition(".")[2] not in DESCRIPTIVE}
    # A key is the public name of a group; more groups a unit than there are cells
    # change nothing. Each is another plan with another digest.
    assert {path for path in moved if ".keys." not in path} <= {
        "spec.privacy.contributes.groups"
    }


DESCRIPTIVE = {"release", "purpose", "signer", "source", "unit", "value"}


@pytest.mark.parametrize("where", ["noise", "loss", "l0", "total"])
def test_a_planted_overspend_is_caught(made: Plan, where: str) -> None:
    """Smaller noise, a smaller stated loss, a smaller l0, a smaller total."""
    step = made.steps[0]
    (part,) = step.parts
    if where == "noise":
        parameters = dict(part.noise.parameters)
        for name in ("epsilon", "theta"):
            parameters[name] = str(2 * Fraction(parameters[name]))
        noise = replace(part.noise, parameters=tuple(sorted(parameters.items())))
        loss = 2 * part.loss
        part = replace(part, noise=noise, loss=loss)
        step = replace(step, parts=(part,), loss=loss)
    elif where == "loss":
        step = replace(step, loss=step.loss / 2)
    elif where == "l0":
        measure = replace(part.measure, l0=1)
        step = replace(step, parts=(replace(part, measure=measure),))
    forged = replace(made, steps=(step, *made.steps[1:]))
    if where == "total":
        forged = replace(forged, epsilon=made.epsilon / 2)
    with pytest.raises(PlanFault, match=r"DPQL40[23]"):
        audit_loss(forged)
    with pytest.raises(PlanFault, match=r"DPQL40[23]"):
        audit(forged)


def test_an_overspend_by_a_consistent_lie_is_caught(made: Plan) -> None:
    """DPQL403: the parts add up, but to more than the budget."""
    spec = replace(
        made.spec, privacy=replace(made.spec.privacy, epsilon=Fraction(1, 2))
    )
    forged = replace(
        made, spec=spec, epsilon=Fraction(1, 2), spec_digest=spec_digest(spec)
    )
    with pytest.raises(PlanFault, match="DPQL403"):
        audit_loss(forged)


def test_noise_of_another_sensitivity_is_caught(made: Plan) -> None:
    """A noise that hides less than the measure moves is refused."""
    step = made.steps[0]
    (part,) = step.parts
    measure = replace(part.measure, sensitivity=part.measure.sensitivity + 1)
    forged = replace(step, parts=(replace(part, measure=measure),))
    with pytest.raises(PlanFault, match="DPQL402"):
        audit_loss(replace(made, steps=(forged, *made.steps[1:])))


def test_an_unknown_mechanism_is_refused(made: Plan) -> None:
    """No name in a plan is looked up anywhere but in the table."""
    step = made.steps[0]
    noise = replace(step.parts[0].noise, mechanism="os.system")
    forged = replace(step, parts=(replace(step.parts[0], noise=noise),))
    with pytest.raises(PlanFault, match="DPQL402"):
        audit(replace(made, steps=(forged, *made.steps[1:])))


def test_a_spec_that_cannot_be_planned_is_no_plan(made: Plan) -> None:
    """DPQL402, not the planner's own refusal, when the spec inside asks too much."""
    statistic = replace(
        made.spec.statistics[0], spend=AccuracyTarget(within=Fraction(10**9))
    )
    spec = replace(made.spec, statistics=(statistic, *made.spec.statistics[1:]))
    forged = replace(made, spec=spec, spec_digest=spec_digest(spec))
    with pytest.raises(PlanFault, match=r"DPQL402.*cannot be planned"):
        audit(forged)


def test_a_plan_with_a_step_too_few_is_refused(made: Plan) -> None:
    """A plan that leaves out a statistic of its spec is another plan."""
    nothing = Fraction(0)
    steps = made.steps[:-1]
    forged = replace(
        made,
        steps=steps,
        spent=sum((step.epsilon for step in steps), nothing),
        loss=sum((step.loss for step in steps), nothing),
    )
    with pytest.raises(PlanFault, match="DPQL402"):
        audit(forged)


def test_the_loss_is_recomputed(made: Plan) -> None:
    """The audited loss is the stated one and within the total."""
    assert audit_loss(made) == made.loss
    assert made.loss <= made.spent <= made.epsilon


def test_the_passes_are_a_literal_tuple() -> None:
    """The order of the compiler is what the design says."""
    assert [compile_pass.__name__ for compile_pass in PASSES] == [
        "bind_columns",
        "bound_contributions",
        "describe_queries",
        "price_accuracy",
        "split_shares",
        "settle_mechanisms",
        "calibrate_noise",
        "state_accuracy",
        "agree_totals",
    ]


def test_the_parts_may_not_share_out_more_than_the_step_has(made: Plan) -> None:
    """Each part within its own epsilon is not enough."""
    index = next(i for i, step in enumerate(made.steps) if len(step.parts) > 1)
    step = made.steps[index]
    first, *rest = step.parts
    greedy = replace(first, epsilon=first.epsilon * 2)
    steps = list(made.steps)
    steps[index] = replace(step, parts=(greedy, *rest))
    with pytest.raises(PlanFault, match=r"DPQL402.*the parts' epsilons"):
        audit_loss(replace(made, steps=tuple(steps)))


def test_every_budget_is_asked_for(made: Plan, monkeypatch: pytest.MonkeyPatch) -> None:
    """Parts, steps, the sum of epsilons and the sum of losses are each compared."""
    module = import_module("dpql.planner.audit")
    afforded: list[tuple[Fraction, Fraction, str]] = []
    agreed: list[str] = []
    monkeypatch.setattr(module, "_afford", lambda *facts: afforded.append(facts))
    monkeypatch.setattr(module, "_agree", lambda _, what: agreed.append(what))
    audit_loss(made)
    expected = []
    for step in made.steps:
        name = f"`{step.name}`"
        for part in step.parts:
            whole = f"{name}, part `{part.measure.name}`"
            expected.append((part.loss, part.epsilon, whole))
        expected.append((step.loss, step.epsilon, name))
    expected.append((made.spent, made.epsilon, "the plan"))
    expected.append((made.loss, made.epsilon, "the plan"))
    assert afforded == expected
    assert {"the total loss", "the sum of the steps' epsilons", "the budget"} < set(
        agreed
    )


def test_another_budget_than_the_spec_says_is_refused(made: Plan) -> None:
    """The plan's own total is the spec's."""
    with pytest.raises(PlanFault, match=r"DPQL402.*the budget"):
        audit_loss(replace(made, epsilon=made.epsilon * 2))


@pytest.fixture
def compilations(monkeypatch: pytest.MonkeyPatch) -> list[Spec]:
    """Collect the specs that are compiled while a test runs."""
    specs: list[Spec] = []
    inner = compiler.compiled

    def counted(spec: Spec, rules: Rules) -> Plan:
        specs.append(spec)
        return inner(spec, rules)

    monkeypatch.setattr(compiler, "compiled", counted)
    return specs


def test_a_plan_is_compiled_once(made: Plan, compilations: list[Spec]) -> None:
    """Made or read here, it is not derived again by any audit that follows."""
    audit(plan(made.spec))
    audit(read(made.to_json()))
    assert [made.spec] * 2 == compilations


@pytest.mark.parametrize(
    "copied",
    [replace, copying.copy, lambda made: pickle.loads(pickle.dumps(made))],  # noqa: S301  our own bytes
    ids=["replace", "copy", "pickle"],
)
def test_a_copy_is_audited_again(
    copied: Callable[[Plan], Plan], made: Plan, compilations: list[Spec]
) -> None:
    """Only the very value that was audited is trusted."""
    other = copied(made)
    assert (True, False) == (made.audited, other.audited)
    audit(other)
    assert [made.spec] == compilations


def test_an_altered_copy_is_refused(made: Plan) -> None:
    """What was audited says nothing about what is changed afterwards."""
    with pytest.raises(PlanFault, match="DPQL402"):
        audit(replace(made, loss=made.loss / 2))


def test_a_plan_of_an_unsound_spec_is_not_trusted(made: Plan) -> None:
    """`plan` makes it, since nobody has read it from a text; `audit` refuses it."""
    unsound = plan(replace(made.spec, purpose="\x00"))
    assert unsound.audited is False
    with pytest.raises(PlanFault, match="DPQL402"):
        audit(unsound)
