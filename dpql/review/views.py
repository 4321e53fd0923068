"""A plan as text and as HTML, for `print` and for notebooks."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape

from dpql.model.plan import Plan
from dpql.review.explain import explain
from dpql.review.render import as_text, footnotes, table

_LEFT = "text-align:left;white-space:pre-wrap"


def text(plan: Plan) -> str:
    """Return the review table."""
    return as_text(explain(plan)).rstrip("\n")


def html(plan: Plan) -> str:
    """Return the review as a fragment that a notebook shows; every text is escaped."""
    explanation = explain(plan)
    heading, *rows = table(explanation, bars=False)
    body = "".join(f"<tr>{_cells('td', row)}</tr>" for row in rows)
    notes = "".join(f"<p>{escape(note)}</p>" for note in footnotes(explanation))
    facts = _items(f"{name}: {words}" for name, words in explanation.facts)
    return (
        f"<p><strong>{escape(explanation.release)}</strong> "
        f"plan <code>{explanation.digest[:8]}</code> (no data was read)</p>"
        f"<table><thead><tr>{_cells('th', heading)}</tr></thead>"
        f"<tbody>{body}</tbody></table>{notes}"
        f"<ul>{facts}</ul><ul>{_items(explanation.notes)}</ul>"
    )


def _cells(tag: str, row: Iterable[str]) -> str:
    return "".join(f'<{tag} style="{_LEFT}">{escape(cell)}</{tag}>' for cell in row)


def _items(lines: Iterable[str]) -> str:
    return "".join(
        f'<li style="white-space:pre-wrap">{escape(line)}</li>' for line in lines
    )
