"""The rules of a comparison: each change is judged, and its line hides nothing."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest
from review.spec_edits import (
    LONG,
    OLD,
    SHARE,
    Edit,
    column,
    compared,
    data,
    made,
    privacy,
    statistic,
)
from spec_text import make_spec

from dpql.model.plan import Plan
from dpql.model.spec import (
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
)
from dpql.planner import plan
from dpql.review.change import Change, Verdict
from dpql.review.diff import Difference, diff
from dpql.review.diff_render import as_json, as_markdown, as_text
from dpql.review.diff_rules import computed

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
    "bounds of a statistic": (
        Verdict.REVIEW,
        "contributes",
        statistic(0, contributes=Contributes(rows=2, groups=3, total=4)),
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
    "a filter": (Verdict.REVIEW, "filter", statistic(0, where=RICH)),
    "no groups": (Verdict.REVIEW, "groups", statistic(0, by=())),
    "other mechanism": (
        Verdict.REVIEW,
        "mechanism",
        statistic(0, mechanism=MechanismName.GEOMETRIC),
    ),
    "release": (Verdict.REVIEW, "release", lambda s: replace(s, release="other")),
    "purpose": (Verdict.REVIEW, "purpose", lambda s: replace(s, purpose="other")),
    "unit of measure": (Verdict.REVIEW, "measure", column("income", unit="EUR")),
    "no unit of measure": (Verdict.REVIEW, "measure", column("income", unit=None)),
    "a promise": (Verdict.REVIEW, "at_least", statistic(0, at_least=10)),
    "another statistic": (
        Verdict.REVIEW,
        "computes",
        statistic(0, kind="sum"),
    ),
    "another level": (Verdict.SAME, "alpha", statistic(0, alpha=Fraction(1, 100))),
    "another gamma": (Verdict.SAME, "gamma", statistic(0, gamma=Fraction(1, 100))),
    "requested in another way": (
        Verdict.SAME,
        "spends",
        statistic(1, spend=Epsilon(value=Fraction(1, 4))),
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
    histogram = replace(OLD.statistics[1], kind="histogram", columns=("region",), by=())
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


SUM = {"q": {"sum": "x", "spend": SHARE}}


def distinguished(found: Difference) -> None:
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
    distinguished(found)


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
    distinguished(found)


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
    distinguished(found)


def test_a_filter_on_keys_of_one_beginning_is_distinguished() -> None:
    """Keys are shown whole on both sides."""
    plans = [
        made({"q": {"count": "rows", "where": f"g == {LONG}_{end}", "spend": SHARE}})
        for end in "ab"
    ]
    found = diff(*plans)
    assert found.verdict is Verdict.REVIEW
    distinguished(found)


def test_other_keys_of_the_same_number_are_named() -> None:
    """The line does not print one count twice."""
    grouped = {"q": {"count": "rows", "by": "[g]", "spend": SHARE}}
    old = made(grouped)
    columns = tuple(
        replace(c, keys=(*c.keys[1:], "d")) if c.name == "g" else c  # type: ignore[union-attr, call-arg]
        for c in old.spec.data.columns
    )
    new = plan(replace(old.spec, data=replace(old.spec.data, columns=columns)))
    (change,) = diff(old, new).changes
    assert (change.subject, change.text) == ("keys", "g, 3 keys, changed")
    assert '+ "d"' in change.note


TOTAL = {"sum": "wage", "spend": "{share: 1}"}


LATE = {"sum": "wage", "where": "age >= 18", "by": "[g]", "spend": "{share: 1}"}


def wages(
    statistics: dict[str, dict[str, str]] | None = None,
    *,
    unit: str = "EUR",
    keys: str = "a, b",
    purpose: str = "A test.",
) -> Plan:
    """Return a plan of sums of wages."""
    spec = make_spec(
        {
            "wage": f"{{type: integer, bounds: [0, 9], unit: '{unit}', nulls: drop}}",
            "age": "{type: integer, bounds: [0, 99], nulls: drop}",
            "g": f"{{type: category, keys: [{keys}]}}",
        },
        statistics or {"q": TOTAL},
        purpose=f"'{purpose}'",
    )
    return plan(spec)


def lines(old: Plan, new: Plan, subject: str) -> list[Change]:
    """Return the changes of a subject."""
    return [change for change in diff(old, new).changes if change.subject == subject]


def test_another_unit_of_measure_is_for_review() -> None:
    """Every number means something else, and both units are shown."""
    (change,) = lines(wages(), wages(unit="000 EUR"), "measure")
    assert (Verdict.REVIEW, 'wage: EUR → "000 EUR"') == (change.verdict, change.text)
    assert 0 == diff(wages(), wages(unit="USD")).cosmetic


@pytest.mark.parametrize(
    ("ask", "expected"),
    [
        (LATE, "sum of wage, where age >= 18, by g"),
        ({"count": "rows", "spend": "{share: 1}"}, "number of rows"),
        (
            {"histogram": "age", "bins": "[0, 18, 99]", "spend": "{share: 1}"},
            "number of rows by age, bins [0, 18, 99]",
        ),
    ],
)
def test_new_and_removed_statistics_say_what_they_compute(
    ask: dict[str, Any], expected: str
) -> None:
    """The name is the author's; columns, filter and groups stand beside it."""
    few, many = wages(), wages({"q": TOTAL, "wages_all": ask})
    for old, new, mark in ((few, many, "+"), (many, few, "-")):
        found = diff(old, new)
        (change,) = [one for one in found.changes if one.mark == mark]
        assert f"wages_all: {expected}" == change.text
        assert f" {mark} wages_all: {expected}   " in as_text(found)
        assert change.text in [one["text"] for one in as_json(found)["changes"]]
        plainly = as_markdown(found).replace("\\", "")
        assert f"| {mark} |  | wages_all: {expected} |" in plainly


def test_a_new_spec_lists_what_it_computes() -> None:
    """Where nothing was before, every statistic is new."""
    assert ("q: sum of wage", "late: sum of wage, where age >= 18, by g") == computed(
        wages({"q": TOTAL, "late": LATE})
    )


def test_a_changed_purpose_is_shown_in_quotes() -> None:
    """Old and new text, each as its author's, for a person to judge."""
    new = "None. REVIEW   budget  ε 1 → 1/9"
    found = diff(wages(), wages(purpose=new))
    (change,) = found.changes
    named = r"None. REVIEW \u{0020}\u{0020}budget \u{0020}ε 1 → 1/9"
    assert f'"A test." → "{named}"' == change.text
    assert (Verdict.REVIEW, "purpose", 0) == (
        found.verdict,
        change.subject,
        found.cosmetic,
    )


def test_a_changed_name_of_the_release_is_shown() -> None:
    """Another name may be that of another release."""
    old = wages()
    found = diff(old, plan(replace(old.spec, release="x" * 64)))
    (change,) = found.changes
    assert (Verdict.REVIEW, "release", f"test → {'x' * 64}") == (
        change.verdict,
        change.subject,
        change.text,
    )


def test_added_and_removed_keys_stand_in_quotes() -> None:
    """No key can pass for an arrow or for a key that goes."""
    by = {"q": {"count": "rows", "by": "[g]", "spend": "{share: 1}"}}
    old = wages(by, keys="ann, bob")
    new = wages(by, keys="'ann → bob', '- ann'")
    (change,) = lines(old, new, "keys")
    assert '+ "ann → bob", + "- ann", - "ann", - "bob"' == change.note
