"""The meaning of `contributes`: what one unit adds at most."""

from __future__ import annotations

from dpql.diagnostics import shown
from dpql.language.context import Context, text, value, whole
from dpql.language.tree import Node
from dpql.model.spec import Contributes


def promised(privacy: Node | None, context: Context) -> Contributes | None:
    """Return what a unit adds to every statistic that does not say its own."""
    block, unit = value(privacy, "contributes"), value(privacy, "unit")
    if text(unit) == "row":
        _refuse_for_rows(block, context)
        return Contributes(rows=1, groups=1)
    if block is None and unit is not None:
        context.add(
            "DPQL315",
            f"nothing says how much one `{shown(text(unit) or '?')}` contributes",
            unit.span,
            "add `contributes: {rows: 1, groups: 1}`; it will be enforced",
        )
    return _bounds(block, context)


def own(statistic: Node, context: Context) -> Contributes | None:
    """Return what a unit adds to a statistic that says so itself."""
    block = value(statistic, "contributes")
    if context.unit_is_row:
        _refuse_for_rows(block, context)
        return None
    return _bounds(block, context)


def _refuse_for_rows(block: Node | None, context: Context) -> None:
    if block is not None:
        context.add(
            "DPQL315",
            "`contributes` says nothing here: each row is a unit of its own",
            block.span,
            "delete it, or name an id column as `unit`",
        )


def _bounds(block: Node | None, context: Context) -> Contributes | None:
    counts = {name: _count(block, name, context) for name in ("rows", "groups")}
    rows, groups = counts["rows"], counts["groups"]
    if rows is None or groups is None:
        return None
    total = _count(block, "total", context)
    found = value(block, "total")
    if found is not None and total is not None and not rows <= total < rows * groups:
        message = f"`total` is {total}, which bounds nothing: `rows` x `groups` is less"
        hint = "delete it"
        if total < rows:
            message = f"`total` is {total}, less than `rows`, which is {rows}"
            hint = f"write `rows: {max(1, total)}`, or a larger total"
        elif total == rows * groups:
            message = f"`total` is {total}, which is `rows` x `groups` anyway"
        context.add("DPQL315", message, found.span, hint)
    return Contributes(rows=rows, groups=groups, total=total)


def _count(block: Node | None, name: str, context: Context) -> int | None:
    found = value(block, name)
    count = whole(found)
    if found is not None and count is not None and count < 1:
        context.add(
            "DPQL315",
            f"`{name}` is {count}, and a unit contributes at least 1",
            found.span,
            f"write `{name}: 1` or more",
        )
    return count
