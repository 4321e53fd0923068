"""An explanation as terminal table, Markdown or JSON."""

from __future__ import annotations

from typing import Any

from dpql.diagnostics import shown
from dpql.planner.explain import Explanation, Line, confidence
from dpql.planner.figures import bar, decimal, percent, rational

_GAP = "   "
_COLUMNS = ("statistic", "mechanism", "groups", "ε", "share", "within")
_LEFT = {"statistic", "mechanism", "share", "within"}


def as_text(explanation: Explanation, *, source: str | None = None) -> str:
    """Return the review table for a terminal, without colours."""
    table = _cells(explanation)
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    rows = [
        _GAP.join(
            cell.ljust(width) if name in _LEFT else cell.rjust(width)
            for name, cell, width in zip(_COLUMNS, row, widths, strict=True)
        ).rstrip()
        for row in table
    ]
    rule = "─" * max(len(row) for row in rows)
    start = f"{shown(source)}   " if source else ""
    blocks = [
        [f"{start}plan {explanation.digest[:8]}   (no data was read)"],
        [f" {line}" for line in (rows[0], rule, *rows[1:])],
        [f" {name:<10} {text}" for name, text in explanation.facts],
        [f" {note}" for note in explanation.notes],
    ]
    return "\n\n".join("\n".join(block) for block in blocks if block) + "\n"


def as_markdown(explanation: Explanation) -> str:
    """Return the review as Markdown, for a pull request."""
    heading, *rows = _cells(explanation)
    lines = [
        f"### {marked(shown(explanation.release))}: plan `{explanation.digest[:8]}`",
        "",
        marked(shown(explanation.purpose, limit=400)),
        "",
        f"| {' | '.join(map(marked, heading))} |",
        "| :-- | :-- | --: | --: | :-- | --: |",
        *(f"| {' | '.join(map(marked, row))} |" for row in rows),
        "",
        *(f"- **{name}** {marked(text)}" for name, text in explanation.facts),
    ]
    if explanation.notes:
        lines += ["", *(f"- {marked(note)}" for note in explanation.notes)]
    return "\n".join(lines) + "\n"


def as_json(explanation: Explanation) -> dict[str, Any]:
    """Return the review as a JSON document; exact numbers beside readable ones."""
    return {
        "plan": explanation.digest,
        "release": explanation.release,
        "purpose": explanation.purpose,
        "epsilon": _both(explanation.epsilon),
        "spent": _both(explanation.spent),
        "statistics": [_entry(line) for line in explanation.lines],
        **dict(explanation.facts),
        "notes": list(explanation.notes),
    }


def _cells(explanation: Explanation) -> list[tuple[str, ...]]:
    common = confidence(explanation.lines)
    heading = "within" if common is None else f"within, {common}"
    table: list[tuple[str, ...]] = [(*_COLUMNS[:-1], heading)]
    for line in explanation.lines:
        aside = "" if common else f" ({percent(1 - line.alpha)})"
        table.append(
            (
                line.name,
                line.mechanism,
                f"{line.cells:,}".replace(",", " "),
                rational(line.epsilon),
                f"{bar(line.share)} {decimal(100 * line.share, 2)}%",
                line.within + aside,
            )
        )
    return table


def _entry(line: Line) -> dict[str, Any]:
    return {
        "name": line.name,
        "mechanism": line.mechanism,
        "cells": line.cells,
        "epsilon": _both(line.epsilon),
        "share": _both(line.share),
        "alpha": str(line.alpha),
        "unit": line.unit,
        "within": line.within,
        "accuracy": None if line.accuracy is None else _both(line.accuracy),
        "accuracy_all": None if line.accuracy_all is None else _both(line.accuracy_all),
    }


def _both(number: Any) -> dict[str, str]:
    return {"exact": str(number), "decimal": decimal(number, 6).replace(" ", "")}


def marked(text: str) -> str:
    """Return text that Markdown shows as it is."""
    special = "\\`*_{}[]<>#|!&~$"
    return "".join(f"\\{c}" if c in special else c for c in text)
