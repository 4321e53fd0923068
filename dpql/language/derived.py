"""The meaning of `derived`: columns that follow from others, in order."""

from __future__ import annotations

from dpql.diagnostics import shown
from dpql.language.columns import check_lookalikes
from dpql.language.context import UNTYPED, Context, entries
from dpql.language.tree import Entry, Node, Scalar
from dpql.model.expression import columns_in
from dpql.model.lattice import Lattice, like
from dpql.model.lattice_nodes import Kind
from dpql.model.lattice_rules import Word
from dpql.model.spec import (
    BooleanColumn,
    CategoryColumn,
    Column,
    DerivedColumn,
    NumberColumn,
)


def resolve_derived(node: Node | None, context: Context) -> None:
    """Enter every derived column into the context, and note what is wrong."""
    context.lattice = Lattice(tuple(context.columns.values()))
    found = entries(node)
    names = [entry.key for entry in found]
    check_lookalikes([*context.names, *names], "column", context)
    context.below = {entry.name for entry in found} - context.types.keys()
    for entry in found:
        if entry.name in context.types:
            context.add(
                "DPQL364",
                f"`{shown(entry.name)}` is a column of the data already",
                entry.key.span,
                "give the derived column another name",
            )
            continue
        _derive(entry, context)
        context.below.discard(entry.name)
        context.types.setdefault(entry.name, UNTYPED)


def _derive(entry: Entry, context: Context) -> None:
    # The parser behind it takes a tenth of a second to build; most specs do without.
    from dpql.language.expression import resolve_expression

    if not isinstance(entry.value, Scalar) or not entry.value.text:
        return
    typed = resolve_expression(entry.value, context)
    if typed is None:
        return
    why = None
    if typed.node.shape.kind in (Kind.DATE, Kind.TIME):
        why = (
            "this is a date or a time as it is declared",
            "take a part of it, such as `month(...)`, or use the column itself",
        )
    elif isinstance(typed.node, Word) or not columns_in(typed.expression):
        why = "this is the same for every row", "name a column in it"
    if why is not None:
        context.add("DPQL364", why[0], entry.value.span, why[1])
        return
    context.lattice.add(entry.name, typed.node)
    column = like(entry.name, typed.node)
    context.derived[entry.name] = DerivedColumn(
        name=entry.name, expression=typed.expression
    )
    context.columns[entry.name] = column
    context.types[entry.name] = type_of(column)


def type_of(column: Column) -> str:
    """Return the word for the type of a derived column."""
    match column:
        case CategoryColumn():
            return "category"
        case BooleanColumn():
            return "boolean"
        case NumberColumn(type=kind):
            return kind.value
    raise AssertionError("nothing else is derived")
