"""Plans of formats 1 to 3: without the members that format 4 added.

In memory a plan of an older format has those members, with the values that say nothing.
Its conditions are of the kinds that there were, and none of them was ever null; today
they follow Kleene. Such a plan is verified by its own rules and never run.
"""

from __future__ import annotations

from typing import Any

from dpql.model.format_changes import Added, with_members, without_members

LAST = 3
"""The last format without them."""

_ADDED = (
    Added(("spec", "data"), "derived", []),
    Added(("spec", "statistics"), "condition", None),
    Added(("steps",), "condition", None),
    Added(("spec", "statistics"), "total_of", None),
    Added(("steps",), "total_of", None),
    Added(("steps",), "total", None),
    Added(("spec", "data", "columns"), "numeric", False, kind="category_column"),
    Added(("spec", "data", "columns"), "digest", None, kind="category_column"),
)
"""Whoever adds a member to a spec or a plan adds a line here."""


def extended(document: dict[str, Any]) -> dict[str, Any]:
    """Return the document of an older plan with what format 4 added."""
    return with_members(document, _ADDED)


def reduced(document: dict[str, Any]) -> dict[str, Any]:
    """Return the document of a plan of today without what format 4 added.

    Raises:
        Malformed: one of them says something, so no older planner made the plan.
    """
    return without_members(document, _ADDED)
