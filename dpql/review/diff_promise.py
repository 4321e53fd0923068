"""The rules for what concerns the whole release: budget, unit, source, columns."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from dpql.model.figures import decimal, exactly, plural, rational, times
from dpql.model.notation import measure_text, quoted, unit_text
from dpql.model.plan import Plan
from dpql.model.spec import (
    CategoryColumn,
    Column,
    FillNulls,
    NumberColumn,
    Privacy,
    Rows,
    RowsExactly,
)
from dpql.review.changes import Change, Verdict, column_name, contrast, whole
from dpql.review.explain import reads

_SHOWN = 3
"""Keys that a change of keys names; the others are counted."""


def promise_changes(old: Plan, new: Plan) -> tuple[Change, ...]:
    """Return what changed apart from single statistics."""
    return (
        *_budget(old, new),
        *_title(old, new),
        *_privacy(old.spec.privacy, new.spec.privacy),
        *_source(old, new),
        *_columns(old, new),
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
        yield Change.of(verdict, "delta", f"δ {old.delta} → {new.delta}")


def _title(old: Plan, new: Plan) -> Iterator[Change]:
    """Yield what the author says of the whole: a permission may rest on it."""
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
        text = " → ".join(
            f"{plural(c.rows, 'row')} in {plural(c.groups, 'group')}"
            for c in (old.contributes, new.contributes)
        )
        note = "how much of a unit is used"
        yield Change.of(Verdict.REVIEW, "contributes", text, note)


def _source(old: Plan, new: Plan) -> Iterator[Change]:
    before, after = old.spec.data, new.spec.data
    if before.source != after.source:
        text = f"{whole(before.source)} → {whole(after.source)}"
        yield Change.of(Verdict.REVIEW, "source", text, "other data")
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


def _columns(old: Plan, new: Plan) -> Iterator[Change]:
    before, after = reads(old), reads(new)
    for name in after:
        if name in before:
            yield from _column(old.spec.data.column(name), new.spec.data.column(name))
        else:
            text = f"+ {column_name(name)}"
            yield Change.of(Verdict.REVIEW, "reads", text, "newly read column")
    for name in before:
        if name not in after:
            text = f"- {column_name(name)}"
            yield Change.of(Verdict.STRONGER, "reads", text, "no longer read")


def _column(old: Column, new: Column) -> Iterator[Change]:
    name = column_name(new.name)
    if isinstance(old, CategoryColumn) and isinstance(new, CategoryColumn):
        if old.keys != new.keys:
            text = f"{name}, {plural(len(old.keys), 'key')} → {len(new.keys)}"
            if len(old.keys) == len(new.keys):
                text = f"{name}, {plural(len(old.keys), 'key')}, not as before"
            more = [_key("+", key) for key in new.keys if key not in old.keys]
            gone = [_key("-", key) for key in old.keys if key not in new.keys]
            note = ", ".join([*_few(more), *_few(gone)])
            yield Change.of(Verdict.REVIEW, "keys", text, note or "another order")
    elif isinstance(old, NumberColumn) and isinstance(new, NumberColumn):
        if (old.lower, old.upper) != (new.lower, new.upper):
            text = f"{name} {_interval(old)} → {_interval(new)}"
            yield Change.of(Verdict.REVIEW, "bounds", text)
        if (old.type, old.step) != (new.type, new.step):
            text = f"{name} {_grain(old)} → {_grain(new)}"
            yield Change.of(Verdict.REVIEW, "type", text)
        if old.unit != new.unit:
            text = f"{name}: {_measure(old)} → {_measure(new)}"
            note = "another unit of measure"
            yield Change.of(Verdict.REVIEW, "measure", text, note)
        if old.nulls != new.nulls:
            text = f"{name} {_nulls(old)} → {_nulls(new)}"
            yield Change.of(Verdict.REVIEW, "nulls", text)
    elif type(old) is not type(new):
        yield Change.of(Verdict.REVIEW, "type", f"{name} is of another kind")


def _key(mark: str, key: str) -> str:
    return f"{mark} {whole(quoted(key))}"


def _few(keys: list[str]) -> list[str]:
    hidden = len(keys) - _SHOWN
    return keys if hidden <= 0 else [*keys[:_SHOWN], f"{keys[0][0]} {hidden} more"]


def _interval(column: NumberColumn) -> str:
    return f"[{exactly(column.lower)}, {exactly(column.upper)}]"


def _measure(column: NumberColumn) -> str:
    # A unit of two words would stand in quotes.
    return "no unit" if column.unit is None else whole(measure_text(column.unit))


def _grain(column: NumberColumn) -> str:
    step = "" if column.step is None else f" by {exactly(column.step)}"
    return f"{column.type.value}{step}"


def _nulls(column: NumberColumn) -> str:
    if isinstance(column.nulls, FillNulls):
        return f"as {exactly(column.nulls.value)}"
    return "drop"
