"""Plans of formats 1 and 2: without the members that format 3 added.

In memory a plan of an older format has those members, with the values that say nothing.
Such a plan is verified by its own rules (`dpql.planner.rules`) and never run.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dpql.model.codec import Malformed

_ADDED: tuple[tuple[tuple[str, ...], str, Any], ...] = (
    (("spec", "privacy", "contributes"), "total", None),
    (("spec", "statistics"), "at", []),
    (("spec", "statistics"), "contributes", None),
    (("steps",), "at", []),
    (("steps",), "joint", False),
    (("steps",), "picks", []),
    (("steps", "bound"), "total", None),
    (("steps", "parts", "measure"), "scale", "1"),
)
"""Where format 3 has a member more, which, and what an older plan has in its stead."""

_Change = Callable[[dict[str, Any]], dict[str, Any]]


def extended(document: dict[str, Any]) -> dict[str, Any]:
    """Return the document of an older plan with the members of today's.

    Whatever else it holds stays, for the reader to judge.
    """
    for path, name, empty in _ADDED:

        def add(found: dict[str, Any], name: str = name, empty: Any = empty) -> Any:
            return {**found, name: empty}

        document = _changed(document, path, add)
    return document


def reduced(document: dict[str, Any]) -> dict[str, Any]:
    """Return the document of today's members without those that format 3 added.

    Raises:
        Malformed: one of them says something, so no older planner made the plan.
    """
    for path, name, empty in _ADDED:

        def remove(found: dict[str, Any], name: str = name, empty: Any = empty) -> Any:
            if found.get(name) != empty:
                raise Malformed("it has a member that its format does not have")
            return {key: item for key, item in found.items() if key != name}

        document = _changed(document, path, remove)
    return document


def _changed(document: Any, path: tuple[str, ...], change: _Change) -> Any:
    """Return the document with all objects at a path changed; lists are walked."""
    if isinstance(document, list):
        return [_changed(item, path, change) for item in document]
    if not isinstance(document, dict):
        return document
    if not path:
        return change(document)
    name, *rest = path
    if name not in document:
        return document
    return {**document, name: _changed(document[name], tuple(rest), change)}
