"""A plan as text and as HTML, for `print` and for notebooks."""

from __future__ import annotations

from html import escape

from dpql.model.plan import Plan
from dpql.planner.explain import explain
from dpql.planner.render import as_text


def text(plan: Plan) -> str:
    """Return the review table."""
    return as_text(explain(plan)).rstrip("\n")


def html(plan: Plan) -> str:
    """Return the review table as a fragment that a notebook shows; all escaped."""
    return f"<pre>{escape(text(plan))}</pre>"
