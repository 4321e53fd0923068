"""Whole differences: the verdict, wording, and what no rule names."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest
from review.spec_edits import OLD, SHARE, Edit, compared, data, made, unread

from dpql.planner import plan
from dpql.review.change import Verdict
from dpql.review.diff import diff


def test_equal_plans_are_the_same() -> None:
    """Nothing changed."""
    found = compared(lambda spec: spec)
    assert (found.verdict, found.changes, found.cosmetic) == (Verdict.SAME, (), 0)


COSMETIC: dict[str, Edit] = {
    "order of statistics": lambda s: replace(s, statistics=s.statistics[::-1]),
    "order of columns": lambda s: data(columns=s.data.columns[::-1])(s),
    "unread column": unread,
}


@pytest.mark.parametrize("name", list(COSMETIC))
def test_other_words_are_cosmetic(name: str) -> None:
    """It is counted, and it is the same promise."""
    found = compared(COSMETIC[name])
    assert found.verdict is Verdict.SAME
    assert found.cosmetic == 1
    assert {change.subject for change in found.changes} <= {"accuracy"}


def test_what_no_rule_names_is_for_review() -> None:
    """A plan that differs in a derived member alone is never called the same."""
    old = plan(OLD)
    step = replace(old.steps[0], quantisation=Fraction(1))
    odd = replace(old, steps=(step, *old.steps[1:]))
    found = diff(old, odd)
    assert (found.verdict, found.changes[0].subject) == (Verdict.REVIEW, "other")


def test_what_no_rule_explains_is_for_review_beside_other_changes() -> None:
    """A derived member that differs is found also where a rule has spoken."""
    old, new = made(), made(fill="1")
    (step,) = new.steps
    odd = replace(old, steps=(replace(old.steps[0], l0=7),))
    assert diff(replace(odd, delta=Fraction(1)), old).verdict is Verdict.REVIEW
    assert {c.subject for c in diff(old, replace(new, steps=(step,))).changes} == {
        "nulls"
    }
    assert diff(old, replace(old, composition="none")).verdict is Verdict.REVIEW


def test_a_rise_of_a_statistic_that_stays_needs_a_person() -> None:
    """Dropping another statistic, or reading less, is no excuse."""
    count = {"count": "rows", "where": "y > 3", "spend": SHARE}
    total = {"sum": "x", "spend": SHARE}
    found = diff(made({"c": count, "m": total}), made({"m": total}))
    assert found.verdict is Verdict.REVIEW
    assert {(c.subject, c.verdict) for c in found.changes} >= {
        ("spends", Verdict.REVIEW),
        ("reads", Verdict.STRONGER),
    }
    shifted = diff(
        made({"c": count, "m": total}),
        made({"c": count, "m": total | {"spend": "{share: 9}"}}),
    )
    assert shifted.verdict is Verdict.REVIEW


def test_less_of_everything_is_stronger() -> None:
    """A smaller total lowers every share, and nothing needs a person."""
    assert diff(made(), made(epsilon="0.9")).verdict is Verdict.STRONGER
