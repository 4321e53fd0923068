"""Shares: exact, in proportion, never above the total; and what if too little."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from spec_text import ID, make_spec, number

from dpql.errors import PlanFault
from dpql.model.spec import Spec
from dpql.planner import plan, read

DECIMALS = st.integers(1, 10**6).map(lambda n: Fraction(n, 1000))


def spec_of(spends: list[str], epsilon: str = "1") -> Spec:
    """Return a spec of counts with these spendings."""
    statistics = {
        f"s{i}": {"count": "rows", "spend": f"{{{spend}}}"}
        for i, spend in enumerate(spends)
    }
    return make_spec({"p": ID}, statistics, epsilon=epsilon)


def refusal(spec: Spec) -> tuple[str, str]:
    """Return message and hint of the only refusal."""
    with pytest.raises(PlanFault) as caught:
        plan(spec)
    (diagnostic,) = caught.value.diagnostics
    assert diagnostic.code == "DPQL430"
    assert diagnostic.span is not None
    return diagnostic.message, diagnostic.hint or ""


def test_shares_divide_what_is_left() -> None:
    """1 - 1/10 goes 2 to 1."""
    made = plan(spec_of(["epsilon: 0.1", "share: 2", "share: 1"]))
    assert [step.epsilon for step in made.steps] == [
        Fraction(1, 10),
        Fraction(3, 5),
        Fraction(3, 10),
    ]
    assert made.spent == made.epsilon == 1


def test_without_shares_the_rest_stays_unspent() -> None:
    """Nothing is spent that nobody asked for."""
    made = plan(spec_of(["epsilon: 0.1", "epsilon: 0.2"]))
    assert (made.spent, made.epsilon) == (Fraction(3, 10), 1)
    assert made.loss == made.spent


def test_exactly_the_total_is_enough() -> None:
    """The last of the budget may be spent."""
    assert plan(spec_of(["epsilon: 0.7", "epsilon: 0.3"])).spent == 1


@pytest.mark.property
@settings(max_examples=80, deadline=None)
@given(weights=st.lists(DECIMALS, min_size=1, max_size=6), epsilon=DECIMALS)
def test_the_sum_is_the_total_whatever_the_shares(
    weights: list[Fraction], epsilon: Fraction
) -> None:
    """Exact rationals add up to exactly the total."""
    made = plan(spec_of([f"share: {number(w)}" for w in weights], number(epsilon)))
    assert made.spent == epsilon
    assert [s.epsilon / epsilon for s in made.steps] == [
        weight / sum(weights) for weight in weights
    ]


def test_named_epsilons_that_exceed_the_total_are_refused() -> None:
    """The message has the sum, the shortfall and a way out for each."""
    message, hint = refusal(spec_of(["epsilon: 0.7", "epsilon: 0.4"]))
    assert message == (
        "the total ε 1 is too small for `s0` ε 0.7 + `s1` ε 0.4: it falls short by 0.1"
    )
    assert hint == (
        "one of: raise the total to 1.1; spend 0.6 on `s0`; spend 0.3 on `s1`"
    )


def test_targets_that_cannot_be_met_together_say_so() -> None:
    """Each target's cheapest relaxation is one at which the rest fits."""
    message, hint = refusal(spec_of(["accuracy: 4", "accuracy: 6"]))
    assert "`s0` ε 0.654042 + `s1` ε 0.456902" in message
    assert "falls short by" in message
    assert "let `s0` be within ± " in hint
    assert "let `s1` be within ± " in hint
    wider = hint.partition("let `s0` be within ± ")[2].partition(";")[0]
    assert plan(spec_of([f"accuracy: {wider}", "accuracy: 6"])).spent <= 1


def test_nothing_left_for_shares_is_refused() -> None:
    """A share of nothing would be no noise at all, or infinite noise."""
    message, hint = refusal(spec_of(["epsilon: 1", "share: 1", "share: 2"]))
    assert message.endswith("nothing is left for the shares of `s1`, `s2`")
    assert hint == "one of: raise the total to more than 1; spend less than 1 on `s0`"


def test_what_alone_is_not_enough_is_said() -> None:
    """A small statistic cannot make room for a large shortfall."""
    _, hint = refusal(spec_of(["epsilon: 0.9", "accuracy: 100", "accuracy: 3"]))
    assert "dropping `s1` alone is not enough" in hint


def test_a_target_too_large_to_keep_is_to_be_dropped() -> None:
    """When no accuracy is left of it, a statistic is better dropped."""
    _, hint = refusal(spec_of(["epsilon: 1", "accuracy: 900"]))
    assert hint.endswith("drop `s1`")


def coprime(way: str, count: int = 100) -> list[str]:
    """Return spendings whose fractions have no short common denominator."""
    return [f"{way}: 1/{10**58 + 2 * index + 1}" for index in range(count)]


def test_shares_of_odd_denominators_are_rounded_down_and_add_up() -> None:
    """All but the last lose less than a 2**256th; the sum is the total exactly."""
    made = plan(spec_of(coprime("share")))
    assert made.spent == made.epsilon == 1
    assert read(made.to_json()) == made
    weights = [Fraction(s.removeprefix("share: ")) for s in coprime("share")]
    for step, weight in zip(made.steps[:-1], weights, strict=False):
        assert 0 <= weight / sum(weights) - step.epsilon < Fraction(1, 1 << 256)
    assert made.steps[-1].epsilon >= weights[-1] / sum(weights)
    assert str(made)


@pytest.mark.parametrize(
    "spends",
    [
        coprime("epsilon"),
        [*coprime("epsilon"), "share: 1"],
        ["share: 1e-300", "share: 1e300", *coprime("share")],
    ],
)
def test_epsilons_that_cannot_be_written_down_are_refused(spends: list[str]) -> None:
    """No exception but a fault leaves the planner."""
    with pytest.raises(PlanFault, match="DPQL431"):
        plan(spec_of(spends))
