"""A report as Markdown; no name in it can become a link, a tag or a table."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from dpql.diagnostics import shown
from dpql.reports.predicate import StatisticRecord
from dpql.reports.view import (
    View,
    digits_of,
    exact_text,
    factor_text,
    promise_text,
    related,
)

_ROWS = 200
_ENTITIES = {"<": "&lt;", ">": "&gt;", "&": "&amp;"}
_SPECIAL = frozenset("\\`*_{}[]()#+-.!|~:@$^=\"'")


def inert(text: str, *, limit: int = 60) -> str:
    """Return the text so that Markdown shows it and does nothing else with it."""
    return "".join(map(_escaped, shown(text, limit=limit)))


def _escaped(character: str) -> str:
    if character in _SPECIAL:
        return f"\\{character}"
    return _ENTITIES.get(character, character)


def as_markdown(view: View) -> str:
    """Return the report as Markdown with one table per statistic."""
    predicate = view.predicate
    guarantee, record = predicate.guarantee, predicate.ledger
    lines = [f"# {inert(predicate.title)}", ""]
    if view.kind != "release":
        lines += ["**A rehearsal: these numbers protect nobody.**", ""]
    budget = (
        "none: no budget was debited"
        if record is None
        else f"{inert(record.dataset)}, spent {record.before} → {record.after} "
        f"of {record.cap}, entry {record.seq}"
    )
    lines += [
        inert(predicate.purpose, limit=400),
        "",
        f"{inert(guarantee.words, limit=600)}",
        "",
        "| | |",
        "| --- | --- |",
        f"| date | {predicate.date} |",
        f"| ε | {exact_text(guarantee.epsilon)} |",
        f"| e^ε | at most {factor_text(guarantee.epsilon)} |",
        f"| unit | {inert(guarantee.unit)} |",
        f"| plan | `{predicate.plan_digest[:16]}` |",
        f"| ledger | {budget} |",
        *(f"| caution | {inert(text, limit=300)} |" for text in predicate.caveats),
        f"| report | `{view.digest[:16]}` |",
    ]
    for statistic in predicate.statistics:
        lines += ["", *_statistic(statistic)]
    return "\n".join(lines) + "\n"


def _statistic(statistic: StatisticRecord) -> Iterator[str]:
    yield f"## {inert(statistic.name)}"
    yield ""
    yield (
        f"{inert(statistic.definition, limit=200)}; "
        f"ε {related(statistic.epsilon)}; "
        f"{inert(promise_text(statistic), limit=200)}\n\n"
        f"Before noise: {inert(statistic.accuracy_of, limit=300)}"
    )
    yield ""
    names = [inert(heading) for heading in statistic.headings]
    yield f"| {' | '.join([*names, 'value', 'from', 'to'])} |"
    yield f"| {' | '.join(['---'] * len(names) + ['---:'] * 3)} |"
    for value in islice(statistic.values, _ROWS):
        digits = digits_of(value)
        cells = [inert(text) for text in value.cell]
        numbers = [digits.value, digits.lower, digits.upper]
        yield f"| {' | '.join([*cells, *numbers])} |"
    hidden = len(statistic.values) - _ROWS
    if hidden > 0:
        yield ""
        yield f"… and {hidden} more in release.csv"
