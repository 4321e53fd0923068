"""What a plan promises of totals and their groups after they were moved."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest
from spec_text import make_spec

from dpql.curator.rehearsal import rehearse
from dpql.errors import PlanFault
from dpql.model.plan import Plan
from dpql.planner import audit, plan, release_size
from dpql.review.alternatives import error_at
from dpql.statistics.tails import Tail
from dpql.statistics.totals import half_width

STATISTICS = {
    "heads": {"count": "rows", "by": "[g]", "spend": "{share: 1}"},
    "all": {"total": "heads", "spend": "{share: 1}"},
}


def planned(keys: int = 5, epsilon: str = "1") -> Plan:
    """Return a plan of a grouped count and its total."""
    names = ", ".join(f"k{i}" for i in range(keys))
    columns = {"g": f"{{type: category, keys: [{names}]}}"}
    return plan(make_spec(columns, STATISTICS, epsilon=epsilon))


@pytest.mark.parametrize("keys", [1, 2, 5, 100])
def test_both_promise_the_width_of_what_is_moved(keys: int) -> None:
    """One noise of weight H/(H+1) and H of 1/(H+1), each of half of epsilon."""
    groups, whole = planned(keys).steps
    expected = half_width(Tail.of(Fraction(1, 2)), keys, Fraction(1, 20))
    for step in (groups, whole):
        assert step.accuracy is not None
        assert expected <= step.accuracy <= expected + Fraction(1, 1000)
    assert whole.accuracy_all == whole.accuracy
    assert groups.accuracy_all is not None
    everywhere = half_width(Tail.of(Fraction(1, 2)), keys, Fraction(1, 20 * keys))
    assert everywhere <= groups.accuracy_all <= everywhere + Fraction(1, 1000)


def test_other_epsilons_are_told_with_the_moved_values() -> None:
    """At its own epsilon a curve passes through the plan; others have no such noise."""
    made, louder = planned(), planned(epsilon="1/4")
    for step, other in zip(made.steps, louder.steps, strict=True):
        for spent, expected in ((step.epsilon, step), (other.epsilon, other)):
            assert spent is not None
            found = error_at(made, step, "geometric", spent, rows=None)
            assert expected.accuracy == found
        assert error_at(made, step, "snapping", Fraction(1, 2), rows=None) is None


def test_adding_up_costs_nothing() -> None:
    """The loss is that of the noise; what a total costs, any count would."""
    made = planned()
    assert Fraction(1) == made.loss == made.spent
    assert {Fraction(1, 2)} == {step.loss for step in made.steps}


def test_no_value_is_longer_than_its_bound() -> None:
    """Moved values have a denominator of their own, and may be below 0."""
    for keys in (1, 7, 100):
        made = planned(keys, epsilon="0.001")
        for result in rehearse(made, 300, 1).results:
            bound = release_size._number(result.step)
            for value in result.values:
                texts = map(str, (value.value, value.lower, value.upper))
                assert max(map(len, texts)) <= bound


def test_an_error_is_never_more_than_the_range() -> None:
    """With next to no epsilon the promise is the public ceiling of rows."""
    assert {1000} == {step.accuracy for step in planned(epsilon="0.0001").steps}


@pytest.mark.parametrize(
    "change",
    [{"total": "all"}, {"total_of": None}, {"accuracy": Fraction(1)}, {"by": ("g",)}],
    ids=str,
)
def test_an_altered_total_is_refused(change: dict[str, object]) -> None:
    """What a plan says of its totals follows from its spec."""
    made = planned()
    groups, whole = made.steps
    altered = replace(made, steps=(groups, replace(whole, **change)))  # type: ignore[arg-type]
    with pytest.raises(PlanFault, match="DPQL402"):
        audit(altered)
