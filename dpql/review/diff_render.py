"""A difference as text, Markdown, HTML or JSON."""

from __future__ import annotations

from html import escape
from typing import Any

from dpql.diagnostics import shown
from dpql.model.figures import plural
from dpql.review.change import Change
from dpql.review.diff import Difference
from dpql.review.render import marked

_WIDTH = 10

_WIDEST = 72
"""Longer lines do not move the notes of the others to the right."""


def as_text(difference: Difference, *, source: str | None = None) -> str:
    """Return the difference for a terminal, one line per change."""
    head = f"{difference.verdict.value:<8} {shown(source) if source else ''}"
    plans = f"plan {difference.old[:8]} → {difference.new[:8]}"
    bodies = [_body(change) for change in difference.changes]
    short = [len(body) for body in bodies if len(body) <= _WIDEST]
    left = max([len(head), *short])
    lines = [f"{head:<{left}}   {plans}"]
    lines += [
        f"{body:<{left}}   {change.note}".rstrip()
        for body, change in zip(bodies, difference.changes, strict=True)
    ]
    if difference.cosmetic:
        lines.append(f"   {'cosmetic':<{_WIDTH}} {plural(difference.cosmetic, 'line')}")
    return "\n".join(lines) + "\n"


def as_markdown(difference: Difference) -> str:
    """Return the difference as Markdown, for a pull request."""
    plans = f"`{difference.old[:8]}` → `{difference.new[:8]}`"
    lines = [f"### {difference.verdict.value}: plan {plans}", ""]
    if difference.changes:
        lines += ["| | what | change | |", "| :-- | :-- | :-- | :-- |"]
    lines += [
        f"| {marked(change.mark.strip())} | {marked(change.subject)} "
        f"| {marked(change.text)} | {marked(change.note)} |"
        for change in difference.changes
    ]
    if difference.cosmetic:
        lines += ["", f"{plural(difference.cosmetic, 'change')} of wording only."]
    return "\n".join(lines) + "\n"


def as_html(difference: Difference) -> str:
    """Return the difference as a fragment that a notebook shows; texts are escaped."""
    rows = "".join(
        "<tr>"
        + "".join(
            f'<td style="text-align:left;white-space:pre-wrap">{escape(cell)}</td>'
            for cell in (change.mark.strip(), change.subject, change.text, change.note)
        )
        + "</tr>"
        for change in difference.changes
    )
    cosmetic = plural(difference.cosmetic, "change") + " of wording only"
    return (
        f"<p><strong>{difference.verdict.value}</strong> plan "
        f"<code>{difference.old[:8]}</code> → <code>{difference.new[:8]}</code></p>"
        f"<table><tbody>{rows}</tbody></table>"
        + (f"<p>{cosmetic}</p>" if difference.cosmetic else "")
    )


def as_json(difference: Difference) -> dict[str, Any]:
    """Return the difference as a JSON document."""
    return {
        "verdict": difference.verdict.value,
        "old": difference.old,
        "new": difference.new,
        "changes": [
            {
                "verdict": change.verdict.value,
                "subject": change.subject or "statistic",
                "mark": change.mark.strip(),
                "text": change.text,
                "note": change.note,
            }
            for change in difference.changes
        ],
        "cosmetic": difference.cosmetic,
    }


def _body(change: Change) -> str:
    if not change.subject:
        return f" {change.mark} {change.text}"
    return f" {change.mark} {change.subject:<{_WIDTH}} {change.text}"
