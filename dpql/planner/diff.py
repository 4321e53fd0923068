"""What a change means: weaker, stronger, the same, or for a person to judge.

    WEAKER     the promise to the protected unit shrinks by rule
    REVIEW     something changed that no rule can weigh
    STRONGER   the promise grows, and nothing needs a judgement
    SAME       the same promise; at most wording and numbers of accuracy changed

One change that weakens makes the whole WEAKER; next comes REVIEW. A difference that no
rule names is REVIEW, never SAME.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from dpql.model.plan import Plan
from dpql.model.spec import Column, NumberColumn
from dpql.planner.changes import Change, Verdict
from dpql.planner.diff_promise import promise_changes
from dpql.planner.diff_steps import step_changes
from dpql.planner.explain import reads


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """All that changed between two plans; ``cosmetic`` counts changes of wording."""

    verdict: Verdict
    old: str
    new: str
    changes: tuple[Change, ...]
    cosmetic: int

    def __str__(self) -> str:
        from dpql.planner.diff_render import as_text

        return as_text(self).rstrip("\n")


def diff(old: Plan, new: Plan) -> Difference:
    """Return what changed from the old plan to the new one, judged by rule."""
    changes = (*promise_changes(old, new), *step_changes(old, new))
    if not changes and _meaning(old) != _meaning(new):
        changes = (Change.of(Verdict.REVIEW, "other", "the plans differ elsewhere"),)
    found = {change.verdict for change in changes}
    return Difference(
        verdict=next((v for v in Verdict if v in found), Verdict.SAME),
        old=old.digest,
        new=new.digest,
        changes=changes,
        cosmetic=_cosmetic(old, new),
    )


def _meaning(plan: Plan) -> Any:
    """Return all of a plan but its wording: names, order, columns that are not read."""
    spec, used = plan.spec, reads(plan)
    columns = [_unlabelled(c) for c in spec.data.columns if c.name in used]
    steps = [replace(step, unit=None) for step in plan.steps]
    return (
        replace(
            spec,
            release="",
            purpose="",
            data=replace(spec.data, columns=()),
            statistics=(),
        ),
        sorted(columns, key=lambda column: column.name),
        sorted(spec.statistics, key=lambda ask: ask.name),
        sorted(steps, key=lambda step: step.name),
        (plan.epsilon, plan.delta, plan.spent, plan.loss),
    )


def _cosmetic(old: Plan, new: Plan) -> int:
    """Count the differences in wording."""
    before, after = old.spec, new.spec
    count = (before.release != after.release) + (before.purpose != after.purpose)
    for names in (
        [[ask.name for ask in spec.statistics] for spec in (before, after)],
        [[column.name for column in spec.data.columns] for spec in (before, after)],
    ):
        shared = set(names[0]) & set(names[1])
        first, second = ([name for name in side if name in shared] for side in names)
        count += first != second
    columns = {c.name for spec in (before, after) for c in spec.data.columns}
    return count + sum(_reworded(old, new, name) for name in columns)


def _reworded(old: Plan, new: Plan, name: str) -> bool:
    """Tell whether a column says otherwise what no rule judges."""
    before, after = (
        next((c for c in plan.spec.data.columns if c.name == name), None)
        for plan in (old, new)
    )
    if name not in reads(old) and name not in reads(new):
        return before != after
    labels = [c.unit for c in (before, after) if isinstance(c, NumberColumn)]
    return len(set(labels)) > 1


def _unlabelled(column: Column) -> Column:
    return replace(column, unit=None) if isinstance(column, NumberColumn) else column
