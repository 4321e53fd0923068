"""Warnings about what a plan may do but hardly anybody intends."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from dpql.model.condition_text import condition_text
from dpql.model.figures import decimal, within_text
from dpql.model.notation import unit_text
from dpql.model.plan import Plan, Step
from dpql.model.spec import IdColumn
from dpql.model.vacuous import promises_nothing
from dpql.review.alternatives import error_at
from dpql.review.names import column_name, whole
from dpql.review.never import Verdict, never_true

_NOTED = 50
"""Plans with more steps are not priced anew for every one of them."""

_KLEENE_FROM = 4
"""The first format of plans whose conditions can be null."""


def cautions(plan: Plan) -> list[str]:
    """Return warnings about what is allowed but hardly intended."""
    return [
        *_unprotected(plan),
        *_large_delta(plan),
        *(words for step in plan.steps for words in _filters(plan, step)),
        *(words for step in plan.steps for words in _worthless(plan, step)),
    ]


def _large_delta(plan: Plan) -> Iterator[str]:
    """Yield a warning where some row in the data may be revealed by chance."""
    rows = plan.spec.data.rows.count
    if plan.delta_spent * rows >= 1:
        yield (
            f"δ = {decimal(plan.delta_spent, 3, up=True)} is one in as many as there "
            "are rows, or more: the promise would allow one of them to be revealed "
            "now and then; write a δ far below one over their number."
        )


def losses(plan: Plan) -> list[str]:
    """Return a warning where statistics have more cells than a unit may fill."""
    if plan.spec.privacy.unit is None:
        return []
    unit = whole(unit_text(plan.spec.privacy.unit))
    words = []
    private = [step for step in plan.steps if step.per_key and step.bound is not None]
    if private:
        reached = max(step.bound.cells for step in private if step.bound is not None)
        words.append(
            f"How many keys a {unit} has nobody knows: it counts for at most {reached} "
            "of them, chosen by lot, and keys are shown by the units that then count."
        )
    short = [
        f"{whole(step.name)} (1 of {step.cells})"
        if step.bound.cells == 1
        else f"{whole(step.name)} ({step.bound.cells} of {step.cells})"
        for step in plan.steps
        if step.bound is not None and step.bound.cells < step.cells and not step.per_key
    ]
    if not short:
        return words
    words.append(
        f"A {unit} counts in fewer groups than there are: {', '.join(short)}. Rows of "
        "one in further groups are dropped, and no interval shows that; `dpql "
        "preflight` tells the owner how many."
    )
    return words


def _unprotected(plan: Plan) -> Iterator[str]:
    for column in plan.spec.data.columns:
        if isinstance(column, IdColumn) and plan.spec.privacy.unit is None:
            yield (
                f"{column_name(column.name)} is declared an id, but the unit is a row: "
                "someone with many rows is protected less."
            )


def _filters(plan: Plan, step: Step) -> Iterator[str]:
    """Yield why no row passes a filter; what is released is noise alone."""
    if step.where is None or plan.version < _KLEENE_FROM:
        return
    verdict = never_true(step.where, plan.spec.data)
    where = whole(condition_text(step.where))
    if verdict is Verdict.CONTRADICTION:
        yield f"{whole(step.name)}: no row can pass `{where}`, it contradicts itself."
    elif verdict is Verdict.BOUNDS:
        yield (
            f"{whole(step.name)}: no value inside the declared bounds and keys passes "
            f"`{where}`."
        )


def _worthless(plan: Plan, step: Step) -> Iterator[str]:
    """Yield where noise is as wide as what was known before."""
    name, unit = whole(step.name), step.accuracy_unit
    most = plan.spec.data.rows.count
    if step.search is not None and step.search.half > most:
        yield (
            f"{name}: a key is shown in half of the runs from {step.search.half} on, "
            f"and there are at most {most} rows: hardly any will be; spend more on it, "
            "or write a larger δ."
        )
    if step.names_only:
        return
    if step.accuracy is not None:
        if promises_nothing(step):
            yield (
                f"{name}: {within_text(step.accuracy, unit)} is as wide as the whole "
                "range that is possible, so its values will say nothing; spend more on "
                "it, or ask for fewer groups."
            )
        return
    if len(plan.steps) > _NOTED:
        return
    error = error_at(plan, step, step.mechanism, step.amount, rows=most)
    if error is not None and error * 2 >= step.upper - step.lower > Fraction(0):
        yield (
            f"{name}: even over all {most} rows its interval would be the whole range "
            "that is possible, so its values will say nothing; spend more on it."
        )
