"""Two numbers side by side, and accuracies that are known only after a run."""

from __future__ import annotations

from fractions import Fraction

from review.spec_edits import SHARE, made

from dpql.model.figures import decimal
from dpql.review.change import Change
from dpql.review.contrast import contrast
from dpql.review.diff import diff


def test_contrast_gives_up_in_words() -> None:
    """Numbers that agree in a thousand digits are still said to differ."""
    one = Fraction(1, 3)
    text = contrast(one, one + Fraction(1, 10**2000), decimal, 3)
    assert text == "0.333 → a number that differs after 1000 digits"


def test_what_both_accuracies_rest_on_is_said_once() -> None:
    """The promised rows stand beside both numbers only where they differ."""
    mean = {"mean": "y", "at_least": "50", "spend": SHARE}
    old, new = made({"q": mean}), made({"q": mean}, epsilon="2")
    (line,) = (c.text for c in diff(old, new).changes if c.subject == "accuracy")
    assert 1 == line.count("at least 50 rows")
    other = made({"q": {**mean, "at_least": "60"}})
    (line,) = (c.text for c in diff(old, other).changes if c.subject == "accuracy")
    assert (1, 1) == (line.count("at least 50 rows"), line.count("at least 60 rows"))


def accuracies(
    old: dict[str, str], new: dict[str, str], **options: str
) -> list[Change]:
    """Return what a difference says of accuracy."""
    found = diff(made({"q": old}), made({"q": new}, **options))
    return [change for change in found.changes if change.subject == "accuracy"]


def test_a_mean_is_compared_over_a_number_of_rows() -> None:
    """What is known after the run only is compared over 1 000 rows."""
    mean = {"mean": "y", "spend": SHARE}
    (change,) = accuracies(mean, mean, epsilon="2")
    assert change.text.startswith("q over 1 000 rows ± ")
    assert change.note == "better"
    (change,) = accuracies(mean, {**mean, "alpha": "0.001"})
    assert change.note == "worse"
    assert [] == accuracies(mean, mean)


def test_a_promise_that_appears_is_shown_with_its_condition() -> None:
    """Where one side is known before the run, both are shown as they are."""
    mean = {"mean": "y", "spend": SHARE}
    (change,) = accuracies(mean, {**mean, "at_least": "50"})
    assert "q known after the run → ± " in change.text
    assert change.text.endswith("if every group has at least 50 rows")
    assert change.note == ""
