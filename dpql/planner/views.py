"""A plan as text and as HTML, for `print` and for notebooks."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape

from dpql.model.plan import Plan
from dpql.planner.explain import Explanation, confidence, explain
from dpql.planner.figures import decimal, rational
from dpql.planner.render import as_text

_LEFT = "text-align:left"


def text(plan: Plan) -> str:
    """Return the review table."""
    return as_text(explain(plan)).rstrip("\n")


def html(plan: Plan) -> str:
    """Return the review as a fragment that a notebook shows; every text is escaped."""
    explanation = explain(plan)
    heading = ("statistic", "mechanism", "groups", "ε", "share", _within(explanation))
    rows = [
        (
            line.name,
            line.mechanism,
            str(line.cells),
            rational(line.epsilon),
            f"{decimal(100 * line.share, 2)}%",
            line.within,
        )
        for line in explanation.lines
    ]
    body = "".join(f"<tr>{_cells('td', row)}</tr>" for row in rows)
    return (
        f"<p><strong>{escape(explanation.release)}</strong> "
        f"plan <code>{explanation.digest[:8]}</code> (no data was read)</p>"
        f"<table><thead><tr>{_cells('th', heading)}</tr></thead>"
        f"<tbody>{body}</tbody></table>"
        f"<ul>{_items(f'{name}: {words}' for name, words in explanation.facts)}</ul>"
        f"<ul>{_items(explanation.notes)}</ul>"
    )


def _within(explanation: Explanation) -> str:
    common = confidence(explanation.lines)
    return "within" if common is None else f"within, {common}"


def _cells(tag: str, row: Iterable[str]) -> str:
    return "".join(f'<{tag} style="{_LEFT}">{escape(cell)}</{tag}>' for cell in row)


def _items(lines: Iterable[str]) -> str:
    return "".join(f"<li>{escape(line)}</li>" for line in lines)
