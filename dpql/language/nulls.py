"""The meaning of `nulls`: what a missing cell does."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from dpql.language.context import Context, text, value
from dpql.language.tree import Entry, Node
from dpql.model.spec import DropNulls, FillNulls, Neighbours, Nulls


def resolve_nulls(
    entry: Entry,
    bounds: tuple[Fraction, Fraction],
    write: Callable[[Fraction], str],
    read: Callable[[Node | None], Fraction | None],
    context: Context,
) -> Nulls | None:
    """Return what a missing cell of a column does, or None after noting a fault.

    ``read`` and ``write`` turn what the spec says into a number within the bounds, and
    back.
    """
    lower, upper = bounds
    node = value(entry.value, "nulls")
    if node is None:
        return None
    if text(node) == "drop":
        if context.neighbours is Neighbours.REPLACE_ONE:
            middle = write(lower + (upper - lower) // 2)
            context.add(
                "DPQL308",
                "`drop` would change the number of rows, which is public here",
                node.span,
                f"give a public value instead, such as `nulls: {{as: {middle}}}`",
            )
        return DropNulls()
    fill = read(value(node, "as"))
    if fill is None:
        return None
    if not lower <= fill <= upper:
        context.add(
            "DPQL307",
            f"nulls count as {write(fill)}, which is outside the bounds",
            node.span,
            f"take a value from {write(lower)} to {write(upper)}",
        )
    return FillNulls(value=fill)
