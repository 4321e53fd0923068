"""The predicate of a report says what the outcome and its plan say."""

from __future__ import annotations

import pytest
from reports.sample_releases import (
    DAY,
    VERSIONS,
    broad_plan,
    make_outcome,
    record,
    small_plan,
)
from spec_text import ID, make_spec

from dpql.errors import VerifyFault
from dpql.model.plan import Bound
from dpql.planner import plan
from dpql.reports.predicate import COINS, ReportPredicate
from dpql.reports.predicate_builder import build


def _built(approvals: tuple[bytes, ...] = ()) -> ReportPredicate:
    outcome = make_outcome(broad_plan())
    return build(
        outcome,
        day=DAY,
        ledger=record(outcome.plan),
        approvals=approvals,
        versions=VERSIONS,
    )


def test_numbers_are_those_of_the_outcome() -> None:
    """Every value, with its noisy numbers, in the order of the plan."""
    expected = [
        (one.cell, one.value, one.lower, one.upper, one.noisy)
        for result in make_outcome(broad_plan()).results
        for one in result.values
    ]
    assert expected == [
        (one.cell, one.value, one.lower, one.upper, one.noisy)
        for statistic in _built().statistics
        for one in statistic.values
    ]


def test_claims_are_those_of_the_plan() -> None:
    """Names, costs, errors, the promise and the digest."""
    made, built = broad_plan(), _built()
    assert made.digest == built.plan_digest
    assert made.spent == built.guarantee.epsilon
    assert ("person", 3, 1) == (
        built.guarantee.unit,
        built.guarantee.rows,
        built.guarantee.groups,
    )
    assert [(x.name, x.epsilon, x.accuracy) for x in made.steps] == [
        (x.name, x.epsilon, x.accuracy) for x in built.statistics
    ]
    assert [
        each.noise.parameters for x in made.steps for each in (*x.parts, *x.picks)
    ] == [part.parameters for x in built.statistics for part in x.parts]


def test_the_software_is_named() -> None:
    """The version of dpql by itself, those of other packages in order."""
    made = _built().implementation
    assert ("0.1.0", COINS) == (made.dpql, made.randomness)
    assert (("gmpy2", "2.3.2"), ("polars", "2.1.0")) == made.packages


def test_rows_are_the_unit_where_no_column_is() -> None:
    """Approvals are kept whole, and must be text."""
    made = build(
        make_outcome(small_plan()),
        day=DAY,
        ledger=None,
        approvals=(b"{}",),
        versions=VERSIONS,
    )
    assert ("row", ("{}",), None) == (made.guarantee.unit, made.approvals, made.ledger)
    with pytest.raises(VerifyFault, match="DPQL600"):
        _built((b"\xff",))


def test_each_statistic_says_what_one_unit_adds() -> None:
    """Its own bound, or that of all; that of its groups for a total; none for rows."""
    count = {"count": "rows", "by": "[g]", "spend": "{share: 1}"}
    statistics = {
        "plain": count,
        "own": count | {"contributes": "{rows: 4, groups: 2, total: 5}"},
        "all": {"total": "own", "spend": "{share: 1}"},
    }
    columns = {"p": ID, "g": "{type: category, keys: [a, b, c]}"}
    bounds = []
    for options in ({"unit": "p", "contributes": "{rows: 3, groups: 1}"}, {}):
        asked = statistics if options else {"plain": count}
        outcome = make_outcome(plan(make_spec(columns, asked, **options)))
        built = build(outcome, day=DAY, ledger=None, approvals=(), versions=VERSIONS)
        bounds.append([each.bound for each in built.statistics])
    own = Bound(rows=4, cells=2, total=5)
    assert [[Bound(rows=3, cells=1), own, own], [None]] == bounds
