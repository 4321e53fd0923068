"""A report as text for a terminal; every name is clipped and made visible."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice

from dpql.diagnostics import shown
from dpql.reports.predicate import StatisticRecord
from dpql.reports.view import View, digits_of, promise_text, related

_ROWS = 40


def as_text(view: View) -> str:
    """Return the report as lines of at most moderate width."""
    predicate = view.predicate
    guarantee = predicate.guarantee
    lines = [
        f"{view.kind} {shown(predicate.title)}   {predicate.date}   {view.digest[:16]}",
        shown(predicate.purpose, limit=400),
        "",
        f" promises   {shown(guarantee.words, limit=600)}",
        f" spends     ε {related(guarantee.epsilon)}, {guarantee.variant}",
        f" plan       {predicate.plan_digest[:8]}",
        f" ledger     {_ledger(view)}",
        *(f" caution    {shown(text, limit=300)}" for text in predicate.caveats),
    ]
    if view.kind != "release":
        lines.insert(0, "REHEARSAL: these numbers protect nobody and describe nobody")
    for statistic in predicate.statistics:
        lines += ["", *_statistic(statistic)]
    return "\n".join(lines) + "\n"


def _ledger(view: View) -> str:
    record = view.predicate.ledger
    if record is None:
        return "none: no budget was debited"
    return (
        f"{shown(record.dataset)}   spent {record.before} → {record.after} "
        f"of {record.cap}   entry {record.seq}"
    )


def _statistic(statistic: StatisticRecord) -> Iterator[str]:
    promise = shown(promise_text(statistic), limit=200)
    yield f"{shown(statistic.name)}: {shown(statistic.definition, limit=200)}"
    yield f"   ε {related(statistic.epsilon)}; {promise}"
    yield f"   before noise: {shown(statistic.accuracy_of, limit=300)}"
    rows = [[*(shown(h, limit=30) for h in statistic.headings), *_COLUMNS]]
    for value in islice(statistic.values, _ROWS):
        digits = digits_of(value)
        cell = [shown(text, limit=30) for text in value.cell]
        rows.append([*cell, digits.value, digits.lower, digits.upper])
    yield from _table(rows, len(statistic.headings))
    hidden = len(statistic.values) - _ROWS
    if hidden > 0:
        yield f"   … and {hidden} more in release.csv"


_COLUMNS = ("value", "from", "to")


def _table(rows: Sequence[Sequence[str]], left: int) -> Iterator[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = [
            text.ljust(width) if place < left else text.rjust(width)
            for place, (text, width) in enumerate(zip(row, widths, strict=True))
        ]
        yield "   " + "   ".join(cells).rstrip()
