"""The rules by which the columns of two plans are compared, declared and derived."""

from __future__ import annotations

from collections.abc import Iterator

from dpql.model.calendar import STEPS, date_text, time_text, zone_text
from dpql.model.expression import Expression
from dpql.model.figures import exactly, plural
from dpql.model.notation import measure_text, quoted
from dpql.model.plan import Plan
from dpql.model.spec import (
    BooleanColumn,
    CategoryColumn,
    Column,
    DateColumn,
    FillNulls,
    NumberColumn,
    TimeColumn,
)
from dpql.review.change import Change, Verdict
from dpql.review.derived import derived_lines, expression_text
from dpql.review.diff_keys import Keyed, keys_changes
from dpql.review.explain import reads, used_in
from dpql.review.names import column_name, whole

_Valued = NumberColumn | BooleanColumn | DateColumn | TimeColumn

_SHOWN = 3
"""How many keys a change lists; the others are only counted."""


def column_changes(old: Plan, new: Plan) -> Iterator[Change]:
    """Yield what is read in another way, or newly, or no longer."""
    before, after = reads(old), reads(new)
    for name in after:
        if name in before:
            declared = (_declared(plan, name) for plan in (old, new))
            yield from _column(*declared)
        else:
            text = f"+ {column_name(name)}"
            yield Change.of(Verdict.REVIEW, "reads", text, "newly read column")
    for name in before:
        if name not in after:
            text = f"- {column_name(name)}"
            yield Change.of(Verdict.STRONGER, "reads", text, "no longer read")
    yield from _derived(old, new)


def _declared(plan: Plan, name: str) -> Column:
    return next(column for column in plan.spec.data.columns if column.name == name)


def _derived(old: Plan, new: Plan) -> Iterator[Change]:
    """Yield the derived columns that are new, or computed in another way.

    Only of those that a run computes; what they newly read has been noted.
    """
    before, after = _computed(old), _computed(new)
    lines = {line.name: line for line in derived_lines(new.spec.data)}
    for name, expression in after.items():
        was = before.get(name)
        if was is None:
            text = f"+ {lines[name]}"
            yield Change.of(Verdict.REVIEW, "derived", text, "newly computed")
        elif was != expression:
            texts = [whole(expression_text(one)) for one in (was, expression)]
            note = "" if texts[0] != texts[1] else "they differ farther on"
            text = f"{column_name(name)}: {' → '.join(texts)}"
            yield Change.of(Verdict.REVIEW, "derived", text, note)
    for name in sorted(before.keys() - after.keys()):
        text = f"- {column_name(name)}"
        yield Change.of(Verdict.SAME, "derived", text, "no longer computed")


def _computed(plan: Plan) -> dict[str, Expression]:
    """Return the derived columns that a run computes."""
    used, derived = used_in(plan), plan.spec.data.derived
    return {one.name: one.expression for one in derived if one.name in used}


def _column(old: Column, new: Column) -> Iterator[Change]:
    if isinstance(old, Keyed) and isinstance(new, Keyed):
        yield from keys_changes(old, new)
    elif type(old) is not type(new):
        text = f"{column_name(new.name)} has another type"
        yield Change.of(Verdict.REVIEW, "type", text)
    if isinstance(old, CategoryColumn) and isinstance(new, CategoryColumn):
        yield from _keys(old, new)
    elif isinstance(old, _Valued) and isinstance(new, _Valued):
        yield from _values(old, new)


def _keys(old: CategoryColumn, new: CategoryColumn) -> Iterator[Change]:
    name = column_name(new.name)
    first, second = old.declared, new.declared
    if first != second:
        text = f"{name}, {plural(len(first), 'key')} → {len(second)}"
        if len(first) == len(second):
            text = f"{name}, {plural(len(first), 'key')}, changed"
        before, after = set(first), set(second)
        more = [_key("+", key) for key in second if key not in before]
        gone = [_key("-", key) for key in first if key not in after]
        note = ", ".join([*_few(more), *_few(gone)])
        yield Change.of(Verdict.REVIEW, "keys", text, note or "another order")
    if old.numeric != new.numeric:
        kinds = ["numbers" if one.numeric else "texts" for one in (old, new)]
        text = f"{name}, compared as {' → '.join(kinds)}"
        yield Change.of(Verdict.REVIEW, "keys", text)
    if old.digest != new.digest:
        files = [(one.digest or "the spec")[:8] for one in (old, new)]
        text = f"{name}, from {' → '.join(files)}"
        note = "where the keys stand"
        yield Change.of(Verdict.SAME, "keys", text, note)


def _values(old: _Valued, new: _Valued) -> Iterator[Change]:
    """Yield what differs in two columns of one type that hold values."""
    name = column_name(new.name)
    for subject, show in (("bounds", _interval), ("type", _grain)):
        if show(old) != show(new):
            text = f"{name} {show(old)} → {show(new)}"
            yield Change.of(Verdict.REVIEW, subject, text)
    if _measure(old) != _measure(new):
        text = f"{name}: {_measure(old)} → {_measure(new)}"
        yield Change.of(Verdict.REVIEW, "measure", text, "another unit of measure")
    if old.nulls != new.nulls:
        text = f"{name} {_nulls(old)} → {_nulls(new)}"
        yield Change.of(Verdict.REVIEW, "nulls", text)


def _key(mark: str, key: str) -> str:
    return f"{mark} {whole(quoted(key))}"


def _few(keys: list[str]) -> list[str]:
    hidden = len(keys) - _SHOWN
    return keys if hidden <= 0 else [*keys[:_SHOWN], f"{keys[0][0]} {hidden} more"]


def _interval(column: _Valued) -> str:
    match column:
        case NumberColumn():
            return f"[{exactly(column.lower)}, {exactly(column.upper)}]"
        case BooleanColumn():
            return ""
        case DateColumn():
            return f"[{date_text(column.first)}, {date_text(column.last)}]"
        case TimeColumn():
            return f"[{time_text(column.first)}, {time_text(column.last)}]"


def _measure(column: _Valued) -> str:
    unit = column.unit if isinstance(column, NumberColumn) else None
    # A unit of two words would stand in quotes.
    return "no unit" if unit is None else whole(measure_text(unit))


def _grain(column: _Valued) -> str:
    match column:
        case NumberColumn():
            step = "" if column.step is None else f" by {exactly(column.step)}"
            return f"{column.type.value}{step}"
        case TimeColumn():
            step = next(word for word, step in STEPS.items() if step == column.step)
            return f"time by {step} at {zone_text(column.zone)}"
        case BooleanColumn() | DateColumn():
            return ""


def _nulls(column: _Valued) -> str:
    if not isinstance(column.nulls, FillNulls):
        return "drop"
    value = column.nulls.value
    match column:
        case NumberColumn():
            return f"as {exactly(value)}"
        case BooleanColumn():
            return "as true" if value else "as false"
        case DateColumn():
            return f"as {date_text(int(value))}"
        case TimeColumn():
            return f"as {time_text(int(value))}"
