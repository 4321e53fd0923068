"""A release as text for people: table, HTML fragment, comma-separated lines.

Numbers are written from their exact values: as they are when they have a short
decimal, else to 15 significant digits. The column ``exact`` always holds the value
itself.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator
from decimal import ROUND_CEILING, ROUND_FLOOR
from fractions import Fraction
from html import escape
from itertools import islice
from typing import TYPE_CHECKING

from dpql.diagnostics import WHOLE, shown
from dpql.model.figures import plural
from dpql.model.key_text import few_words
from dpql.model.many_values import ManyValues
from dpql.model.notation import (
    cell_text,
    cell_texts,
    heading_text,
    key_text,
    measure_text,
    plain,
)
from dpql.model.plan import Plan
from dpql.model.promised_rows import condition_words, contradiction, noisy_rows
from dpql.model.step_text import bound_text, excess_text, kept_by
from dpql.model.vacuous import is_vacuous, vacuous_words

if TYPE_CHECKING:
    from dpql.model.release import Outcome, Result, Value

COLUMNS = (
    "statistic",
    "cell",
    "value",
    "lower",
    "upper",
    "accuracy",
    "alpha",
    "unit",
    "exact",
)
"""The columns of the table of all values in formats 1 to 3."""

_DIGITS = 7
"""Digits on a screen; intervals and errors are rounded outwards."""

_SHOWN = 20
"""Cells of a statistic that a notebook or terminal shows; the files hold them all."""

_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")
"""A spreadsheet may run a text that starts so."""


def cell_labels(plan: Plan, result: Result) -> Iterator[str]:
    """Yield the cell of every value as one text, as the tables of the plan's format do.

    Plans of the first format left keys as they are, so that two cells could be one
    text; their tables are signed and stay so.
    """
    headings, cells = result.headings, (value.cell for value in result.values)
    if plan.version > 1:
        yield from cell_texts(headings, cells)
        return
    for cell in cells:
        pairs = zip(headings, cell, strict=True)
        yield ", ".join(f"{heading}={key}" for heading, key in pairs)


def as_csv(outcome: Outcome) -> str:
    """Return the values as the tables of formats 1 to 3 had them."""
    target = io.StringIO()
    writer = csv.writer(target, lineterminator="\n")
    writer.writerow(COLUMNS)
    for result in outcome.results:
        stated = stated_accuracy(result)
        accuracy = "" if stated is None else plain(stated)
        alpha, unit = plain(result.alpha), _inert(result.unit or "")
        name, labels = _inert(result.name), cell_labels(outcome.plan, result)
        for value, label in zip(result.values, labels, strict=True):
            writer.writerow(
                (
                    name,
                    _inert(label),
                    *_numbers(result, value),
                    accuracy,
                    alpha,
                    unit,
                    str(value.value),
                )
            )
    return target.getvalue()


def as_text(outcome: Outcome) -> str:
    """Return the values as a table for a terminal."""
    plan = outcome.plan
    blocks = [f"{outcome.kind} {_whole(plan.spec.release)}   plan {plan.digest[:8]}"]
    blocks += [
        "\n".join(_block(result, _bound(plan, result))) for result in outcome.results
    ]
    return "\n\n".join(blocks) + "\n"


def result_text(result: Result) -> str:
    """Return the values of one statistic as a table for a terminal."""
    return "\n".join(_block(result, _own_bound(result))) + "\n"


def _block(result: Result, bound: Iterable[str]) -> Iterator[str]:
    rows = list(_shown_rows(result))
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    left = len(result.headings)
    yield f"{_whole(result.name)}{_promise(result)}"
    yield from (f"   {line}" for line in bound)
    for row in rows:
        yield (
            "   "
            + "   ".join(
                text.ljust(width) if i < left else text.rjust(width)
                for i, (text, width) in enumerate(zip(row, widths, strict=True))
            ).rstrip()
        )
    yield from _more(result)


def as_html(outcome: Outcome) -> str:
    """Return the values as tables for a notebook; every text is escaped."""
    plan = outcome.plan
    head = (
        f"<p><strong>{outcome.kind} {_safe(plan.spec.release)}</strong> "
        f"plan <code>{plan.digest[:8]}</code></p>"
    )
    tables = (_table(result, _bound(plan, result)) for result in outcome.results)
    return head + "".join(tables)


def result_html(result: Result) -> str:
    """Return the values of one statistic as a table for a notebook."""
    return _table(result, _own_bound(result))


def _table(result: Result, bound: Iterable[str]) -> str:
    heading, *rows = (
        "".join(f"<{tag}>{_safe(text)}</{tag}>" for text in row)
        for row, tag in zip(_shown_rows(result), _tags(), strict=False)
    )
    body = "".join(f"<tr>{row}</tr>" for row in rows)
    notes = "".join(
        f"<p>{_safe(line.strip())}</p>" for line in (*bound, *_more(result))
    )
    return (
        f"<table><caption>{_safe(result.name)}{_safe(_promise(result))}</caption>"
        f"<thead><tr>{heading}</tr></thead><tbody>{body}</tbody></table>{notes}"
    )


def value_repr(value: Value) -> str:
    """Return a value as a prompt of Python shows it: its cell, and its interval."""
    cell = "".join(
        f"{_whole(key_text(key))}: " for key in (", ".join(value.cell),) if key
    )
    lower = plain(value.lower, _DIGITS, ROUND_FLOOR)
    upper = plain(value.upper, _DIGITS, ROUND_CEILING)
    return f"<{cell}{plain(value.value, _DIGITS)}, from {lower} to {upper}>"


def _shown_rows(result: Result) -> Iterator[tuple[str, ...]]:
    headings = tuple(_whole(heading_text(heading)) for heading in result.headings)
    intervals = has_intervals(result)
    numbers = ("value", *(("lower", "upper") if intervals else ()))
    yield headings if result.step.names_only else (*headings, *numbers)
    for value in islice(result.values, _SHOWN):
        keys = (_whole(key_text(key)) for key in value.cell)
        if result.step.names_only:
            yield tuple(keys)
            continue
        if not intervals:
            yield (*keys, plain(value.value, _DIGITS))
            continue
        yield (
            *keys,
            plain(value.value, _DIGITS),
            plain(value.lower, _DIGITS, ROUND_FLOOR),
            plain(value.upper, _DIGITS, ROUND_CEILING),
        )


def _numbers(result: Result, value: Value) -> tuple[str, str, str]:
    if not has_intervals(result):
        return plain(value.value), "", ""
    return plain(value.value), plain(value.lower), plain(value.upper)


def has_intervals(result: Result) -> bool:
    """Tell whether intervals hold the numbers before noise; of quantiles, ranks do."""
    return not result.step.picks


def stated_accuracy(result: Result) -> Fraction | None:
    """Return the accuracy in the unit of the values, if one is stated in it."""
    return result.accuracy if has_intervals(result) else None


def _promise(result: Result) -> str:
    unit = f" {_whole(measure_text(result.unit))}" if result.unit else ""
    sure = f"{plain(100 * (1 - result.alpha), 6)}%"
    search = result.step.search
    if result.step.names_only and search is not None:
        noun = "row" if result.step.bound is None else "unit"
        return f", keys of {plural(search.usual, noun)} or more with {sure}"
    if result.accuracy is not None and not has_intervals(result):
        off = plain(result.accuracy, _DIGITS, ROUND_CEILING)
        return f"{f' in{unit}' if unit else ''}, ranks within {off} rows, {sure}"
    if result.accuracy is None:
        return f"{f' in{unit}' if unit else ''}, intervals at {sure}"
    rests = condition_words(result.step)
    return f" ± {plain(result.accuracy, _DIGITS, ROUND_CEILING)}{unit}, {sure}" + (
        f", {rests}" if rests else ""
    )


def _bound(plan: Plan, result: Result) -> Iterator[str]:
    """Yield which rows of a unit count: no interval shows the error of the others."""
    unit = plan.spec.privacy.unit
    if unit is not None and result.step.bound is not None:
        bound = bound_text(kept_by(plan, result.step), unit)
        yield f"counts {_whole(bound)}: {excess_text(plan)}"


def _own_bound(result: Result) -> Iterator[str]:
    """Yield the same of a result that stands alone, and does not know the unit."""
    if result.step.bound is not None:
        yield f"counts {bound_text(result.step, 'unit')}: the others are dropped"


def _more(result: Result) -> list[str]:
    hidden = len(result.values) - _SHOWN
    return [
        *_few(result),
        *_vacuous(result),
        *_marks(result),
        *([f"   … and {hidden} more"] if hidden > 0 else []),
    ]


def _few(result: Result) -> Iterator[str]:
    """Yield what is not shown where keys are found."""
    if result.step.per_key:
        yield f"   {few_words(result.step, len(result.values))}"


def _vacuous(result: Result) -> Iterator[str]:
    """Yield how many values say nothing."""
    many = ManyValues.of(result.values)
    count = sum(many.each(lambda value: is_vacuous(result.step, value)))
    words = vacuous_words(count, len(result.values))
    if words is not None:
        yield f"   ! {words}"


def _marks(result: Result) -> Iterator[str]:
    """Yield a line for every group shown that has fewer rows than promised."""
    step = result.step
    if condition_words(step) is None:
        return
    for value in islice(result.values, _SHOWN):
        rows = noisy_rows(step.readout, value.noisy, step.parts[0].half_width)
        mark = contradiction(step.at_least, *rows)
        if mark is not None:
            cell = _whole(cell_text(result.headings, value.cell))
            yield f"   ! {cell}: {mark}" if cell else f"   ! {mark}"


def _whole(text: str) -> str:
    return shown(text, limit=WHOLE)


def _tags() -> Iterator[str]:
    yield "th"
    while True:
        yield "td"


def _safe(text: str) -> str:
    return escape(text, quote=True)


def _inert(text: str) -> str:
    return f"'{text}" if text.startswith(_FORMULA) else text
