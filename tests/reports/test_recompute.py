"""Values follow from the plan and the noisy numbers alone."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest
from reports.sample_releases import (
    DAY,
    VERSIONS,
    broad_plan,
    make_outcome,
    record,
    small_plan,
)

from dpql.errors import VerifyFault
from dpql.reports.predicate import ReportPredicate
from dpql.reports.predicate_builder import build
from dpql.reports.recompute import recompute, require_plausible, with_prose_of

SEVEN = Fraction(7)


def _predicate() -> ReportPredicate:
    outcome = make_outcome(small_plan())
    return build(
        outcome,
        day=DAY,
        ledger=record(outcome.plan),
        approvals=(),
        versions=VERSIONS,
    )


def test_the_release_is_recomputed() -> None:
    """Whatever values a report states, those that follow are returned."""
    outcome = make_outcome(broad_plan())
    given = build(outcome, day=DAY, ledger=None, approvals=(), versions=VERSIONS)
    altered = replace(
        given,
        statistics=tuple(
            replace(
                one, values=tuple(replace(x, value=Fraction(7)) for x in one.values)
            )
            for one in given.statistics
        ),
    )
    assert outcome == recompute(given) == recompute(altered)


def _of_first(**change: object) -> ReportPredicate:
    """Return the predicate with another first value."""
    made = _predicate()
    (statistic,) = made.statistics
    first, *rest = statistic.values
    changed: Any = replace(first, **change)  # type: ignore[arg-type]
    return replace(made, statistics=(replace(statistic, values=(changed, *rest)),))


@pytest.mark.parametrize(
    ("predicate", "code"),
    [
        (replace(_predicate(), statistics=()), "DPQL608"),
        (_of_first(cell=("b",)), "DPQL608"),
        (_of_first(noisy=()), "DPQL609"),
        (_of_first(noisy=(Fraction(1, 3),)), "DPQL609"),
    ],
    ids=["no statistics", "other cell", "no number", "off the lattice"],
)
def test_what_no_run_can_give_is_refused(predicate: ReportPredicate, code: str) -> None:
    """Other cells, and numbers that are not on the grid of the noise."""
    with pytest.raises(VerifyFault, match=code):
        recompute(predicate)


@pytest.mark.parametrize(
    ("change", "plausible"),
    [
        ({}, True),
        ({"seq": 2}, False),
        ({"head": "AB" * 32}, False),
        ({"dataset": "two words"}, False),
        ({"after": Fraction(1, 2)}, False),
        ({"before": Fraction(-1), "after": Fraction(0)}, False),
        ({"cap": Fraction(1)}, False),
        ({"data": ""}, False),
    ],
    ids=str,
)
def test_a_debit_must_add_up(change: dict[str, object], *, plausible: bool) -> None:
    """Amounts, entry, names and the word for the data."""
    made = _predicate()
    assert made.ledger is not None
    changed: Any = replace(made.ledger, **change)  # type: ignore[arg-type]
    if plausible:
        require_plausible(replace(made, ledger=changed))
    else:
        with pytest.raises(VerifyFault, match="DPQL608"):
            require_plausible(replace(made, ledger=changed))


def test_prose_alone_is_taken_from_the_other() -> None:
    """Words of another version, numbers as derived."""
    derived = _predicate()
    words = replace(derived.guarantee, words="Other words.", epsilon=Fraction(9))
    found = with_prose_of(replace(derived, guarantee=words), derived)
    assert "Other words." == found.guarantee.words
    assert derived.guarantee.epsilon == found.guarantee.epsilon
