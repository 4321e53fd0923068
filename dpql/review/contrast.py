"""Two numbers, and two promises of accuracy, side by side."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import TypeVar

from dpql.model.figures import plural, within_text
from dpql.model.plan import Plan, Step
from dpql.model.promised_rows import condition_words
from dpql.review.alternatives import error_at
from dpql.review.explain import SAMPLES, promise, within

_MOST_DIGITS = 1_000

_T = TypeVar("_T")


def contrast(old: _T, new: _T, show: Callable[[_T, int], str], digits: int) -> str:
    """Return `old → new` in ``digits`` digits, or in as many as tell them apart."""
    more = digits
    while more <= _MOST_DIGITS:
        before, after = show(old, more), show(new, more)
        if before != after:
            return f"{before} → {after}"
        more *= 2
    return f"{show(old, digits)} → a number that differs after {_MOST_DIGITS} digits"


def accuracy_change(
    plans: tuple[Plan, Plan], old: Step, new: Step
) -> tuple[str, str] | None:
    """Return both accuracies and which is better, None where they are the same.

    Where neither is known before the run, both are those over a number of rows.
    """
    if old.names_only and new.names_only:
        # From how many units on keys are shown is compared for itself.
        return None
    if old.accuracy is None and new.accuracy is None:
        return _over_rows(plans, old, new)
    if (old.accuracy, old.accuracy_unit) == (new.accuracy, new.accuracy_unit):
        return None
    return _promises(old, new), _better(old.accuracy, new.accuracy)


def _over_rows(
    plans: tuple[Plan, Plan], old: Step, new: Step
) -> tuple[str, str] | None:
    rows = min(SAMPLES[0], *(plan.spec.data.rows.count for plan in plans))
    errors = [
        error_at(plan, step, step.mechanism, step.amount, rows=rows)
        for plan, step in zip(plans, (old, new), strict=True)
    ]
    if None in errors or errors[0] == errors[1]:
        return None

    def show(error: tuple[Fraction, Step], digits: int) -> str:
        return within_text(error[0], error[1].accuracy_unit, digits)

    before, after = (error or Fraction(0) for error in errors)
    text = contrast((before, old), (after, new), show, 5)
    return f"over {plural(rows, 'row')} {text}", _better(before, after)


def _better(old: Fraction | None, new: Fraction | None) -> str:
    if old is None or new is None:
        return ""
    return "worse" if new > old else "better"


def _promises(old: Step, new: Step) -> str:
    """Return both accuracies; a condition that both share is stated once."""
    condition = condition_words(new)
    if condition is None or condition != condition_words(old):
        return contrast(old, new, promise, 5)
    return f"{contrast(old, new, within, 5)}, {condition}"
