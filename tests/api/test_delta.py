"""A release with a delta, from debit to verification."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest
from api.office import DATASET, Office, code_of
from reports.sample_releases import small_plan
from spec_text import make_spec

from dpql.errors import VerifyFault
from dpql.ledger import State, open_ledger
from dpql.model.plan import Plan
from dpql.model.spec import Neighbours
from dpql.planner import plan
from dpql.reports.predicate import LedgerRecord
from dpql.reports.recompute import require_plausible
from dpql.reports.render_html import as_html
from dpql.reports.render_markdown import as_markdown
from dpql.reports.render_text import as_text

NAME = "both"


def gaussian_plan() -> Plan:
    """Return a plan of counts and a proportion with Gaussian noise."""
    keys = ", ".join(f"k{n}" for n in range(40))
    return plan(
        make_spec(
            {"region": f"{{type: category, keys: [a, {keys}]}}"},
            {
                f"n{number}": {"count": "rows", "by": "[region]", "spend": "{share: 1}"}
                for number in range(12)
            }
            | {"part": {"proportion": "region == 'a'", "spend": "{share: 1}"}},
            delta="1e-6",
            rows="{at_most: 10_000}",
            mechanism="auto",
        )
    )


@pytest.fixture
def both(tmp_path: Path) -> Office:
    """Give an office with a budget that has a delta, beside one that has none."""
    made = Office(tmp_path, gaussian_plan())
    made.ledger.open_account(
        NAME,
        cap=Fraction(2),
        unit=None,
        neighbours=Neighbours.ADD_REMOVE,
        delta=Fraction(1, 10**6),
    )
    return made


@pytest.mark.heavy
def test_a_gaussian_release_is_debited_signed_and_verified(both: Office) -> None:
    """The whole way: the debit comes first, and the report says rho and delta."""
    done = both.run(dataset=NAME)
    verified = both.verify()
    assert verified.release == done.release
    predicate = verified.predicate
    assert predicate.guarantee.variant == "approximate differential privacy"
    assert predicate.guarantee.delta == Fraction(1, 10**6)
    assert predicate.plan.in_rho
    record = predicate.ledger
    assert record is not None
    assert record.delta == Fraction(1, 10**6)
    assert 0 == record.before < record.after <= record.cap == 2
    assert both.states(NAME) == [State.RELEASED]
    for one in predicate.statistics:
        assert one.epsilon is None
        assert one.rho is not None
    view = done.report.view
    for render in (as_text, as_markdown, as_html):
        text = render(view)
        assert "ρ" in text
        assert "δ" in text


def test_the_pure_budget_beside_it_refuses(both: Office) -> None:
    """Nothing is read and nothing spent where the owner promised pure privacy."""
    assert code_of(lambda: both.run(dataset=DATASET)) == "DPQL718"
    assert both.states() == []


def test_a_budget_with_a_delta_takes_pure_releases(both: Office) -> None:
    """Their reports are pure; the budget still has its delta."""
    both.plan = small_plan()
    both.run(dataset=NAME)
    verified = both.verify()
    assert verified.predicate.guarantee.delta == 0
    account = open_ledger(both.location).account(NAME)
    assert account.spent == both.plan.spent
    assert verified.predicate.ledger is not None
    assert verified.predicate.ledger.delta == account.delta


@pytest.mark.heavy
def test_records_of_debits_that_cannot_be_are_refused(both: Office) -> None:
    """A delta cannot be spent on a pure budget, nor a budget shrink."""
    both.run(dataset=NAME)
    predicate = both.verify().predicate
    record = predicate.ledger
    assert record is not None
    require_plausible(predicate)
    forged: list[LedgerRecord] = [
        replace(record, delta=Fraction(0)),
        replace(record, delta=Fraction(1)),
        replace(record, after=record.before - 1),
        replace(record, after=record.cap + 1),
    ]
    for wrong in forged:
        other = replace(predicate, ledger=wrong)
        with pytest.raises(VerifyFault, match="DPQL608"):
            require_plausible(other)
