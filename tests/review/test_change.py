"""One difference, and how grave it is."""

from __future__ import annotations

from dpql.review.change import Change, Verdict


def test_what_a_person_must_look_at_is_marked() -> None:
    """Weaker promises, and what needs review, have a mark; a given one is kept."""
    marks = {one: Change.of(one, "x", "y").mark for one in Verdict}
    assert {
        Verdict.WEAKER: "!",
        Verdict.REVIEW: "!",
        Verdict.STRONGER: " ",
        Verdict.SAME: " ",
    } == marks
    assert "+" == Change.of(Verdict.REVIEW, "x", "y", mark="+").mark
