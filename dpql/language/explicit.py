"""The defaults of the language, written out in the tree of a spec."""

from __future__ import annotations

from dataclasses import replace

from dpql.language.context import entries, text, value
from dpql.language.dataset import asked, is_dataset
from dpql.language.left_out import LEFT_OUT, UTC
from dpql.language.tree import Entry, Mapping, Node, Scalar
from dpql.model.spec import NumberType

_OF_TYPE = {NumberType.INTEGER.value: (("step", "1"),), "time": (("zone", UTC),)}
"""What a column of a type has where it does not say."""
_SETTINGS = ("alpha", "gamma", "mechanism")


def with_defaults(root: Mapping) -> Mapping:
    """Return a tree that means the same and leaves nothing to the language.

    What a dataset file declares stays there: it is no default.
    """
    if is_dataset(root):
        columns = _with_steps(root.get("columns"))
        promise = _with(root.get("privacy"), root, "neighbours")
        return _replaced(root, columns=columns, privacy=promise)
    own = asked(root) is None
    names = ("neighbours", "delta") if own else ("delta",)
    data = root.get("data")
    columns = _with_steps(value(data, "columns"))
    if isinstance(data, Mapping) and columns is not None:
        data = _replaced(data, columns=columns)
    at = root.span
    defaults = root.get("defaults") or Mapping((), at)
    return _replaced(
        root,
        data=data,
        privacy=_with(root.get("privacy"), root, *names),
        defaults=_with(defaults, root, *_SETTINGS),
    )


def _with(block: Node | None, root: Mapping, *names: str) -> Node | None:
    """Return a block with the names that it lacks, each with its default."""
    if not isinstance(block, Mapping):
        return block
    lacking = [name for name in names if block.get(name) is None]
    return _replaced(
        block, **{name: Scalar(LEFT_OUT[name], root.span) for name in lacking}
    )


def _with_steps(columns: Node | None) -> Node | None:
    if not isinstance(columns, Mapping):
        return columns
    found = {
        entry.name: _replaced(entry.value, **{name: Scalar(default, columns.span)})
        for entry in entries(columns)
        for name, default in _OF_TYPE.get(text(value(entry.value, "type")) or "", ())
        if isinstance(entry.value, Mapping) and value(entry.value, name) is None
    }
    return _replaced(columns, **found)


def _replaced(block: Mapping, **nodes: Node | None) -> Mapping:
    """Return a block with other values; new keys come last."""
    given = {name: node for name, node in nodes.items() if node is not None}
    kept = tuple(
        replace(entry, value=given.pop(entry.name, entry.value))
        for entry in block.entries
    )
    added = (Entry(Scalar(name, block.span), node) for name, node in given.items())
    return replace(block, entries=(*kept, *added))
