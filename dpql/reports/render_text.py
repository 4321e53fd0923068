"""A report as text for a terminal; names are clipped and made visible."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice

from dpql.diagnostics import WHOLE, shown
from dpql.reports.display import (
    View,
    are_points,
    bound_text,
    budget_delta,
    cautions,
    cell_label,
    cost_text,
    delta_text,
    digits_of,
    equals_text,
    exact_text,
    few_text,
    has_numbers,
    heading_label,
    key_label,
    marks,
    marks_text,
    promise_text,
    purpose_label,
    vacuous,
    vacuous_text,
)
from dpql.reports.predicate import ReportPredicate, StatisticRecord

_ROWS = 40


def as_text(view: View) -> str:
    """Return the report as lines of at most moderate width."""
    predicate = view.predicate
    guarantee = predicate.guarantee
    spends = f"ε {equals_text(guarantee.epsilon)}{delta_text(guarantee)}"
    title = f"{view.kind} {shown(predicate.title, limit=80)}"
    lines = [
        f"{title}   {predicate.date}   {view.digest[:16]}",
        "",
        f" purpose    {_whole(purpose_label(predicate.purpose))}",
        f" promises   {shown(guarantee.words, limit=600)}",
        f" spends     {spends}, {guarantee.variant}",
        f" plan       {predicate.plan_digest[:8]}",
        f" ledger     {_ledger(view)}",
        *(f" caution    {_whole(text)}" for text in cautions(predicate)),
    ]
    bound = bound_text(predicate)
    if bound is not None:
        counted = _whole(bound.removeprefix("Counts "))
        lines.insert(4, f" counts     {counted}")
    if view.kind != "release":
        lines.insert(0, "REHEARSAL: these numbers protect nobody and describe nobody")
    for statistic in predicate.statistics:
        lines += ["", *_statistic(predicate, statistic)]
    return "\n".join(lines) + "\n"


def _ledger(view: View) -> str:
    record = view.predicate.ledger
    if record is None:
        return "none: no budget was debited"
    return (
        f"{shown(record.dataset, limit=80)}   spent {exact_text(record.before)} → "
        f"{exact_text(record.after)} "
        f"of {exact_text(record.cap)}{budget_delta(record)}   entry {record.seq}"
    )


def _statistic(predicate: ReportPredicate, statistic: StatisticRecord) -> Iterator[str]:
    promise = _whole(promise_text(predicate, statistic))
    yield f"{shown(statistic.name, limit=80)}: {_whole(statistic.definition)}"
    yield f"   {cost_text(statistic)}; {promise}"
    yield f"   before noise: {_whole(statistic.accuracy_of)}"
    for text in (marks_text, vacuous_text, few_text):
        summary = text(predicate, statistic)
        if summary is not None:
            yield f"   {'' if text is few_text else '! '}{summary}"
    headings = statistic.headings
    shown_columns = 1 if are_points(predicate, statistic) else len(_COLUMNS)
    if not has_numbers(predicate, statistic):
        shown_columns = 0
    columns = _COLUMNS[:shown_columns]
    rows = [[*(_whole(heading_label(h)) for h in headings), *columns, ""]]
    empty = vacuous(predicate, statistic)
    for value, says_nothing in islice(zip(statistic.values, empty, strict=True), _ROWS):
        digits = digits_of(value)
        cell = [_whole(key_label(key)) for key in value.cell]
        star = "!" if says_nothing else ""
        numbers = (digits.value, digits.lower, digits.upper)[:shown_columns]
        rows.append([*cell, *numbers, star])
    yield from _table(rows, len(headings))
    hidden = len(statistic.values) - _ROWS
    if hidden > 0:
        yield f"   … and {hidden} more in release.csv"
    found = zip(statistic.values, marks(predicate, statistic), strict=True)
    for value, mark in islice(found, _ROWS):
        if mark is not None:
            label = _whole(cell_label(statistic, value))
            yield f"   ! {label}: {mark}" if label else f"   ! {mark}"


def _whole(text: str) -> str:
    return shown(text, limit=WHOLE)


_COLUMNS = ("value", "from", "to")


def _table(rows: Sequence[Sequence[str]], left: int) -> Iterator[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = [
            text.ljust(width) if column < left else text.rjust(width)
            for column, (text, width) in enumerate(zip(row, widths, strict=True))
        ]
        yield "   " + "   ".join(cells).rstrip()
