"""What holds where a spec does not say: fixed by the version of the language.

Whatever is filled in so is written into the spec's meaning, and a plan shows it.
"""

from __future__ import annotations

from collections.abc import Iterator

from dpql.diagnostics import shown
from dpql.language.context import entries, text, value
from dpql.language.tree import Entry, Mapping, Node
from dpql.model.spec import MechanismName, Neighbours

LEFT_OUT = {
    "neighbours": Neighbours.ADD_REMOVE.value,
    "delta": "0",
    "alpha": "0.05",
    "gamma": "1e-9",
    "mechanism": MechanismName.AUTO.value,
}
"""What a key counts as that is left out."""
UTC = "+00:00"
"""The zone of times that name none."""

_PROMISES = ("neighbours", "delta")
_SETTINGS = ("alpha", "gamma", "mechanism")


def setting(name: str, *blocks: Node | None) -> str | None:
    """Return the text of a key in the first block that has it, or what it counts as.

    None if it is there and its shape is at fault.
    """
    given = (value(block, name) for block in blocks)
    node = next((node for node in given if node is not None), None)
    return LEFT_OUT[name] if node is None else text(node)


def filled_in(root: Mapping) -> tuple[str, ...]:
    """Return what a spec leaves to the language, such as "delta 0", in words."""
    return tuple(_filled_in(root))


def _filled_in(root: Mapping) -> Iterator[str]:
    for name in _PROMISES:
        if value(root.get("privacy"), name) is None:
            yield f"{name} {LEFT_OUT[name]}"
    columns = entries(value(root.get("data"), "columns"))
    times = [one for one in columns if text(value(one.value, "type")) == "time"]
    unzoned = [one for one in times if value(one.value, "zone") is None]
    if unzoned:
        yield f"zone {UTC}{_of(unzoned)}"
    statistics = entries(root.get("statistics"))
    for name in _SETTINGS:
        if value(root.get("defaults"), name) is not None:
            continue
        lacking = [one for one in statistics if value(one.value, name) is None]
        # Where all statistics take it, their names would say nothing.
        some = "" if lacking == list(statistics) else _of(lacking)
        if lacking:
            yield f"{name} {LEFT_OUT[name]}{some}"


def _of(found: list[Entry]) -> str:
    return f" of {', '.join(shown(one.name) for one in found)}"
