"""Plans without a delta: pure, and without the members that account for one.

In memory a pure plan has those members, with the values that say nothing; its bytes are
those of a plan that knows of no delta.
"""

from __future__ import annotations

from typing import Any

from dpql.model.format_changes import Added, with_members, without_members

ADDED = (
    Added((), "rho", None),
    Added(("steps",), "rho", None),
    Added(("steps",), "delta", "0"),
    Added(("steps", "parts"), "rho", None),
    Added(("steps", "parts", "measure"), "squared", None),
    Added(("steps", "picks"), "rho", None),
)
"""Whoever adds a member for plans with a delta adds a line here."""


_KINDS = {
    (): "plan",
    ("steps",): "step",
    ("steps", "parts"): "part",
    ("steps", "parts", "measure"): "measure",
    ("steps", "picks"): "pick",
}
"""What stands at each path in the JSON Schema of a plan."""


def allow_pure(definitions: dict[str, Any]) -> None:
    """Let the definitions of a JSON Schema do without what a pure plan has not."""
    for one in ADDED:
        definitions[_KINDS[one.path]]["required"].remove(one.name)


def extended(document: dict[str, Any]) -> dict[str, Any]:
    """Return the document of a pure plan with the members that say nothing."""
    return with_members(document, ADDED)


def reduced(document: dict[str, Any]) -> dict[str, Any]:
    """Return the document of a pure plan without them.

    Raises:
        Malformed: one of them says something, so the plan is not pure.
    """
    return without_members(document, ADDED)
