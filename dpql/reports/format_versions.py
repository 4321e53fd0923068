"""The formats of statements, so that dpql can still read what an older dpql signed.

    1   dpql 0.1: a report signs two tables; an approval names no dataset
    2   dpql 0.2: a report signs its page too, says how its data are bound, and has
        caveats; an approval names the dataset that it is for
    3   the plan in a report is of the same format, here and later
    4   a report signs tidy tables, one for each statistic too, and their dictionary; it
        says of each statistic what one unit adds at most

A statement of an older format is read as one of the newest format with the added
members empty, and written without them. Its format determines which files it signs, so
nobody can pass off a report of format 2 without its page.
"""

from __future__ import annotations

from typing import Any

from dpql.model.codec import Malformed
from dpql.model.format_changes import Added, with_members, without_members
from dpql.reports.predicate import (
    APPROVAL,
    BOUND_FROM,
    FIRST_FORMAT,
    FORMAT,
    REHEARSAL,
    RELEASE,
)

_REPORT: tuple[tuple[tuple[str, ...], Any], ...] = (
    (("caveats",), []),
    (("ledger", "data"), ""),
)
_ADDED = {
    RELEASE: _REPORT,
    REHEARSAL: _REPORT,
    APPROVAL: ((("dataset",), ""),),
}
"""For each kind, the members that format 2 added, and their value in format 1."""


_FOR_A_DELTA = (
    Added(("statistics",), "rho", None),
    Added(("statistics", "parts"), "rho", None),
)
"""Members of a report on a plan with a delta; a pure one is written without them."""


_BOUND = (Added(("statistics",), "bound", None),)
"""What format 4 added to a report."""


def _lacks_bounds(kind: str, predicate: dict[str, Any]) -> bool:
    return kind != APPROVAL and format_of(predicate) < BOUND_FROM


def _is_pure(kind: str, predicate: dict[str, Any]) -> bool:
    plan = predicate.get("plan")
    return kind != APPROVAL and isinstance(plan, dict) and plan.get("delta") == "0"


def format_of(predicate: Any) -> int:
    """Return the format of a parsed predicate; refuse an unknown one."""
    text = predicate.get("format") if isinstance(predicate, dict) else None
    for known in range(FIRST_FORMAT, FORMAT + 1):
        if text == str(known):
            return known
    raise Malformed("this dpql does not know its format")


def upgraded(kind: str, predicate: dict[str, Any]) -> dict[str, Any]:
    """Return a predicate with the members that its format does not have yet, empty."""
    first = format_of(predicate) == FIRST_FORMAT
    if _is_pure(kind, predicate):
        predicate = with_members(predicate, _FOR_A_DELTA)
    if _lacks_bounds(kind, predicate):
        predicate = with_members(predicate, _BOUND)
    ledger = predicate.get("ledger")
    if isinstance(ledger, dict) and "delta" not in ledger:
        predicate = {**predicate, "ledger": {**ledger, "delta": "0"}}
    if not first:
        return predicate
    for path, empty in _ADDED[kind]:
        predicate = _with(predicate, path, empty)
    return predicate


def downgraded(kind: str, predicate: dict[str, Any]) -> dict[str, Any]:
    """Return a predicate without the members that its format does not have."""
    first = format_of(predicate) == FIRST_FORMAT
    if _is_pure(kind, predicate):
        predicate = without_members(predicate, _FOR_A_DELTA)
    if _lacks_bounds(kind, predicate):
        predicate = without_members(predicate, _BOUND)
    ledger = predicate.get("ledger")
    if isinstance(ledger, dict) and ledger.get("delta") == "0":
        predicate = _without(predicate, ("ledger", "delta"))
    if not first:
        return predicate
    for path, _ in _ADDED[kind]:
        predicate = _without(predicate, path)
    return predicate


def _with(document: Any, path: tuple[str, ...], empty: Any) -> Any:
    if not isinstance(document, dict):
        return document
    name, *rest = path
    if rest:
        inner = document.get(name)
        return {**document, name: _with(inner, tuple(rest), empty)}
    if name in document:
        raise Malformed("an object has a member that its format does not have")
    return {**document, name: empty}


def _without(document: Any, path: tuple[str, ...]) -> Any:
    if not isinstance(document, dict):
        return document
    name, *rest = path
    if rest:
        return {**document, name: _without(document[name], tuple(rest))}
    return {key: item for key, item in document.items() if key != name}
