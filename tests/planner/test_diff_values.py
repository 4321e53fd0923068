"""Differences are found in values: what two texts have in common hides nothing."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest
from spec_text import make_spec

from dpql.model.figures import decimal
from dpql.model.plan import Plan
from dpql.planner import plan
from dpql.review.changes import Verdict, contrast
from dpql.review.diff import Difference, diff

LONG = "c" * 100
SHARE = "{share: 1}"
SUM = {"q": {"sum": "x", "spend": SHARE}}


def made(
    statistics: dict[str, dict[str, str]] | None = None,
    *,
    edge: str = "0.5",
    fill: str = "0",
    step: str = "0.001",
    **options: str,
) -> Plan:
    """Return a plan of a histogram, or of the statistics given."""
    histogram = {"histogram": "x", "bins": f"[0, {edge}, 1]", "spend": SHARE}
    spec = make_spec(
        {
            "x": f"{{type: float, bounds: [0, 1], nulls: {{as: {fill}}}}}",
            "d": f"{{type: decimal, bounds: [0, 1], step: {step}, nulls: drop}}",
            "y": "{type: integer, bounds: [0, 10], nulls: drop}",
            f"{LONG}_public": "{type: float, bounds: [0, 1], nulls: drop}",
            f"{LONG}_secret": "{type: float, bounds: [0, 1], nulls: drop}",
            "g": f"{{type: category, keys: [{LONG}_a, {LONG}_b, c]}}",
        },
        statistics or {"q": histogram},
        **options,
    )
    return plan(spec)


def told_apart(found: Difference) -> None:
    """Check that no line has the same text on both sides of its arrow."""
    for change in found.changes:
        for text in (change.text, change.note):
            before, arrow, after = text.partition(" → ")
            if arrow:
                assert not before.endswith(after)


NEAR = ("0.1234567890123", "0.1234567890124")


@pytest.mark.parametrize("other", [{}, {"alpha": "0.06"}, {"epsilon": "0.99"}])
def test_an_edge_that_moves_a_little_is_for_review(other: dict[str, str]) -> None:
    """Whatever else changed, the thirteenth digit of an edge is seen."""
    found = diff(made(edge=NEAR[0]), made(edge=NEAR[1], **other))
    assert found.verdict is Verdict.REVIEW
    (change,) = (c for c in found.changes if c.subject == "computes")
    assert NEAR[0] in change.text
    assert NEAR[1] in change.text
    told_apart(found)


def test_long_names_are_not_cut_before_they_are_compared() -> None:
    """Swapping two columns of one beginning is seen, also beside another change."""

    def pair(first: str, second: str, alpha: str) -> Plan:
        sums = {
            "m": {"sum": f"{LONG}_{first}", "spend": "{share: 9}"},
            "n": {"sum": f"{LONG}_{second}", "spend": SHARE},
        }
        return made(sums, alpha=alpha)

    found = diff(pair("public", "secret", "0.05"), pair("secret", "public", "0.06"))
    assert found.verdict is Verdict.REVIEW
    texts = [c.text for c in found.changes if c.subject == "computes"]
    assert len(texts) == 2
    assert all("_public" in text and "_secret" in text for text in texts)
    told_apart(found)


@pytest.mark.parametrize(
    ("old", "new", "subject"),
    [
        ({"fill": NEAR[0]}, {"fill": NEAR[1]}, "nulls"),
        ({"epsilon": f"{NEAR[0]}1"}, {"epsilon": f"{NEAR[0]}2"}, "budget"),
        ({"gamma": "0.1234"}, {"gamma": "0.1232"}, "gamma"),
        (
            {"statistics": SUM, "alpha": "0.12345678"},
            {"statistics": SUM, "alpha": "0.12345679"},
            "accuracy",
        ),
    ],
)
def test_lines_show_as_many_digits_as_differ(
    old: dict[str, Any], new: dict[str, Any], subject: str
) -> None:
    """No arrow has the same number on both sides."""
    found = diff(made(**old), made(**new))
    assert subject in {change.subject for change in found.changes}
    told_apart(found)


def test_a_filter_on_keys_of_one_beginning_is_told_apart() -> None:
    """Keys are shown whole on both sides."""
    plans = [
        made({"q": {"count": "rows", "where": f"g == {LONG}_{end}", "spend": SHARE}})
        for end in "ab"
    ]
    found = diff(*plans)
    assert found.verdict is Verdict.REVIEW
    told_apart(found)


def test_other_keys_of_the_same_number_are_told() -> None:
    """The line does not print one count twice."""
    grouped = {"q": {"count": "rows", "by": "[g]", "spend": SHARE}}
    old = made(grouped)
    columns = tuple(
        replace(c, keys=(*c.keys[1:], "d")) if c.name == "g" else c  # type: ignore[union-attr, call-arg]
        for c in old.spec.data.columns
    )
    new = plan(replace(old.spec, data=replace(old.spec.data, columns=columns)))
    (change,) = diff(old, new).changes
    assert (change.subject, change.text) == ("keys", "g, 3 keys, not as before")
    assert '+ "d"' in change.note


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


def test_contrast_gives_up_in_words() -> None:
    """Numbers that agree in a thousand digits are still said to differ."""
    one = Fraction(1, 3)
    text = contrast(one, one + Fraction(1, 10**2000), decimal, 3)
    assert text == "0.333 → another, alike in 1000 digits"


def test_what_both_accuracies_rest_on_is_said_once() -> None:
    """The promised rows stand beside both numbers only where they differ."""
    mean = {"mean": "y", "at_least": "50", "spend": SHARE}
    old, new = made({"q": mean}), made({"q": mean}, epsilon="2")
    (line,) = (c.text for c in diff(old, new).changes if c.subject == "accuracy")
    assert 1 == line.count("at least 50 rows")
    other = made({"q": {**mean, "at_least": "60"}})
    (line,) = (c.text for c in diff(old, other).changes if c.subject == "accuracy")
    assert (1, 1) == (line.count("at least 50 rows"), line.count("at least 60 rows"))
