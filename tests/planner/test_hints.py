"""Whoever follows a hint of the planner gets a plan."""

from __future__ import annotations

import re
from fractions import Fraction

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from spec_text import ID, make_spec

from dpql.errors import PlanFault
from dpql.model.spec import Spec
from dpql.planner import plan

HINTS = {
    "total": re.compile(r"raise the total to (more than )?([0-9 .e-]+)"),
    "epsilon": re.compile(r"spend (less than )?([0-9 .e-]+) on `s(\d+)`"),
    "accuracy": re.compile(r"let `s(\d+)` be within (more than )?± ([0-9 .e-]+)"),
}
LITTLE = Fraction(1, 10**6)


def spec_of(spends: list[str], epsilon: str, mechanism: str) -> Spec:
    """Return a spec of counts with these spendings."""
    statistics = {
        f"s{i}": {"count": "rows", "spend": f"{{{spend}}}"}
        for i, spend in enumerate(spends)
    }
    return make_spec({"p": ID}, statistics, epsilon=epsilon, mechanism=mechanism)


def diagnose(spends: list[str], epsilon: str, mechanism: str) -> str:
    """Return the hint with which a total is called too small, empty if it is not."""
    try:
        plan(spec_of(spends, epsilon, mechanism))
    except PlanFault as fault:
        (diagnostic,) = fault.diagnostics
    else:
        return ""
    assert diagnostic.code == "DPQL430"
    return diagnostic.hint or ""


def amount(text: str, change: Fraction) -> str:
    """Return a number of a hint, moved a little."""
    return str(Fraction(text.replace(" ", "")) * (1 + change))


def follow(hint: str, spends: list[str], epsilon: str, mechanism: str) -> None:
    """Do what each part of the hint says, one after the other."""
    for way in hint.removeprefix("one of: ").split("; "):
        asked, total = list(spends), epsilon
        if found := HINTS["total"].fullmatch(way):
            total = amount(found[2], LITTLE if found[1] else Fraction(0))
        elif found := HINTS["epsilon"].fullmatch(way):
            less = amount(found[2], -LITTLE if found[1] else Fraction(0))
            asked[int(found[3])] = f"epsilon: {less}"
        elif found := HINTS["accuracy"].fullmatch(way):
            wider = amount(found[3], LITTLE if found[2] else Fraction(0))
            asked[int(found[1])] = f"accuracy: {wider}"
        elif found := re.fullmatch(r"drop `s(\d+)`", way):
            del asked[int(found[1])]
        else:
            assert re.fullmatch(r"dropping `s\d+` alone is not enough", way)
            continue
        if asked:
            plan(spec_of(asked, total, mechanism))


SPENDS = st.one_of(
    st.integers(1, 12).map(lambda n: ("epsilon", Fraction(n, 13))),
    st.integers(20, 900).map(lambda n: ("accuracy", Fraction(n, 10))),
)


@pytest.mark.property
@settings(
    max_examples=40,
    deadline=None,
    suppress_health_check=[HealthCheck.filter_too_much, HealthCheck.too_slow],
)
@given(
    spends=st.lists(SPENDS, min_size=2, max_size=5),
    shared=st.booleans(),
    total=st.sampled_from(["1", "2/3", "1/7", "0.5"]),
    mechanism=st.sampled_from(["geometric", "snapping", "auto"]),
)
def test_every_hint_works(
    spends: list[tuple[str, Fraction]], total: str, mechanism: str, *, shared: bool
) -> None:
    """A smaller epsilon, a wider target or a larger total is enough, as hinted.

    No epsilon alone exceeds the total. What fits needs no hint and is passed over.
    """
    asked = [
        f"{kind}: {value * Fraction(total) if kind == 'epsilon' else value}"
        for kind, value in spends
    ]
    asked += ["share: 1"] if shared else []
    hint = diagnose(asked, total, mechanism)
    assume(hint)
    follow(hint, asked, total, mechanism)


@pytest.mark.parametrize(
    ("spends", "total", "mechanism"),
    [
        (["epsilon: 0.6", "epsilon: 0.1"], "2/3", "geometric"),
        (["accuracy: 10", "epsilon: 0.9"], "1", "snapping"),
        (["accuracy: 10", "epsilon: 0.9"], "1", "geometric"),
        (["accuracy: 30", "epsilon: 0.95", "share: 1"], "1", "snapping"),
    ],
)
def test_hints_that_once_failed_work(
    spends: list[str], total: str, mechanism: str
) -> None:
    """Rounding to nearest, and the better form of an accuracy, had misled."""
    hint = diagnose(spends, total, mechanism)
    assert hint
    follow(hint, spends, total, mechanism)


def test_auto_takes_the_mechanism_that_can_reach_the_target() -> None:
    """That the other one cannot is no reason to refuse."""
    target = ["accuracy: 0.003"]
    (step,) = plan(spec_of(target, "1000", "auto")).steps
    assert step.mechanism == "geometric"
    with pytest.raises(PlanFault, match="DPQL412"):
        plan(spec_of(target, "1000", "snapping"))


def test_auto_is_refused_when_no_mechanism_can() -> None:
    """A target as wide as the range is as wide for every noise."""
    with pytest.raises(PlanFault, match="DPQL411"):
        plan(spec_of(["accuracy: 1000"], "1", "auto"))
