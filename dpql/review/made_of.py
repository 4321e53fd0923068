"""How every statistic of a plan is made: of which parts and rows, for which cells."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from dpql.model.condition_text import condition_text
from dpql.model.figures import amount_text, decimal, percent, plural, rational
from dpql.model.plan import Chosen, PartsOfOne, Plan, Step
from dpql.model.step_text import rank_text
from dpql.review.found_keys import found_notes, reach_text
from dpql.review.names import whole
from dpql.statistics import STATISTICS
from dpql.statistics.definition import has_public_phrase, phrase


def made_of(plan: Plan, step: Step) -> list[str]:
    """Return what a reviewer must know of how a statistic is computed."""
    notes = []
    name = whole(step.name)
    if STATISTICS[step.statistic].public_phrase:
        known = "public" if has_public_phrase(step) else "private"
        notes.append(f"{name}: the {whole(phrase(step))}, because n is {known}.")
    if step.where is not None:
        notes.append(f"{name}: only rows where {whole(condition_text(step.where))}.")
    if step.total_of is not None:
        notes.append(
            f"{name}: all groups of {whole(step.total_of)} added up, with noise of its "
            "own. What both then differ by is shared out among them, so that the "
            "groups add up; it costs nothing, and the noisy numbers are kept."
        )
    if isinstance(step.readout, PartsOfOne):
        names = ", ".join(part.measure.name for part in step.parts)
        notes.append(
            f"{name}: made of the parts {names}, which share one sensitivity: a row "
            f"adds {decimal(step.readout.per_row, 9)} to all of them together, so "
            f"each has the whole {amount_text(step.epsilon, step.rho)}."
        )
    elif isinstance(step.readout, Chosen):
        notes += [f"{name}: {text}." for text in _chosen(step, step.readout)]
    elif len(step.parts) > 1:
        parts = ", ".join(
            f"{part.measure.name} ({amount_text(part.epsilon, part.rho)})"
            for part in step.parts
        )
        notes.append(f"{name}: computed from noisy parts: {parts}.")
    notes += [f"{name}: {text}." for text in found_notes(plan, step)]
    if step.search is not None:
        notes.append(f"{name}: {reach_text(step, step.search)}.")
    elif step.l0 > 1 and step.epsilon is None:
        notes.append(f"{name}: {_squares(step)}.")
    elif step.l0 > 1:
        notes.append(f"{name}: {_reach(step)}.")
    return notes


def _chosen(step: Step, readout: Chosen) -> Iterator[str]:
    """Yield what is chosen, and what is promised of its ranks."""
    assert step.accuracy is not None, "ranks are promised without the data"
    count = decimal(Fraction(readout.candidates), 1)
    yield f"chosen by rank among {count} values between its bounds"
    sure, off = percent(1 - step.alpha), decimal(step.accuracy, 5, up=True)
    yield f"with probability {sure} {whole(rank_text(step, off))}"
    if step.accuracy_all is not None and step.cells > 1:
        everywhere = decimal(step.accuracy_all, 5, up=True)
        yield (
            f"in all {step.cells} groups at once with {everywhere} in place of {off}"
        )
    farthest = step.accuracy * 2
    yield (
        f"the value of a group with hardly more than {decimal(farthest, 2, up=True)} "
        "rows says little: release a count beside it"
    )


def _squares(step: Step) -> str:
    """Return how far one unit reaches, where changes are measured in squares."""
    (part,) = step.parts
    measure = part.measure
    assert measure.squared is not None, "the noise hides a change in squares"
    times_ = Fraction(measure.squared, measure.sensitivity**2)
    return (
        f"one unit can change {plural(step.l0, 'cell')} by up to "
        f"{plural(measure.sensitivity, 'step')}, with a sum of "
        f"squares of {decimal(times_, 6, up=True)} times the square of that: all cells "
        "together cost its ρ once"
    )


def _reach(step: Step) -> str:
    """Return how many cells one unit reaches, and what is left for each.

    A unit that is replaced can change one cell twice, so there may be more changes
    than cells.
    """
    change = plural(step.l0, "cell")
    few = step.l0 > step.cells and not step.per_key
    if few or (step.bound is not None and step.bound.total):
        change = f"its cells by {step.l0} times the sensitivity in all"
    each = [
        f"ε {rational(part.epsilon / part.measure.l0)}"
        + (f" ({part.measure.name})" if len(step.parts) > 1 else "")
        for part in step.parts
        if part.epsilon is not None
    ]
    spends = ", ".join(each)
    return f"one unit can change {change}, so each cell's noise spends {spends}"
