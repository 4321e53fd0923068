"""Reviews of plans with a delta: tables, differences, pages, alternatives."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest

from dpql.errors import PlanFault
from dpql.language import load
from dpql.model.plan import Plan
from dpql.model.spec import Contributes, Epsilon, MechanismName
from dpql.planner import plan
from dpql.review.alternatives import amount_for, error_at
from dpql.review.curves.page import page
from dpql.review.curves.points import error_curves
from dpql.review.diff import diff
from dpql.review.explain import explain
from dpql.review.render import as_html, as_json, as_markdown, as_text
from dpql.review.what_if import what_if

SPEC = load(Path(__file__).parents[2] / "specs" / "region_grid.yaml")


def made(delta: str = "1e-9") -> Plan:
    """Return the plan of the gallery's spec at another delta."""
    privacy = replace(SPEC.privacy, delta=Fraction(delta))
    return plan(replace(SPEC, privacy=privacy))


@pytest.mark.heavy
def test_the_table_is_of_rho() -> None:
    """The column says what the statistics share, and facts say what it means."""
    found = made()
    text = as_text(explain(found))
    head = text.splitlines()[2]
    assert "ρ" in head
    assert "ε" not in head
    assert "δ = 1e-9" in text
    assert found.composition in text
    assert "pure DP" not in text
    for show in (as_markdown, as_html):
        assert "ρ" in show(explain(found))
    document = as_json(explain(found))
    assert document["rho"]["exact"] == str(found.rho)
    assert document["statistics"][0]["epsilon"] is None
    shares = sum(line.share for line in explain(found).lines)
    assert abs(shares - 1) < Fraction(1, 10**9)


@pytest.mark.heavy
def test_other_noise_is_compared_at_the_same_cost() -> None:
    """Geometric noise of the same rho promises less; both are shown."""
    found = made()
    step = found.step("journeys")
    amount = amount_for(found, step, "geometric")
    assert amount is not None
    error = error_at(found, step, "geometric", amount, rows=None)
    assert error is not None
    assert step.accuracy is not None
    assert error > step.accuracy
    notes = explain(found).notes
    assert any("geometric would give" in note and "same ρ" in note for note in notes)


def test_a_pure_plan_beside_a_delta_shows_what_gaussian_noise_would_give() -> None:
    """One statistic of one cell stays pure; its share of rho is what is compared."""
    journeys = replace(SPEC.statistics[0], by=("region",), contributes=None)
    privacy = replace(
        SPEC.privacy, contributes=replace(SPEC.privacy.contributes, rows=1, groups=1)
    )
    found = plan(replace(SPEC, privacy=privacy, statistics=(journeys,)))
    assert not found.in_rho
    notes = explain(found).notes
    assert any("gaussian would give" in note and "same share" in note for note in notes)
    assert "pure DP" in as_text(explain(found))


@pytest.mark.heavy
def test_differences_of_delta_and_of_accounting() -> None:
    """A larger delta is weaker; so is one where there was none."""
    pure, small, large = made("0"), made("1e-9"), made("1e-6")
    weaker = diff(pure, small)
    subjects = {change.subject for change in weaker.changes}
    assert {"delta", "accounts", "mechanism", "spends"} <= subjects
    assert "other" not in subjects
    assert weaker.verdict.value == "WEAKER"
    texts = [change.text for change in weaker.changes]
    assert "δ 0 → 1e-9" in texts
    assert diff(small, large).verdict.value == "WEAKER"
    back = diff(large, small)
    assert "δ 1e-6 → 1e-9" in [change.text for change in back.changes]
    assert diff(small, small).verdict.value == "SAME"


@pytest.mark.heavy
def test_the_page_slides_rho() -> None:
    """Totals are rhos, with the epsilon that each of them gives."""
    found = made()
    text = page(found)
    assert "total rho" in text
    assert "ρ of this statistic" in text
    assert "at δ = 1e-9" in text
    assert found.rho is not None
    curves = error_curves(found, (found.rho / 4, found.rho), rows=1000)
    for curve in curves:
        errors = [error for _, error in curve.points]
        assert errors == sorted(errors, reverse=True)


@pytest.mark.heavy
def test_what_if_gaussian_noise_needs_a_delta() -> None:
    """A pure spec has no plan with it; one with a delta has, but for an epsilon."""
    with pytest.raises(PlanFault, match="DPQL440"):
        what_if(made("0"), mechanism=MechanismName.GAUSSIAN)
    found = what_if(made(), mechanism=MechanismName.GAUSSIAN)
    assert {step.mechanism for step in found.steps} == {"gaussian", "exponential"}
    first = replace(SPEC.statistics[0], spend=Epsilon(value=Fraction(1, 10)))
    spec = replace(SPEC, statistics=(first, *SPEC.statistics[1:]))
    with pytest.raises(PlanFault, match="DPQL441"):
        what_if(plan(spec), mechanism=MechanismName.GAUSSIAN)


def test_one_gaussian_number_says_its_exact_epsilon() -> None:
    """Of rho(1, 1e-6) and one cell of a unit it is .941, not 1 (MATH-delta 1.3)."""
    count = replace(
        SPEC.statistics[1],
        by=("region",),
        contributes=Contributes(rows=1, groups=1),
        mechanism=MechanismName.GAUSSIAN,
    )
    privacy = replace(SPEC.privacy, delta=Fraction(1, 10**6))
    found = plan(replace(SPEC, privacy=privacy, statistics=(count,)))
    facts = dict(explain(found).facts)
    assert facts["exactly"].startswith("ε ≈ 0.9")
    assert "exactly" not in dict(explain(made()).facts)


@pytest.mark.heavy
def test_a_delta_as_large_as_one_in_all_rows_is_cautioned() -> None:
    """Five million rows and a delta of 1e-6 would allow five to be revealed."""
    words = "far below one over their number"
    assert any(words in note for note in explain(made("1e-6")).notes)
    assert not any(words in note for note in explain(made("1e-9")).notes)
    assert not any(words in note for note in explain(made("0")).notes)
