"""The rules by which two plans are compared: what changed, and how grave it is.

First what concerns the whole release (budget, unit, source, columns), then each
statistic (what is new or gone, and what is grouped or noised in another way).
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from dpql.model.condition_text import condition_text
from dpql.model.figures import amount_text, decimal, exactly, plural, rational, times
from dpql.model.notation import quoted, unit_text
from dpql.model.plan import Plan, Step
from dpql.model.spec import (
    Privacy,
    Rows,
    RowsExactly,
    Spec,
)
from dpql.model.step_text import contributes_text
from dpql.review.change import Change, Verdict
from dpql.review.contrast import accuracy_change, contrast
from dpql.review.diff_columns import column_changes
from dpql.review.diff_keys import search_changes
from dpql.review.explain import promise
from dpql.review.names import column_name, whole
from dpql.statistics import STATISTICS
from dpql.statistics.definition import definition


def promise_changes(old: Plan, new: Plan) -> tuple[Change, ...]:
    """Return what changed apart from single statistics."""
    return (
        *_budget(old, new),
        *_title(old, new),
        *_privacy(old.spec.privacy, new.spec.privacy),
        *_source(old, new),
        *column_changes(old, new),
        *_contributions(old.spec, new.spec),
    )


def _budget(old: Plan, new: Plan) -> Iterator[Change]:
    if (old.epsilon, old.spent) != (new.epsilon, new.spent):
        weaker = new.spent > old.spent or new.epsilon > old.epsilon
        text = f"ε {contrast(old, new, _amount, 4)}"
        same = old.spent == new.spent
        odds = "" if same else contrast(old.spent, new.spent, times, 3)
        note = f"e^ε {odds or times(new.spent)}"
        verdict = Verdict.WEAKER if weaker else Verdict.STRONGER
        yield Change.of(verdict, "budget", text, note)
    if old.delta != new.delta:
        verdict = Verdict.WEAKER if new.delta > old.delta else Verdict.STRONGER
        text = f"δ {contrast(old.delta, new.delta, decimal, 4)}"
        yield Change.of(verdict, "delta", text)
    if old.in_rho != new.in_rho:
        text = "the steps share a ρ" if new.in_rho else "the steps share ε again"
        yield Change.of(Verdict.REVIEW, "accounts", text, new.composition)


def _title(old: Plan, new: Plan) -> Iterator[Change]:
    """Yield changes of name and purpose: an approval may depend on them."""
    if old.spec.release != new.spec.release:
        text = f"{whole(old.spec.release)} → {whole(new.spec.release)}"
        yield Change.of(Verdict.REVIEW, "release", text, "another name")
    if old.spec.purpose != new.spec.purpose:
        texts = [whole(quoted(plan.spec.purpose)) for plan in (old, new)]
        yield Change.of(Verdict.REVIEW, "purpose", " → ".join(texts))


def _amount(plan: Plan, digits: int) -> str:
    if plan.spent == plan.epsilon:
        return rational(plan.epsilon, digits)
    return f"{rational(plan.spent, digits)} of {rational(plan.epsilon, digits)}"


def _privacy(old: Privacy, new: Privacy) -> Iterator[Change]:
    if old.unit != new.unit:
        names = [whole(unit_text(unit)) for unit in (old.unit, new.unit)]
        verdict, note = Verdict.REVIEW, "another unit is protected"
        if new.unit is None:
            verdict, note = Verdict.WEAKER, "single rows are protected, no whole unit"
        elif old.unit is None:
            verdict, note = Verdict.STRONGER, "whole units are protected"
        yield Change.of(verdict, "unit", " → ".join(names), note)
    if old.neighbours is not new.neighbours:
        text = f"{old.neighbours.value} → {new.neighbours.value}"
        note = "another promise; neither implies the other"
        yield Change.of(Verdict.REVIEW, "neighbours", text, note)
    if old.contributes != new.contributes:
        text = " → ".join(map(contributes_text, (old.contributes, new.contributes)))
        note = "how many rows of a unit are used"
        yield Change.of(Verdict.REVIEW, "contributes", text, note)


def _contributions(old: Spec, new: Spec) -> Iterator[Change]:
    """Yield the statistics for which a unit counts in another way than for others."""
    if old.privacy.unit is None or new.privacy.unit is None:
        return
    before = {one.name: one for one in old.statistics}
    for statistic in new.statistics:
        same = before.get(statistic.name)
        if same is None or same.contributes == statistic.contributes:
            continue
        bounds = old.contributes(same), new.contributes(statistic)
        if bounds[0] != bounds[1]:
            text = " → ".join(map(contributes_text, bounds))
            note = "how many rows of a unit are used"
            yield Change.of(
                Verdict.REVIEW, "contributes", f"{whole(statistic.name)}: {text}", note
            )


def _source(old: Plan, new: Plan) -> Iterator[Change]:
    before, after = old.spec.data, new.spec.data
    if before.source != after.source:
        text = f"{whole(before.source)} → {whole(after.source)}"
        yield Change.of(Verdict.REVIEW, "source", text, "another source of data")
    if before.rows != after.rows:
        text = f"{_rows(before.rows)} → {_rows(after.rows)}"
        yield Change.of(Verdict.REVIEW, "rows", text)
    if old.spec.signer != new.spec.signer:
        text = f"{_signer(old)} → {_signer(new)}"
        yield Change.of(Verdict.REVIEW, "signer", text)


def _rows(rows: Rows) -> str:
    word = "exactly" if isinstance(rows, RowsExactly) else "at most"
    return f"{word} {decimal(Fraction(rows.count), 1)}"


def _signer(plan: Plan) -> str:
    return "none" if plan.spec.signer is None else whole(quoted(plan.spec.signer))


def step_changes(old: Plan, new: Plan) -> tuple[Change, ...]:
    """Return what changed in single statistics."""
    before = {step.name: step for step in old.steps}
    after = {step.name: step for step in new.steps}
    changes: list[Change] = []
    for step in new.steps:
        if step.name in before:
            changes += _changed((old, new), before[step.name], step)
        else:
            changes.append(_added_or_gone(Verdict.REVIEW, "+", step))
    changes += [
        _added_or_gone(Verdict.SAME, "-", step)
        for step in old.steps
        if step.name not in after
    ]
    return tuple(changes)


def computed(plan: Plan) -> tuple[str, ...]:
    """Return what each statistic computes, as in the line of a new one."""
    return tuple(_computed(step) for step in plan.steps)


def _added_or_gone(verdict: Verdict, mark: str, step: Step) -> Change:
    spends = amount_text(step.epsilon, step.rho)
    note = f"{step.mechanism}, {spends}, {promise(step)}"
    return Change.of(verdict, "", _computed(step), note, mark)


def _computed(step: Step) -> str:
    return f"{whole(step.name)}: {whole(definition(step))}{_bins(step)}"


def _changed(plans: tuple[Plan, Plan], old: Step, new: Step) -> Iterator[Change]:
    name = whole(new.name)
    if _computed_from(old) != _computed_from(new):
        text = f"{name}: {_computes(old)} → {_computes(new)}"
        yield Change.of(Verdict.REVIEW, "computes", text)
    if old.where != new.where:
        text = f"{name}: {_filter(old)} → {_filter(new)}"
        yield Change.of(Verdict.REVIEW, "filter", text)
    if (old.by, old.cells, old.per_key) != (new.by, new.cells, new.per_key):
        text = f"{name}: {_groups(old)} → {_groups(new)}"
        yield Change.of(Verdict.REVIEW, "groups", text)
    if old.mechanism != new.mechanism:
        text = f"{name}: {old.mechanism} → {new.mechanism}"
        yield Change.of(Verdict.REVIEW, "mechanism", text)
    if old.at_least != new.at_least:
        text = f"{name}: {_floor(old)} → {_floor(new)}"
        note = "a promise about the data"
        yield Change.of(Verdict.REVIEW, "at_least", text, note)
    yield from search_changes(old, new)
    yield from _numbers(plans, old, new, name)


def _spends(step: Step) -> tuple[str, Fraction]:
    """Return the sign and the amount of what a step spends."""
    return ("ρ" if step.epsilon is None else "ε"), step.amount


def _amount_of(step: Step) -> str:
    return amount_text(step.epsilon, step.rho)


def _numbers(
    plans: tuple[Plan, Plan], old: Step, new: Step, name: str
) -> Iterator[Change]:
    """Yield what the statistic spends and promises.

    A statistic that stays and spends more needs a person, whatever the total is: it
    reveals more than before.
    """
    before, after = _spends(old), _spends(new)
    if before != after:
        more = before[0] != after[0] or after[1] > before[1]
        text = f"{name} {before[0]} {contrast(before[1], after[1], rational, 4)}"
        if before[0] != after[0]:
            text = f"{name} {_amount_of(old)} → {_amount_of(new)}"
        verdict = Verdict.REVIEW if more else Verdict.SAME
        yield Change.of(verdict, "spends", text)
    elif old.spend != new.spend:
        yield Change.of(
            Verdict.SAME,
            "spends",
            f"{name}: the same {before[0]}, requested in another way",
        )
    if old.alpha != new.alpha:
        text = f"{name} α {old.alpha} → {new.alpha}"
        yield Change.of(Verdict.SAME, "alpha", text)
    if old.gamma != new.gamma:
        text = f"{name} γ {contrast(old.gamma, new.gamma, decimal, 3)}"
        yield Change.of(Verdict.SAME, "gamma", text)
    found = accuracy_change(plans, old, new)
    if found is not None:
        text, note = found
        yield Change.of(Verdict.SAME, "accuracy", f"{name} {text}", note)


def _computed_from(step: Step) -> tuple[object, ...]:
    asked = step.at, step.condition, step.total_of
    return step.statistic, step.columns, step.edges, *asked


def _computes(step: Step) -> str:
    if step.total_of is not None:
        return f"total {whole(step.total_of)}"
    kind = STATISTICS[step.statistic]
    columns = ", ".join(map(column_name, step.columns)) or kind.subject
    if step.condition is not None:
        columns = whole(condition_text(step.condition))
    at = f" at {', '.join(map(str, step.at))}" if step.at else ""
    return f"{kind.keyword} {columns}{at}{_bins(step)}"


def _bins(step: Step) -> str:
    edges = ", ".join(map(exactly, step.edges))
    return f", bins [{edges}]" if edges else ""


def _filter(step: Step) -> str:
    return "all rows" if step.where is None else whole(condition_text(step.where))


def _groups(step: Step) -> str:
    if step.cells == 1 and not step.by:
        return "none"
    by = ", ".join(map(column_name, step.by)) or "bins"
    if step.per_key:
        return f"{by} ({plural(step.cells, 'cell')} for each key that is found)"
    return f"{by} ({plural(step.cells, 'public key')})"


def _floor(step: Step) -> str:
    return "none" if step.at_least is None else plural(step.at_least, "row")
