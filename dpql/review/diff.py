"""What a change means: weaker, stronger, the same, or to be reviewed.

    WEAKER     the promise to the protected unit shrinks by rule
    REVIEW     something changed that a person must judge
    STRONGER   the promise grows, and nothing needs a judgement
    SAME       the same promise; only order, unread columns or accuracy changed

One change that weakens makes the whole WEAKER; next comes REVIEW. A difference that no
rule names is REVIEW, never SAME.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from dpql.model.plan import ADDED_UP, Plan, Step
from dpql.model.spec import Column, NumberColumn, Share
from dpql.planner.bind import statistic_of
from dpql.review.change import Change, Verdict
from dpql.review.diff_rules import promise_changes, step_changes
from dpql.review.explain import asked_of, used_in
from dpql.review.names import whole

_ANY_SPEND = Share(weight=Fraction(1))


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Difference:
    """All that changed between two plans; ``cosmetic`` counts what no rule judges."""

    verdict: Verdict
    old: str
    new: str
    changes: tuple[Change, ...]
    cosmetic: int

    def __repr__(self) -> str:
        return f"<{self.verdict.value}: plan {self.old[:8]} → {self.new[:8]}>"

    def __str__(self) -> str:
        from dpql.review.diff_render import as_text

        return as_text(self).rstrip("\n")

    def _repr_html_(self) -> str:
        from dpql.review.diff_render import as_html

        return as_html(self)


def diff(old: Plan, new: Plan) -> Difference:
    """Return what changed from the old plan to the new one, judged by rule."""
    changes = (
        *promise_changes(old, new),
        *step_changes(old, new),
        *_unexplained(old, new),
    )
    found = {change.verdict for change in changes}
    return Difference(
        verdict=next((v for v in Verdict if v in found), Verdict.SAME),
        old=old.digest,
        new=new.digest,
        changes=changes,
        cosmetic=_cosmetic(old, new),
    )


def _unexplained(old: Plan, new: Plan) -> Iterator[Change]:
    """Yield differences that no change found by a rule explains."""
    if old.version != new.version:
        text = f"plan format {old.version} → {new.version}"
        yield Change.of(
            Verdict.REVIEW, "format", text, "made by another version of the planner"
        )
    before = {step.name: step for step in old.steps}
    for step in new.steps:
        past = before.get(step.name)
        if past is None or _causes(old, past) != _causes(new, step):
            continue
        if _without_labels(past) != _without_labels(step):
            text = f"{whole(step.name)} is computed in another way"
            yield Change.of(Verdict.REVIEW, "other", text)
    if _frame(old) != _frame(new):
        yield Change.of(Verdict.REVIEW, "other", "the plans differ elsewhere")


def _causes(plan: Plan, step: Step) -> tuple[Any, ...]:
    """Return everything that determines a step; the rules have judged all of it."""
    spec = plan.spec
    used = spec.data.needed({*step.columns, *step.by, *asked_of(step)})
    return (
        replace(statistic_of(plan, step), spend=_ANY_SPEND),
        (
            step.statistic,
            step.columns,
            step.edges,
            step.at,
            step.condition,
            step.where,
            step.by,
            step.at_least,
            (step.total_of, step.total),
        ),
        (step.mechanism, step.epsilon, step.rho, step.alpha, step.gamma, step.accuracy),
        (step.search, step.found_by, step.delta),
        {c.name: _without_unit(c) for c in spec.data.columns if c.name in used},
        [c for c in spec.data.derived if c.name in used],
        spec.data.rows,
        replace(spec.privacy, delta=Fraction(0), epsilon=plan.epsilon),
    )


def _without_labels(step: Step) -> Step:
    return replace(step, unit=None, spend=_ANY_SPEND)


def _frame(plan: Plan) -> tuple[Any, ...]:
    """Return what a plan holds besides its steps and its spec."""
    if plan.in_rho:
        # The budget and the costs of the steps decide it, and are compared.
        return ADDED_UP, Fraction(0)
    losses = (step.loss for step in plan.steps if step.loss is not None)
    return plan.composition, plan.loss - sum(losses, Fraction(0))


def _cosmetic(old: Plan, new: Plan) -> int:
    """Count the differences in order, and in columns that nothing reads."""
    before, after = old.spec, new.spec
    count = 0
    for names in (
        [[statistic.name for statistic in spec.statistics] for spec in (before, after)],
        [[column.name for column in spec.data.columns] for spec in (before, after)],
    ):
        shared = set(names[0]) & set(names[1])
        first, second = ([name for name in side if name in shared] for side in names)
        count += first != second
    columns = {
        c.name
        for spec in (before, after)
        for c in (*spec.data.columns, *spec.data.derived)
    }
    used = used_in(old) | used_in(new)
    return count + sum(_is_reworded(old, new, name) for name in columns - used)


def _is_reworded(old: Plan, new: Plan, name: str) -> bool:
    """Tell whether a column has changed, which nothing reads."""
    before, after = (
        next((c for c in (*data.columns, *data.derived) if c.name == name), None)
        for data in (old.spec.data, new.spec.data)
    )
    return before != after


def _without_unit(column: Column) -> Column:
    return replace(column, unit=None) if isinstance(column, NumberColumn) else column
