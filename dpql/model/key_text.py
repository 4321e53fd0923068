"""Texts about keys that are found: which are shown, and what becomes of the others."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from dpql.model.columns import OTHERS
from dpql.model.condition_text import condition_text
from dpql.model.figures import decimal, plural
from dpql.model.notation import name_text, plain
from dpql.model.plan import Plan, Search, Step


def finder(plan: Plan, step: Step) -> Step | None:
    """Return the step that finds the keys of a step, maybe itself; None without any."""
    if step.search is not None:
        return step
    return None if step.found_by is None else plan.step(step.found_by)


def has_others(plan: Plan, found: Step) -> bool:
    """Tell whether what a search does not show has a cell of its own."""
    return any(map(plan.spec.data.has_others, found.by))


def shown_text(plan: Plan, step: Step) -> str:
    """Return which keys a search shows, as a clause; no data are needed to know it."""
    search = step.search
    assert search is not None, "the step finds keys"
    unit = "row" if plan.spec.privacy.unit is None else "unit"
    text = f"a key {', '.join(_chances(search, step.alpha, unit))}"
    if step.where is None:
        return text
    return f"of rows where {condition_text(step.where)}, {text}"


def _chances(search: Search, alpha: Fraction, unit: str) -> Iterator[str]:
    least = search.shown_from
    if least > 1:
        yield f"with fewer than {plural(least, unit)} is never shown"
    else:
        delta = decimal(search.delta, 3, up=True)
        yield f"with 1 {unit} is shown with a probability of at most {delta}"
    if search.half < search.usual:
        yield f"with {plural(search.half, unit)} in half of the runs"
    if search.certain is None or search.usual < search.certain:
        sure = plain(100 * (1 - alpha), 6)
        yield f"from {plural(search.usual, unit)} on in {sure}%"
    if search.certain is not None:
        yield f"from {plural(search.certain, unit)} on always"


def few_words(step: Step, values: int) -> str:
    """Return what is not shown in so many values of a step whose keys are found."""
    unit = "row" if step.bound is None else "unit"
    none = "" if values else "no key is shown: "
    return f"{none}keys that few {unit}s have are not shown"


def from_text(step: Step, units: Fraction | int) -> str:
    """Return from how many units on a key is shown, as a table has room for it."""
    unit = "row" if step.bound is None else "unit"
    return f"shown from {plural(int(units), unit)} on"


def most_text(search: Search) -> str:
    """Return how many keys are shown at most."""
    return f"no more than {plural(search.most, 'key')}"


def not_shown_text(plan: Plan, step: Step) -> Iterator[str]:
    """Yield sentences on keys that are not shown, for any reader."""
    found = finder(plan, step)
    if found is None:
        return
    columns = " and ".join(map(name_text, found.by))
    few = few_words(found, 1).partition(" ")[2]
    yield f"Keys of {columns} {few}: {shown_text(plan, found)}."
    if step.search is not None:
        return
    fate = "nowhere"
    if has_others(plan, found):
        fate = f"under {OTHERS}, those without one nowhere"
    yield f"Rows whose {columns} is none of the keys that are shown count {fate}."
