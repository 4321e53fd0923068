"""Differences between plans: every change is judged, wording is recognised."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from dpql.language import load
from dpql.model.plan import Plan
from dpql.model.spec import (
    CategoryColumn,
    Comparison,
    Contributes,
    DropNulls,
    Epsilon,
    FillNulls,
    IdColumn,
    MechanismName,
    Neighbours,
    NumberColumn,
    NumberType,
    Operator,
    RowsAtMost,
    RowsExactly,
    Spec,
    StatisticKind,
)
from dpql.planner import plan
from dpql.review.changes import Verdict
from dpql.review.diff import Difference, diff
from dpql.review.diff_render import as_json, as_markdown, as_text

SPECS = Path(__file__).parents[2] / "specs"
OLD = load(SPECS / "income.yaml")
Edit = Callable[[Spec], Spec]


def privacy(**changes: Any) -> Edit:
    """Return an edit of the promise."""
    return lambda spec: replace(spec, privacy=replace(spec.privacy, **changes))


def data(**changes: Any) -> Edit:
    """Return an edit of the data block."""
    return lambda spec: replace(spec, data=replace(spec.data, **changes))


def column(name: str, **changes: Any) -> Edit:
    """Return an edit of one column."""

    def edit(spec: Spec) -> Spec:
        columns = tuple(
            replace(c, **changes) if c.name == name else c  # type: ignore[misc]
            for c in spec.data.columns
        )
        return replace(spec, data=replace(spec.data, columns=columns))

    return edit


def ask(index: int, **changes: Any) -> Edit:
    """Return an edit of one statistic."""

    def edit(spec: Spec) -> Spec:
        asks = list(spec.statistics)
        asks[index] = replace(asks[index], **changes)
        return replace(spec, statistics=tuple(asks))

    return edit


def compared(edit: Edit, old: Spec = OLD) -> Difference:
    """Return the difference that an edit makes."""
    return diff(plan(old), plan(edit(old)))


RICH = Comparison(column="income", operator=Operator.GREATER, value=Fraction(9))

JUDGED: dict[str, tuple[Verdict, str, Edit]] = {
    "more epsilon": (Verdict.WEAKER, "budget", privacy(epsilon=Fraction(2))),
    "less epsilon": (Verdict.STRONGER, "budget", privacy(epsilon=Fraction(1, 2))),
    "rows, not units": (
        Verdict.WEAKER,
        "unit",
        privacy(unit=None, contributes=Contributes(rows=1, groups=1)),
    ),
    "more rows a unit": (
        Verdict.REVIEW,
        "contributes",
        privacy(contributes=Contributes(rows=4, groups=1)),
    ),
    "wider bounds": (
        Verdict.REVIEW,
        "bounds",
        column("income", upper=Fraction(500_000)),
    ),
    "fewer keys": (Verdict.REVIEW, "keys", column("region", keys=("a", "b"))),
    "other order of keys": (
        Verdict.REVIEW,
        "keys",
        lambda spec: column(
            "region",
            keys=tuple(reversed(spec.data.column("region").keys)),  # type: ignore[union-attr]
        )(spec),
    ),
    "other nulls": (
        Verdict.REVIEW,
        "nulls",
        column("income", nulls=FillNulls(value=Fraction(7))),
    ),
    "other type": (
        Verdict.REVIEW,
        "type",
        column("income", type=NumberType.FLOAT, step=None),
    ),
    "other source": (Verdict.REVIEW, "source", data(source="other")),
    "more rows": (Verdict.REVIEW, "rows", data(rows=RowsAtMost(count=77))),
    "exact rows": (Verdict.REVIEW, "rows", data(rows=RowsExactly(count=100_000))),
    "other signer": (Verdict.REVIEW, "signer", lambda s: replace(s, signer="eve")),
    "no signer": (Verdict.REVIEW, "signer", lambda s: replace(s, signer=None)),
    "a filter": (Verdict.REVIEW, "filter", ask(0, where=RICH)),
    "no groups": (Verdict.REVIEW, "groups", ask(0, by=())),
    "other mechanism": (
        Verdict.REVIEW,
        "mechanism",
        ask(0, mechanism=MechanismName.GEOMETRIC),
    ),
    "release": (Verdict.REVIEW, "release", lambda s: replace(s, release="other")),
    "purpose": (Verdict.REVIEW, "purpose", lambda s: replace(s, purpose="other")),
    "unit of measure": (Verdict.REVIEW, "measure", column("income", unit="EUR")),
    "no unit of measure": (Verdict.REVIEW, "measure", column("income", unit=None)),
    "a promise": (Verdict.REVIEW, "at_least", ask(0, at_least=10)),
    "another statistic": (
        Verdict.REVIEW,
        "computes",
        ask(0, kind=StatisticKind.SUM),
    ),
    "another level": (Verdict.SAME, "alpha", ask(0, alpha=Fraction(1, 100))),
    "another gamma": (Verdict.SAME, "gamma", ask(0, gamma=Fraction(1, 100))),
    "asked otherwise": (
        Verdict.SAME,
        "spends",
        ask(1, spend=Epsilon(value=Fraction(1, 4))),
    ),
}


@pytest.mark.parametrize("name", list(JUDGED))
def test_every_change_is_judged_by_its_rule(name: str) -> None:
    """The verdict and the subject are those of the rule."""
    verdict, subject, edit = JUDGED[name]
    found = compared(edit)
    assert found.verdict is verdict
    assert subject in {change.subject for change in found.changes}
    assert found.cosmetic == 0


def test_equal_plans_are_the_same() -> None:
    """Nothing changed."""
    found = compared(lambda spec: spec)
    assert (found.verdict, found.changes, found.cosmetic) == (Verdict.SAME, (), 0)


def unread(spec: Spec) -> Spec:
    """Add a column that nothing reads."""
    spare = CategoryColumn(name="spare", keys=("a",))
    return data(columns=(*spec.data.columns, spare))(spec)


WORDING: dict[str, Edit] = {
    "order of statistics": lambda s: replace(s, statistics=s.statistics[::-1]),
    "order of columns": lambda s: data(columns=s.data.columns[::-1])(s),
    "unread column": unread,
}


@pytest.mark.parametrize("name", list(WORDING))
def test_wording_is_cosmetic(name: str) -> None:
    """It is counted, and it is the same promise."""
    found = compared(WORDING[name])
    assert found.verdict is Verdict.SAME
    assert found.cosmetic == 1
    assert {change.subject for change in found.changes} <= {"accuracy"}


def test_statistics_come_and_go() -> None:
    """A new one is for review; a dropped one is not, but what it leaves to others."""
    fewer = replace(OLD, statistics=OLD.statistics[:1])
    more = diff(plan(fewer), plan(OLD))
    assert ("+", Verdict.REVIEW) in {(c.mark, c.verdict) for c in more.changes}
    less = diff(plan(OLD), plan(fewer))
    assert ("-", Verdict.SAME) in {(c.mark, c.verdict) for c in less.changes}
    assert ("spends", Verdict.REVIEW) in {(c.subject, c.verdict) for c in less.changes}
    assert less.verdict is Verdict.REVIEW


def test_columns_come_and_go() -> None:
    """A newly read column is for review, one no longer read is a gain."""
    fewer = replace(OLD, statistics=(replace(OLD.statistics[1], by=()),))
    subjects = {
        (c.subject, c.text, c.verdict) for c in diff(plan(fewer), plan(OLD)).changes
    }
    assert ("reads", "+ income", Verdict.REVIEW) in subjects
    gains = {(c.text, c.verdict) for c in diff(plan(OLD), plan(fewer)).changes}
    assert ("- region", Verdict.STRONGER) in gains


def test_units_and_relations_are_judged() -> None:
    """Whole units are stronger than rows; another unit or relation needs a person."""
    rows = privacy(unit=None, contributes=Contributes(rows=1, groups=1))(OLD)
    assert diff(plan(rows), plan(OLD)).changes[0].verdict is Verdict.STRONGER
    other = data(columns=(*OLD.data.columns, IdColumn(name="q")))(OLD)
    swapped = privacy(unit="q")(other)
    change = diff(plan(other), plan(swapped)).changes[0]
    assert (change.subject, change.verdict) == ("unit", Verdict.REVIEW)
    exact = data(rows=RowsExactly(count=1000))(OLD)
    found = diff(plan(exact), plan(privacy(neighbours=Neighbours.REPLACE_ONE)(exact)))
    assert "neighbours" in {change.subject for change in found.changes}
    assert found.verdict is Verdict.REVIEW


def test_a_column_of_another_kind_is_judged() -> None:
    """A category that becomes a number needs a person."""
    histogram = replace(
        OLD.statistics[1], kind=StatisticKind.HISTOGRAM, columns=("region",), by=()
    )
    old = replace(OLD, statistics=(histogram,))
    columns = tuple(
        NumberColumn(
            name="region",
            type=NumberType.INTEGER,
            lower=Fraction(0),
            upper=Fraction(9),
            step=Fraction(1),
            unit=None,
            nulls=DropNulls(),
        )
        if c.name == "region"
        else c
        for c in OLD.data.columns
    )
    edges = replace(histogram, edges=(Fraction(0), Fraction(9)))
    new = replace(old, data=replace(OLD.data, columns=columns), statistics=(edges,))
    found = diff(plan(old), plan(new))
    assert "type" in {change.subject for change in found.changes}
    assert found.verdict is Verdict.REVIEW


def test_delta_is_judged() -> None:
    """More delta is weaker, less is stronger."""
    old = plan(OLD)
    loose = replace(old, delta=Fraction(1, 10**6))
    assert diff(old, loose).verdict is Verdict.WEAKER
    assert diff(loose, old).verdict is Verdict.STRONGER


def test_spending_less_of_the_same_total_is_stronger() -> None:
    """What is really spent counts, not only what is allowed."""
    half = Epsilon(value=Fraction(1, 2))
    old = replace(OLD, statistics=(replace(OLD.statistics[1], spend=half),))
    less = Epsilon(value=Fraction(1, 4))
    new = replace(OLD, statistics=(replace(OLD.statistics[1], spend=less),))
    (change, *_) = diff(plan(old), plan(new)).changes
    assert (change.verdict, change.text) == (
        Verdict.STRONGER,
        "ε 1/2 of 1 → 1/4 of 1",
    )
    assert diff(plan(new), plan(old)).verdict is Verdict.WEAKER


def test_what_no_rule_names_is_for_review() -> None:
    """A plan that differs in a derived member alone is never called the same."""
    old = plan(OLD)
    step = replace(old.steps[0], quantisation=Fraction(1))
    odd = replace(old, steps=(step, *old.steps[1:]))
    found = diff(old, odd)
    assert (found.verdict, found.changes[0].subject) == (Verdict.REVIEW, "other")


def many() -> Difference:
    """Return a difference with a bit of everything."""

    def edit(spec: Spec) -> Spec:
        spec = privacy(epsilon=Fraction(2))(spec)
        spec = column("income", upper=Fraction(500_000))(spec)
        extra = replace(spec.statistics[1], name="more", by=())
        spec = replace(spec, purpose="x", statistics=(spec.statistics[0], extra))
        return unread(ask(0, at_least=1000)(spec))

    return compared(edit)


def test_the_text_has_one_line_per_change() -> None:
    """Verdict first, marks where a person must look, wording last."""
    found = many()
    lines = as_text(found, source="specs/income.yaml").splitlines()
    assert lines[0].startswith("WEAKER   specs/income.yaml ")
    assert lines[0].endswith(f"plan {found.old[:8]} → {found.new[:8]}")
    words = " ".join(lines[1].split())
    assert words == "! budget ε 1 → 2 e^ε 2.72 → 7.39"
    assert any(line.startswith(" ! bounds     income [0, ") for line in lines)
    assert any(line.startswith(" + more") for line in lines)
    assert any(
        line.startswith(" - households: number of rows, by region ") for line in lines
    )
    assert lines[-1] == "   cosmetic   1 line"


def test_markdown_and_json_say_the_same() -> None:
    """Every change is in all forms."""
    found = many()
    document = as_json(found)
    assert document["verdict"] == "WEAKER"
    assert len(document["changes"]) == len(found.changes)
    text = as_markdown(found)
    assert text.startswith("### WEAKER: plan `")
    assert text.count("\n| ") == len(found.changes) + 2
    assert "1 change of wording only." in text
    page = found._repr_html_()
    assert page.startswith("<p><strong>WEAKER</strong> plan ")
    assert page.count("<tr>") == len(found.changes)
    assert "1 change of wording only" in page


def test_the_same_plan_has_a_short_text() -> None:
    """One line, no table."""
    found = compared(lambda spec: spec)
    assert as_text(found).startswith("SAME ")
    assert len(as_text(found).splitlines()) == 1
    assert "|" not in as_markdown(found)


def test_hostile_names_are_inert_in_differences() -> None:
    """No control character of a spec reaches a terminal."""
    made: Plan = plan(OLD)
    hostile = plan(replace(OLD, signer="\x1b[2J\u202e<b>evil|"))
    found = diff(made, hostile)
    page = found._repr_html_()
    text = as_text(found) + as_markdown(found) + page
    assert "&lt;b&gt;evil" in page
    assert "<b>" not in page
    assert "\x1b" not in text
    assert "\u202e" not in text
