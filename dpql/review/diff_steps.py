"""The rules for single statistics: what is new, gone, grouped or noised otherwise."""

from __future__ import annotations

from collections.abc import Iterator

from dpql.model.condition_text import condition_text
from dpql.model.figures import decimal, exactly, plural, rational
from dpql.model.plan import Plan, Step
from dpql.model.promised_rows import condition_words
from dpql.model.step_words import definition
from dpql.review.changes import Change, Verdict, column_name, contrast, whole
from dpql.review.explain import promise, within


def step_changes(old: Plan, new: Plan) -> tuple[Change, ...]:
    """Return what changed in single statistics."""
    before = {step.name: step for step in old.steps}
    after = {step.name: step for step in new.steps}
    changes: list[Change] = []
    for step in new.steps:
        if step.name in before:
            changes += _changed(before[step.name], step)
        else:
            changes.append(_whole(Verdict.REVIEW, "+", step))
    changes += [
        _whole(Verdict.SAME, "-", step) for step in old.steps if step.name not in after
    ]
    return tuple(changes)


def computed(plan: Plan) -> tuple[str, ...]:
    """Return what each statistic computes, as the line of a new one says it."""
    return tuple(_computed(step) for step in plan.steps)


def _whole(verdict: Verdict, mark: str, step: Step) -> Change:
    note = f"{step.mechanism}, ε {rational(step.epsilon)}, {promise(step)}"
    return Change.of(verdict, "", _computed(step), note, mark)


def _computed(step: Step) -> str:
    return f"{whole(step.name)}: {whole(definition(step))}{_bins(step)}"


def _changed(old: Step, new: Step) -> Iterator[Change]:
    name = whole(new.name)
    if _asked(old) != _asked(new):
        text = f"{name}: {_computes(old)} → {_computes(new)}"
        yield Change.of(Verdict.REVIEW, "computes", text)
    if old.where != new.where:
        text = f"{name}: {_filter(old)} → {_filter(new)}"
        yield Change.of(Verdict.REVIEW, "filter", text)
    if (old.by, old.cells) != (new.by, new.cells):
        text = f"{name}: {_groups(old)} → {_groups(new)}"
        yield Change.of(Verdict.REVIEW, "groups", text)
    if old.mechanism != new.mechanism:
        text = f"{name}: {old.mechanism} → {new.mechanism}"
        yield Change.of(Verdict.REVIEW, "mechanism", text)
    if old.at_least != new.at_least:
        text = f"{name}: {_floor(old)} → {_floor(new)}"
        note = "a promise about the data"
        yield Change.of(Verdict.REVIEW, "at_least", text, note)
    yield from _numbers(old, new, name)


def _numbers(old: Step, new: Step, name: str) -> Iterator[Change]:
    """Yield what the statistic spends and promises.

    More for a statistic that stays needs a person, whatever the total says: somebody
    learns more of this than before.
    """
    if old.epsilon != new.epsilon:
        more = new.epsilon > old.epsilon
        text = f"{name} ε {contrast(old.epsilon, new.epsilon, rational, 4)}"
        verdict = Verdict.REVIEW if more else Verdict.SAME
        yield Change.of(verdict, "spends", text)
    elif old.spend != new.spend:
        yield Change.of(Verdict.SAME, "spends", f"{name}: the same ε, asked otherwise")
    if old.alpha != new.alpha:
        text = f"{name} α {old.alpha} → {new.alpha}"
        yield Change.of(Verdict.SAME, "alpha", text)
    if old.gamma != new.gamma:
        text = f"{name} γ {contrast(old.gamma, new.gamma, decimal, 3)}"
        yield Change.of(Verdict.SAME, "gamma", text)
    if (old.accuracy, old.unit) != (new.accuracy, new.unit) and not _silent(old, new):
        text = f"{name} {_promises(old, new)}"
        note = ""
        if old.accuracy is not None and new.accuracy is not None:
            note = "worse" if new.accuracy > old.accuracy else "better"
        yield Change.of(Verdict.SAME, "accuracy", text, note)


def _promises(old: Step, new: Step) -> str:
    """Return both accuracies; what both rest on is said once."""
    rests = condition_words(new)
    if rests is None or rests != condition_words(old):
        return contrast(old, new, promise, 5)
    return f"{contrast(old, new, within, 5)}, {rests}"


def _silent(old: Step, new: Step) -> bool:
    """Tell whether neither plan states an accuracy, so that no unit is shown."""
    return old.accuracy is None and new.accuracy is None


def _asked(step: Step) -> tuple[object, ...]:
    return step.statistic, step.columns, step.edges


def _computes(step: Step) -> str:
    columns = ", ".join(map(column_name, step.columns)) or "rows"
    return f"{step.statistic.value} {columns}{_bins(step)}"


def _bins(step: Step) -> str:
    edges = ", ".join(map(exactly, step.edges))
    return f", bins [{edges}]" if edges else ""


def _filter(step: Step) -> str:
    return "all rows" if step.where is None else whole(condition_text(step.where))


def _groups(step: Step) -> str:
    if step.cells == 1 and not step.by:
        return "none"
    by = ", ".join(map(column_name, step.by)) or "bins"
    return f"{by} ({plural(step.cells, 'public key')})"


def _floor(step: Step) -> str:
    return "none" if step.at_least is None else plural(step.at_least, "row")
