"""The keys of the lattice: bands of numbers, maps of keys, parts of dates.

Source: MATH-statistics 4, 5.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

from dpql.diagnostics import shown
from dpql.model import calendar
from dpql.model.expression import CalendarPart, Map
from dpql.model.lattice_nodes import (
    Band,
    CellBand,
    Kind,
    Mapped,
    Node,
    PartKey,
    Shape,
)
from dpql.model.lattice_rules import MOST_KEYS, Untyped, described, is_number, shaped
from dpql.model.notation import bin_keys

if TYPE_CHECKING:
    from dpql.model.spec import Column, NumberColumn

TRUTHS = ("false", "true")
"""The keys of what is true or false."""


def key_shape(keys: Sequence[str], *, nullable: bool) -> Shape:
    """Return the shape of one of the keys."""
    return Shape(
        kind=Kind.KEY,
        step=Fraction(1),
        low=0,
        high=len(keys) - 1,
        nullable=nullable,
        keys=tuple(keys),
    )


def keys_of(node: Node) -> tuple[str, ...]:
    """Return the keys of a node that groups rows; none if it cannot.

    What is true or false is a key too.
    """
    return TRUTHS if node.shape.kind is Kind.BOOLEAN else node.shape.keys


def banded(
    operand: Node, edges: Sequence[Fraction], plain: NumberColumn | None
) -> Node:
    """Return the band of a number; the bin of a cell if it is a plain column.

    Raises:
        Untyped: it is no number.
    """
    if not is_number(operand) or operand.shape.kind is Kind.BOOLEAN:
        message = f"bands are of a number, and this is {described(operand)}"
        raise Untyped(message, operand=0)
    if plain is not None:
        low, high = edges[0], edges[-1]
        outside = plain.lower < low or high < plain.upper
        shape = key_shape(bin_keys(edges), nullable=outside or operand.shape.nullable)
        return CellBand(column=plain.name, edges=tuple(edges), shape=shape)
    shape = operand.shape
    starts = tuple(
        _near(-(-edge / shape.step).__floor__(), shape) for edge in edges[:-1]
    )
    end = _near((edges[-1] / shape.step).__floor__(), shape)
    outside = shape.low < starts[0] or end < shape.high
    return Band(
        operand=operand,
        starts=starts,
        end=end,
        shape=shaped(
            key_shape(bin_keys(edges), nullable=outside or shape.nullable), operand
        ),
    )


def _near(z: int, shape: Shape) -> int:
    """Return a whole number, no farther beyond the ends than tells it apart."""
    return min(max(z, shape.low - 1), shape.high + 1)


def mapped(found: Map, operand: Node) -> Node:
    """Return the value that a key is mapped to.

    Raises:
        Untyped: the operand is no key, or has not the keys of the pairs.
    """
    known = keys_of(operand)
    if not known or operand.shape.kind not in (Kind.KEY, Kind.BOOLEAN):
        message = f"only keys are mapped, and this is {described(operand)}"
        raise Untyped(message, "put numbers into `bands` first", operand=0)
    pairs = {pair.key: pair.value for pair in found.pairs}
    there = set(known)
    for key in pairs:
        if key not in there:
            raise Untyped(
                f"`{shown(key)}` is not one of the keys that are mapped",
                f"they are {', '.join(f'`{shown(word)}`' for word in known[:6])}",
            )
    values = [*pairs.values(), found.otherwise, found.missing]
    keys = tuple(dict.fromkeys(value for value in values if value is not None))
    if not keys:
        raise Untyped("a map without values")
    index = {key: code for code, key in enumerate(keys)}
    reached = [pairs.get(key, found.otherwise) for key in known]
    codes = tuple(None if value is None else index[value] for value in reached)
    missing = None if found.missing is None else index[found.missing]
    nullable = None in codes or (operand.shape.nullable and missing is None)
    return Mapped(
        operand=operand,
        codes=codes,
        missing=missing,
        shape=shaped(key_shape(keys, nullable=nullable), operand),
    )


def part(which: CalendarPart, column: Column | None, name: str) -> Node:
    """Return the part of a declared date or time.

    Raises:
        Untyped: it is none, or has no such part, or far too many.
    """
    from dpql.model.spec import DateColumn, TimeColumn

    if isinstance(column, DateColumn):
        if which is CalendarPart.HOUR:
            raise Untyped(f"`{shown(name)}` is a date, which has no hours")
        first = column.first * calendar.DAY
        last = column.last * calendar.DAY
    elif isinstance(column, TimeColumn):
        steps = (column.last - column.first) // column.step
        first = column.first
        last = min(
            first + (steps + 1) * column.step - 1, calendar.LAST_DAY * calendar.DAY
        )
    else:
        raise Untyped(
            f"`{which.value}` is a part of a declared date or time, and "
            f"`{shown(name)}` is none"
        )
    found = calendar.indices(which, first, max(first, last))
    if len(found) > MOST_KEYS:
        raise Untyped(
            f"the bounds of `{shown(name)}` hold more than {MOST_KEYS} keys",
            "narrow them, or take a larger part",
        )
    keys = tuple(calendar.part_key(which, index) for index in found)
    return PartKey(
        part=which,
        column=name,
        offset=found.start,
        shape=key_shape(keys, nullable=True),
    )
