"""A report as Markdown; no name in it becomes a link, a tag or a table."""

from __future__ import annotations

from collections.abc import Iterator
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
    digits_of,
    exact_text,
    factor_text,
    few_text,
    has_numbers,
    heading_label,
    key_label,
    marks,
    marks_text,
    promise_text,
    protected_text,
    purpose_label,
    vacuous_text,
)
from dpql.reports.predicate import ReportPredicate, StatisticRecord

_ROWS = 200
_ENTITIES = {"<": "&lt;", ">": "&gt;", "&": "&amp;"}
_SPECIAL = frozenset("\\`*_{}[]()#+-.!|~:@$^=\"'")


def escape(text: str, *, limit: int = 80) -> str:
    """Escape a text so that Markdown shows it as it is."""
    escaped = "".join(map(_escaped, shown(text, limit=limit)))
    # A browser shows several spaces as one.
    return escaped.replace("  ", " &nbsp;")


def _escaped(character: str) -> str:
    if character in _SPECIAL:
        return f"\\{character}"
    return _ENTITIES.get(character, character)


def as_markdown(view: View) -> str:
    """Return the report as Markdown with one table per statistic."""
    predicate = view.predicate
    guarantee, record = predicate.guarantee, predicate.ledger
    lines = [f"# {escape(predicate.title)}", ""]
    if view.kind != "release":
        lines += ["**A rehearsal: these numbers protect nobody.**", ""]
    budget = (
        "none: no budget was debited"
        if record is None
        else f"{escape(record.dataset)}, spent {exact_text(record.before)} → "
        f"{exact_text(record.after)} "
        f"of {exact_text(record.cap)}{budget_delta(record)}, entry {record.seq}"
    )
    lines += [
        f"{escape(guarantee.words, limit=600)}",
        "",
        *_bound(view),
        "| | |",
        "| --- | --- |",
        f"| purpose | {escape(purpose_label(predicate.purpose), limit=WHOLE)} |",
        f"| date | {predicate.date} |",
        f"| ε | {exact_text(guarantee.epsilon)} |",
        f"| e^ε | at most {factor_text(guarantee.epsilon)} |",
        *([f"| δ | {exact_text(guarantee.delta)} |"] if guarantee.delta else []),
        f"| unit | {escape(protected_text(guarantee), limit=WHOLE)} |",
        f"| plan | `{predicate.plan_digest[:16]}` |",
        f"| ledger | {budget} |",
        *(f"| caution | {escape(text, limit=WHOLE)} |" for text in cautions(predicate)),
        f"| report | `{view.digest[:16]}` |",
    ]
    for statistic in predicate.statistics:
        lines += ["", *_statistic(predicate, statistic)]
    return "\n".join(lines) + "\n"


def _bound(view: View) -> Iterator[str]:
    bound = bound_text(view.predicate)
    if bound is not None:
        yield f"**{escape(bound, limit=WHOLE)}**"
        yield ""


def _statistic(predicate: ReportPredicate, statistic: StatisticRecord) -> Iterator[str]:
    yield f"## {escape(statistic.name)}"
    yield ""
    yield (
        f"{escape(statistic.definition, limit=WHOLE)}; "
        f"{cost_text(statistic)}; "
        f"{escape(promise_text(predicate, statistic), limit=WHOLE)}\n\n"
        f"Before noise: {escape(statistic.accuracy_of, limit=WHOLE)}"
    )
    yield ""
    for text in (marks_text, vacuous_text, few_text):
        summary = text(predicate, statistic)
        if summary is not None:
            bold = "" if text is few_text else "**"
            yield f"{bold}{escape(summary, limit=WHOLE)}{bold}"
            yield ""
    names = [escape(heading_label(h), limit=WHOLE) for h in statistic.headings]
    count = 1 if are_points(predicate, statistic) else 3
    count *= has_numbers(predicate, statistic)
    columns = ["value", "from", "to"][:count]
    yield f"| {' | '.join([*names, *columns])} |"
    yield f"| {' | '.join(['---'] * len(names) + ['---:'] * count)} |"
    for value in islice(statistic.values, _ROWS):
        digits = digits_of(value)
        cells = [escape(key_label(key), limit=WHOLE) for key in value.cell]
        numbers = [digits.value, digits.lower, digits.upper][:count]
        yield f"| {' | '.join([*cells, *numbers])} |"
    yield from _remarks(predicate, statistic)
    hidden = len(statistic.values) - _ROWS
    if hidden > 0:
        yield ""
        yield f"… and {hidden} more in release.csv"


def _remarks(predicate: ReportPredicate, statistic: StatisticRecord) -> Iterator[str]:
    """Yield a line for every value that is marked."""
    found = zip(statistic.values, marks(predicate, statistic), strict=True)
    marked = [(value, mark) for value, mark in islice(found, _ROWS) if mark is not None]
    if marked:
        yield ""
    for value, mark in marked:
        label = cell_label(statistic, value)
        yield f"- {escape(f'{label}: {mark}' if label else mark, limit=WHOLE)}"
