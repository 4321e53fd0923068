"""What `auto` means where a plan accounts in rho."""

from __future__ import annotations

from fractions import Fraction

import pytest
from spec_text import ID, integer, make_spec

from dpql.errors import PlanFault
from dpql.exact import round_down_to_digits
from dpql.model.plan import Plan, Step
from dpql.planner import plan
from dpql.planner.bind import description_of
from dpql.planner.settle import comparable_error, epsilon_within, rho_of

COLUMNS = {
    "p": ID,
    "x": integer(0, 10),
    "g": "{type: category, keys: [" + ", ".join(f"k{n}" for n in range(60)) + "]}",
}
GROUPS = {"unit": "p", "contributes": "{rows: 1, groups: 40}"}


def made(statistics: dict[str, dict[str, str]], **options: str) -> Plan:
    """Return the plan of some statistics with a delta."""
    shared = {name: {"spend": "{share: 1}"} | one for name, one in statistics.items()}
    settings = {"delta": "1e-6", "mechanism": "auto"} | options
    return plan(make_spec(COLUMNS, shared, **settings))


def test_one_cell_a_unit_takes_geometric_noise() -> None:
    """A histogram of which a unit touches one cell: 3 against 9 (MATH-delta 4)."""
    found = made({"a": {"count": "rows", "by": "[g]"}})
    (step,) = found.steps
    assert (step.mechanism, step.accuracy) == ("geometric", 3)
    assert not found.in_rho
    assert found.delta_spent == 0
    (forced,) = made({"a": {"count": "rows", "by": "[g]"}}, mechanism="gaussian").steps
    assert forced.accuracy == 9


def test_many_cells_a_unit_take_gaussian_noise() -> None:
    """Where a unit touches 40 cells, 120 would be 57."""
    found = made({"a": {"count": "rows", "by": "[g]"}}, **GROUPS)
    (step,) = found.steps
    assert step.mechanism == "gaussian"
    assert (step.epsilon, step.loss) == (None, None)
    assert step.accuracy is not None
    assert step.accuracy < 60
    assert found.in_rho
    assert found.delta_spent == Fraction(1, 10**6)
    (forced,) = made(
        {"a": {"count": "rows", "by": "[g]"}}, **GROUPS, mechanism="geometric"
    ).steps
    assert forced.accuracy is not None
    assert step.accuracy < forced.accuracy < 120


@pytest.mark.heavy
def test_many_statistics_share_a_rho() -> None:
    """Thirty sums are better off with a thirtieth of rho than of epsilon."""
    found = made({f"s{n}": {"sum": "x"} for n in range(30)})
    assert found.in_rho
    assert {step.mechanism for step in found.steps} == {"gaussian"}
    assert found.spent == 1
    assert found.loss <= 1
    rhos = {step.rho for step in found.steps}
    assert len(rhos) == 1
    pure = plan(
        make_spec(
            COLUMNS,
            {f"s{n}": {"sum": "x", "spend": "{share: 1}"} for n in range(30)},
            mechanism="auto",
        )
    )
    for one, other in zip(found.steps, pure.steps, strict=True):
        assert one.accuracy is not None
        assert other.accuracy is not None
        assert one.accuracy < other.accuracy * Fraction(3, 5)


@pytest.mark.heavy
def test_a_pure_epsilon_keeps_its_rho_within_a_share() -> None:
    """The largest of 15 digits fits, and one digit more does not."""
    found = made({"a": {"sum": "x"}, "q": {"quantile": "x", "at": "[1/4, 1/2]"}})
    for step in found.steps:
        for mechanism in _pure_names(step):
            description = description_of(found, step, mechanism)
            for rho in (Fraction(1, 10**6), Fraction(1, 50), Fraction(3)):
                epsilon = epsilon_within(description, mechanism, rho, gamma=step.gamma)
                assert epsilon == round_down_to_digits(epsilon, 15)
                cost = rho_of(description, mechanism, epsilon, gamma=step.gamma)
                assert cost <= rho
                more = epsilon * (1 + Fraction(1, 10**6))
                assert rho_of(description, mechanism, more, gamma=step.gamma) > rho


def _pure_names(step: Step) -> tuple[str, ...]:
    return ("exponential",) if step.picks else ("geometric", "snapping")


def test_an_epsilon_in_a_plan_of_rho_is_kept() -> None:
    """A statistic that spends an epsilon has pure noise, and the others the rest."""
    found = made(
        {
            "a": {"count": "rows", "by": "[g]"},
            "b": {"sum": "x", "spend": "{epsilon: 1/10}"},
            "c": {"sum": "x", "spend": "{rho: 1/1000}", "mechanism": "gaussian"},
        },
        **GROUPS,
    )
    kinds = [(step.mechanism, step.epsilon) for step in found.steps]
    assert kinds == [
        ("gaussian", None),
        ("geometric", Fraction(1, 10)),
        ("gaussian", None),
    ]
    assert found.steps[2].rho == Fraction(1, 1000)
    assert found.rho == sum(step.rho or 0 for step in found.steps)


def test_an_accuracy_is_priced_in_rho() -> None:
    """The cheaper mechanism is taken, and the target is met."""
    for within in ("200", "100"):
        found = made(
            {"a": {"count": "rows", "by": "[g]", "spend": f"{{accuracy: {within}}}"}},
            **GROUPS,
            epsilon="2",
        )
        (step,) = found.steps
        assert step.accuracy is not None
        assert step.accuracy <= int(within)
        assert found.spent == found.loss <= 2


def test_too_much_is_refused_in_words() -> None:
    """Targets that exceed the rho are faults; a tiny share is not."""
    with pytest.raises(PlanFault, match=r"DPQL430 the total ρ .* is too small"):
        made(
            {"a": {"sum": "x", "spend": "{rho: 1}", "mechanism": "gaussian"}},
        )
    tiny = made(
        {
            "a": {"sum": "x", "spend": "{share: 1e-60}", "mechanism": "snapping"},
            "b": {"sum": "x", "mechanism": "gaussian"},
        }
    )
    assert tiny.steps[0].epsilon is not None
    assert tiny.steps[0].epsilon < Fraction(1, 10**30)


def test_an_error_of_nothing_counts_as_half_a_step() -> None:
    """A comparison of logarithms needs a number above 0."""
    found = made({"a": {"count": "rows", "by": "[g]"}}, epsilon="50")
    (step,) = found.steps
    assert step.accuracy == 0
    description = description_of(found, step, "geometric")
    error = comparable_error(
        found.spec.statistics[0], description, "geometric", Fraction(50), rows=10
    )
    assert error == Fraction(1, 2)


@pytest.mark.heavy
def test_totals_keep_geometric_noise() -> None:
    """Groups that add up to their total have one theta, in a plan of rho too."""
    found = made(
        {
            "a": {"count": "rows", "by": "[g]"},
            "all": {"total": "a"},
            **{f"s{n}": {"sum": "x", "by": "[g]"} for n in range(12)},
        },
        **GROUPS,
    )
    assert found.in_rho
    kinds = {step.name: step.mechanism for step in found.steps}
    assert (kinds["a"], kinds["all"], kinds["s0"]) == (
        "geometric",
        "geometric",
        "gaussian",
    )
    epsilons = {step.epsilon for step in found.steps[:2]}
    assert len(epsilons) == 1
