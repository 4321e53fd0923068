"""Members that a later format of plans has and an earlier one has not."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from dpql.model.codec import Malformed

_Change = Callable[[dict[str, Any]], dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Added:
    """A member that a later format has at a path.

    ``empty`` is what a plan of an earlier format has in its stead. With a ``kind`` only
    objects of that kind have the member.
    """

    path: tuple[str, ...]
    name: str
    empty: Any
    kind: str | None = None

    def has(self, found: dict[str, Any]) -> bool:
        """Tell whether an object at the path has the member in the later format."""
        return self.kind is None or found.get("kind") == self.kind


def with_members(document: dict[str, Any], added: Iterable[Added]) -> dict[str, Any]:
    """Return the document of an earlier format with the members of the later.

    Whatever else it holds stays, for the reader to judge: a member that is there
    already is lost, and so is missed when the plan is written again.
    """
    for one in added:

        def add(found: dict[str, Any], one: Added = one) -> dict[str, Any]:
            return {**found, one.name: one.empty} if one.has(found) else found

        document = _changed(document, one.path, add)
    return document


def without_members(document: dict[str, Any], added: Iterable[Added]) -> dict[str, Any]:
    """Return the document of the later format without its members.

    Raises:
        Malformed: one of them says something, so no earlier planner made the plan.
    """
    for one in added:

        def remove(found: dict[str, Any], one: Added = one) -> dict[str, Any]:
            if not one.has(found):
                return found
            if found.get(one.name) != one.empty:
                raise Malformed("it has a member that its format does not have")
            return {key: item for key, item in found.items() if key != one.name}

        document = _changed(document, one.path, remove)
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
