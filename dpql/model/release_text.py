"""A release as text for people: table, HTML fragment, comma-separated lines.

Numbers are written from their exact values: as they are when they have a short
decimal, else to 15 significant digits. The column ``exact`` always holds the value
itself.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from decimal import Context, Decimal, Inexact
from fractions import Fraction
from html import escape
from itertools import islice
from typing import TYPE_CHECKING

from dpql.diagnostics import shown

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
"""The columns of the table of all values."""

_DIGITS = 15
_SHOWN = 20
"""Cells of a statistic that a notebook or terminal shows; the files hold them all."""

_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")
"""A spreadsheet may run a text that starts so."""


def plain(x: Fraction, digits: int = _DIGITS) -> str:
    """Return the decimal of x, exact if ``digits`` suffice, else rounded to nearest."""
    if x.denominator == 1:
        return str(x.numerator)
    context = Context(prec=digits, Emax=10**6, Emin=-(10**6))
    number = context.divide(Decimal(x.numerator), Decimal(x.denominator))
    if not context.flags[Inexact]:
        number = number.normalize(context)
    return format(number, "f" if number.adjusted() > -20 else "e")  # noqa: PLR2004  zeros


def cell_text(headings: Sequence[str], cell: Sequence[str]) -> str:
    """Return a cell as one text: ``district=north, sex=f``; empty for one number."""
    return ", ".join(f"{h}={text}" for h, text in zip(headings, cell, strict=True))


def as_csv(outcome: Outcome) -> str:
    """Return the values as comma-separated text, inert in a spreadsheet."""
    target = io.StringIO()
    writer = csv.writer(target, lineterminator="\n")
    writer.writerow(COLUMNS)
    for result in outcome.results:
        accuracy = "" if result.accuracy is None else plain(result.accuracy)
        alpha, unit = plain(result.alpha), _inert(result.unit or "")
        for value in result.values:
            writer.writerow(
                (
                    _inert(result.name),
                    _inert(cell_text(result.headings, value.cell)),
                    *_numbers(value),
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
    head = f"{outcome.kind} {shown(plan.spec.release)}   plan {plan.digest[:8]}"
    blocks = [head]
    for result in outcome.results:
        rows = list(_shown_rows(result))
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        left = len(result.headings)
        blocks.append(
            "\n".join(
                [f"{shown(result.name)}{_promise(result)}"]
                + [
                    "   "
                    + "   ".join(
                        text.ljust(width) if i < left else text.rjust(width)
                        for i, (text, width) in enumerate(zip(row, widths, strict=True))
                    ).rstrip()
                    for row in rows
                ]
                + _more(result)
            )
        )
    return "\n\n".join(blocks) + "\n"


def as_html(outcome: Outcome) -> str:
    """Return the values as tables for a notebook; every text is escaped."""
    plan = outcome.plan
    parts = [
        (
            f"<p><strong>{outcome.kind} {_safe(plan.spec.release)}</strong> "
            f"plan <code>{plan.digest[:8]}</code></p>"
        )
    ]
    for result in outcome.results:
        heading, *rows = (
            "".join(f"<{tag}>{_safe(text)}</{tag}>" for text in row)
            for row, tag in zip(_shown_rows(result), _tags(), strict=False)
        )
        body = "".join(f"<tr>{row}</tr>" for row in rows)
        parts.append(
            f"<table><caption>{_safe(result.name)}{_safe(_promise(result))}</caption>"
            f"<thead><tr>{heading}</tr></thead><tbody>{body}</tbody></table>"
        )
        parts += [f"<p>{_safe(line.strip())}</p>" for line in _more(result)]
    return "".join(parts)


def _shown_rows(result: Result) -> Iterator[tuple[str, ...]]:
    yield (*map(shown, result.headings), "value", "lower", "upper")
    for value in islice(result.values, _SHOWN):
        yield (*map(shown, value.cell), *_numbers(value, 7))


def _numbers(value: Value, digits: int = _DIGITS) -> tuple[str, str, str]:
    return (
        plain(value.value, digits),
        plain(value.lower, digits),
        plain(value.upper, digits),
    )


def _promise(result: Result) -> str:
    unit = f" {shown(result.unit)}" if result.unit else ""
    sure = f"{plain(100 * (1 - result.alpha), 6)}%"
    if result.accuracy is None:
        return f"{f' in{unit}' if unit else ''}, intervals at {sure}"
    return f" ± {plain(result.accuracy, 7)}{unit}, {sure}"


def _more(result: Result) -> list[str]:
    hidden = len(result.values) - _SHOWN
    return [f"   … and {hidden} more"] if hidden > 0 else []


def _tags() -> Iterator[str]:
    yield "th"
    while True:
        yield "td"


def _safe(text: str) -> str:
    return escape(text, quote=True)


def _inert(text: str) -> str:
    return f"'{text}" if text.startswith(_FORMULA) else text
