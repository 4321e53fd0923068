"""Plans of formats 1 and 2: without the members that format 3 added.

In memory a plan of an older format has those members, with the values that say nothing.
Such a plan is verified by its own rules (`dpql.planner.rules`) and never run.
"""

from __future__ import annotations

from typing import Any

from dpql.model.format_changes import Added, with_members, without_members

LAST = 2
"""The last format without these members."""

_ADDED = (
    Added(("spec", "privacy", "contributes"), "total", None),
    Added(("spec", "statistics"), "at", []),
    Added(("spec", "statistics"), "contributes", None),
    Added(("steps",), "at", []),
    Added(("steps",), "joint", False),
    Added(("steps",), "picks", []),
    Added(("steps", "bound"), "total", None),
    Added(("steps", "parts", "measure"), "scale", "1"),
)


def extended(document: dict[str, Any]) -> dict[str, Any]:
    """Return the document of an older plan with what format 3 added."""
    return with_members(document, _ADDED)


def reduced(document: dict[str, Any]) -> dict[str, Any]:
    """Return the document of a plan of format 3 without what it added.

    Raises:
        Malformed: one of them says something, so no older planner made the plan.
    """
    return without_members(document, _ADDED)
