"""An explanation as a terminal table, Markdown, HTML or JSON."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from html import escape
from typing import Any

from dpql.diagnostics import shown
from dpql.model.codec import encode
from dpql.model.figures import bar, decimal, percent, rational
from dpql.model.notation import quoted
from dpql.model.plan import Bound, Grid, Part, Pick, Readout, Search, Step
from dpql.review.explain import Explanation, Line, confidence, promise
from dpql.review.found_keys import cells_text
from dpql.review.names import whole

_GAP = "   "
STAR = " *"
_COLUMNS = ("statistic", "mechanism", "groups", "ε", "share", "within")
_LEFT_ALIGNED = {"statistic", "mechanism", "share", "within"}
_CELL = "text-align:left;white-space:pre-wrap"


def as_text(explanation: Explanation, *, source: str | None = None) -> str:
    """Return the review table for a terminal, without colours."""
    lines = table(explanation)
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    rows = [
        _GAP.join(
            cell.ljust(width) if name in _LEFT_ALIGNED else cell.rjust(width)
            for name, cell, width in zip(_COLUMNS, row, widths, strict=True)
        ).rstrip()
        for row in lines
    ]
    rule = "─" * max(len(row) for row in rows)
    start = f"{shown(source)}   " if source else ""
    blocks = [
        [f"{start}plan {explanation.digest[:8]}   (no data was read)"],
        [f" {line}" for line in (rows[0], rule, *rows[1:])],
        [f" {note}" for note in footnotes(explanation)],
        [f" {name:<10} {text}" for name, text in explanation.facts],
        [f" {'derived':<10} {line}" for line in explanation.derived],
        [f" {'keys':<10} {line}" for line in explanation.keys],
        [f" {note}" for note in explanation.notes],
    ]
    return "\n\n".join("\n".join(block) for block in blocks if block) + "\n"


def as_markdown(explanation: Explanation) -> str:
    """Return the review as Markdown, for a pull request."""
    heading, *rows = table(explanation)
    lines = [
        f"### {marked(whole(explanation.release))}: plan `{explanation.digest[:8]}`",
        "",
        f"| {' | '.join(map(marked, heading))} |",
        "| :-- | :-- | --: | --: | :-- | --: |",
        *(f"| {' | '.join(map(marked, row))} |" for row in rows),
        *(part for note in footnotes(explanation) for part in ("", marked(note))),
        "",
        f"- **purpose** {marked(whole(quoted(explanation.purpose)))}",
        *(f"- **{name}** {marked(text)}" for name, text in explanation.facts),
        *(f"- **derived** {marked(str(line))}" for line in explanation.derived),
        *(f"- **keys** {marked(str(line))}" for line in explanation.keys),
    ]
    if explanation.notes:
        lines += ["", *(f"- {marked(note)}" for note in explanation.notes)]
    return "\n".join(lines) + "\n"


def as_html(explanation: Explanation) -> str:
    """Return the review as a fragment that a notebook shows; every text is escaped."""
    heading, *rows = table(explanation, bars=False)
    body = "".join(f"<tr>{_cells('td', row)}</tr>" for row in rows)
    notes = "".join(f"<p>{escape(note)}</p>" for note in footnotes(explanation))
    stated = [
        *explanation.facts,
        *(("derived", line) for line in explanation.derived),
        *(("keys", line) for line in explanation.keys),
    ]
    facts = _items(f"{name}: {words}" for name, words in stated)
    return (
        f"<p><strong>{escape(explanation.release)}</strong> "
        f"plan <code>{explanation.digest[:8]}</code> (no data was read)</p>"
        f"<table><thead><tr>{_cells('th', heading)}</tr></thead>"
        f"<tbody>{body}</tbody></table>{notes}"
        f"<ul>{facts}</ul><ul>{_items(explanation.notes)}</ul>"
    )


def starred(line: Line) -> str:
    """Return the accuracy of a line, with a star where it depends on a promise."""
    return line.within if line.condition is None else f"{line.within}{STAR}"


def footnotes(explanation: Explanation) -> list[str]:
    """Return what the stars in the table mean, one line for each promise."""
    found: dict[str, list[str]] = {}
    for line in explanation.lines:
        if line.condition is not None:
            found.setdefault(line.condition, []).append(whole(line.step.name))
    several = len(found) > 1
    return [
        f"*{_for(names) if several else ''} only {condition}: the spec states "
        "it, and dpql does not check it"
        for condition, names in found.items()
    ]


def _for(names: list[str]) -> str:
    return f" {', '.join(names)}:"


def as_json(explanation: Explanation) -> dict[str, Any]:
    """Return the review as a JSON document; exact numbers beside readable ones."""
    return {
        "plan": explanation.digest,
        "release": explanation.release,
        "purpose": explanation.purpose,
        "epsilon": _both(explanation.epsilon),
        "spent": _both(explanation.spent),
        **_delta(explanation),
        "statistics": [_entry(line) for line in explanation.lines],
        **dict(explanation.facts),
        "derived": [line.document() for line in explanation.derived],
        **_keys(explanation),
        "notes": list(explanation.notes),
    }


def _delta(explanation: Explanation) -> dict[str, Any]:
    """Return what only a release with a delta has."""
    if explanation.rho is None:
        return {}
    return {"delta": _both(explanation.delta), "rho": _both(explanation.rho)}


def _keys(explanation: Explanation) -> dict[str, Any]:
    """Return what only a release has whose keys are found."""
    if not explanation.keys:
        return {}
    return {"keys": [line.document() for line in explanation.keys]}


def table(explanation: Explanation, *, bars: bool = True) -> list[tuple[str, ...]]:
    """Return the heading and a row for each statistic."""
    common = confidence(explanation.lines)
    heading = "within" if common is None else f"within, {common}"
    columns = [*_COLUMNS[:-1], heading]
    if explanation.in_rho:
        columns[columns.index("ε")] = "ρ"
    rows: list[tuple[str, ...]] = [tuple(columns)]
    for line in explanation.lines:
        aside = "" if common else f" ({percent(1 - line.alpha)})"
        rows.append(
            (
                line.name,
                line.mechanism,
                cells_text(line.step),
                rational(line.cost),
                (f"{bar(line.share)} " if bars else "")
                + f"{decimal(100 * line.share, 2)}%",
                starred(line) + aside,
            )
        )
    return rows


def _entry(line: Line) -> dict[str, Any]:
    step = line.step
    return {
        "name": line.name,
        "mechanism": line.mechanism,
        "cells": line.cells,
        "epsilon": None if line.epsilon is None else _both(line.epsilon),
        **({} if line.rho is None else {"rho": _both(line.rho)}),
        "share": _both(line.share),
        "alpha": str(line.alpha),
        "unit": line.unit,
        "within": promise(step),
        "accuracy": None if line.accuracy is None else _both(line.accuracy),
        "accuracy_all": None if line.accuracy_all is None else _both(line.accuracy_all),
        "at_least": None if step.at_least is None else str(step.at_least),
        **numbers(step),
        **_found(step),
    }


def _found(step: Step) -> dict[str, Any]:
    """Return what only a statistic has whose keys are found; its cells are of each."""
    if not step.per_key:
        return {}
    return {
        "search": encode(Search | None, step.search),
        "found_by": step.name if step.found_by is None else step.found_by,
    }


def _both(number: Any) -> dict[str, str]:
    return {"exact": str(number), "decimal": decimal(number, 6).replace(" ", "")}


def numbers(step: Step) -> dict[str, Any]:
    """Return the numbers that determine a step, as its plan writes them."""
    return {
        "statistic": step.statistic,
        "sensitivity": encode(Fraction | None, step.sensitivity),
        "l0": str(step.l0),
        "lower": str(step.lower),
        "upper": str(step.upper),
        "loss": encode(Fraction | None, step.loss),
        "gamma": str(step.gamma),
        "quantisation": str(step.quantisation),
        "bound": encode(Bound | None, step.bound),
        "grids": encode(tuple[Grid, ...], step.grids),
        "readout": encode(Readout, step.readout),
        "parts": [_part(part) for part in step.parts],
        "picks": encode(tuple[Pick, ...], step.picks),
    }


def _part(part: Part) -> dict[str, Any]:
    measure = part.measure
    return {
        "name": measure.name,
        "scale": str(measure.scale),
        "sensitivity": str(measure.sensitivity),
        "l0": str(measure.l0),
        "lower": str(measure.lower),
        "upper": str(measure.upper),
        "mechanism": part.noise.mechanism,
        "parameters": dict(part.noise.parameters),
        "epsilon": encode(Fraction | None, part.epsilon),
        "loss": encode(Fraction | None, part.loss),
        **_squares(part),
        "level": str(part.level),
        "half_width": str(part.half_width),
        "clamp_probability": encode(Fraction | None, part.clamp_probability),
    }


def _squares(part: Part) -> dict[str, Any]:
    """Return what only a part of a release with a delta has."""
    if part.rho is None:
        return {}
    squared = part.measure.squared
    return {
        "rho": str(part.rho),
        "squared": None if squared is None else str(squared),
    }


def marked(text: str) -> str:
    """Return text with every character escaped that means something in Markdown."""
    special = "\\`*_{}[]<>#|!&~$"
    escaped = "".join(f"\\{c}" if c in special else c for c in text)
    # Of several spaces a browser shows one.
    return escaped.replace("  ", " &nbsp;")


def _cells(tag: str, row: Iterable[str]) -> str:
    return "".join(f'<{tag} style="{_CELL}">{escape(cell)}</{tag}>' for cell in row)


def _items(lines: Iterable[str]) -> str:
    return "".join(
        f'<li style="white-space:pre-wrap">{escape(line)}</li>' for line in lines
    )
