"""A difference as text, Markdown, HTML and JSON."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from review.spec_edits import OLD, column, compared, privacy, statistic, unread

from dpql.model.plan import Plan
from dpql.model.spec import Spec
from dpql.planner import plan
from dpql.review.diff import Difference, diff
from dpql.review.diff_render import as_json, as_markdown, as_text


def many() -> Difference:
    """Return a difference with a bit of everything."""

    def edit(spec: Spec) -> Spec:
        spec = privacy(epsilon=Fraction(2))(spec)
        spec = column("income", upper=Fraction(500_000))(spec)
        extra = replace(spec.statistics[1], name="more", by=())
        spec = replace(spec, purpose="x", statistics=(spec.statistics[0], extra))
        return unread(statistic(0, at_least=1000)(spec))

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


def test_a_purpose_does_not_push_the_notes_aside() -> None:
    """The notes of short lines stand where they would stand without it."""

    def edit(spec: Spec) -> Spec:
        return column("income", unit="EUR")(replace(spec, purpose="x " * 400 + "y"))

    found = as_text(compared(edit)).splitlines()
    (line,) = [one for one in found if one.startswith(" ! measure")]
    assert len(line) < 80
