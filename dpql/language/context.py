"""What the parts of resolve share: the source, the declared columns, the promise."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction

from dpql.diagnostics import shown
from dpql.errors import Span
from dpql.language import numbers
from dpql.language.source import Source
from dpql.language.suggestions import derivations, did_you_mean, quoted
from dpql.language.tree import Entry, Mapping, Node, Scalar, Sequence
from dpql.model.lattice import Lattice
from dpql.model.lattice_keys import TRUTHS
from dpql.model.spec import (
    BooleanColumn,
    CategoryColumn,
    Column,
    DerivedColumn,
    Neighbours,
)
from dpql.statistics.statistic import PRIVATE

UNTYPED = "?"
"""The type of a column whose declaration is at fault, which has been noted."""

_MOST_LINES = 8

OPEN_TYPE = "unknown"
"""The type of a column whose type nobody has said yet; it has been asked about."""


@dataclass(slots=True)
class Context:
    """What is known so far.

    ``types`` knows every declared column, also one whose declaration is at fault, so
    that one mistake is not reported a second time wherever the column is used.
    """

    source: Source
    others: tuple[Source, ...] = ()
    name: str = "?"
    types: dict[str, str] = field(default_factory=dict)
    columns: dict[str, Column] = field(default_factory=dict)
    """What is known of every column, a derived one as the declared one it is like."""
    names: tuple[Scalar, ...] = ()
    """Where the declared columns have their names."""
    derived: dict[str, DerivedColumn] = field(default_factory=dict)
    below: set[str] = field(default_factory=set)
    """Derived columns whose turn has not come."""
    lattice: Lattice = field(default_factory=lambda: Lattice(()))
    neighbours: Neighbours | None = None
    unit_column: bool = False
    unit_is_row: bool = False
    unit: str | None = None
    rows: int | None = None
    epsilon: Fraction | None = None
    delta: Fraction = Fraction(0)
    unknown: dict[str, list[Span]] = field(default_factory=dict)
    """Where columns are used that nobody declared."""

    @property
    def texts(self) -> dict[str, Source]:
        """The texts that the spec is made of, by name."""
        return {one.name: one for one in (*self.others, self.source)}

    def add(self, code: str, message: str, span: Span, hint: str | None = None) -> None:
        """Note a fault."""
        self.source.add(code, message, span, hint)

    def declared(self, name: str, span: Span) -> str | None:
        """Return the type of a column, or remember that there is none of that name."""
        kind = self.types.get(name)
        if kind is None:
            self.unknown.setdefault(name, []).append(span)
        return kind

    def is_column(self, name: str) -> bool:
        """Tell whether a column has that name, also one that is at fault."""
        return name in self.types or name in self.below

    def note_unknown(self) -> None:
        """Note every column that is used but not declared: once, however often used.

        Without any columns that one fault has been noted, and the uses say no more.
        """
        for name, (first, *others) in self.unknown.items() if self.types else ():
            hint = did_you_mean(name, self.types) or "declare it under `columns`"
            lines = sorted({span.line for span in others} - {first.line})
            if lines:
                hint += f" (also in {_lines(lines)})"
            self.add(
                "DPQL301",
                f"no column `{shown(name)}` in data `{shown(self.name)}`",
                first,
                hint,
            )

    def typed(self, name: str, span: Span, allowed: tuple[str, ...], use: str) -> bool:
        """Tell whether the column is of an allowed type, or note that it is not."""
        kind = self.declared(name, span)
        if kind is None or kind in (OPEN_TYPE, UNTYPED, *allowed):
            return kind in allowed
        writable = [word for word in allowed if word != PRIVATE]
        candidates = [word for word, type_ in self.types.items() if type_ in allowed]
        ways = [f"take {quoted(candidates[:6])}"] if candidates else []
        ways += derivations(shown(name), kind, allowed)
        hint = ", or ".join(ways)
        self.add(
            "DPQL302",
            f"`{shown(name)}` is of type {shown(kind)}, so {use}",
            span,
            hint or f"declare a column of type {quoted(writable)}",
        )
        return False

    def keys(self, name: str) -> tuple[str, ...]:
        """Return the keys of a column that groups; none if it is at fault."""
        column = self.columns.get(name)
        if isinstance(column, BooleanColumn):
            return TRUTHS
        return column.keys if isinstance(column, CategoryColumn) else ()


def _lines(lines: list[int]) -> str:
    some = [str(line) for line in lines[:_MOST_LINES]]
    if len(lines) > _MOST_LINES:
        some.append("...")
    return f"line{'' if len(lines) == 1 else 's'} {', '.join(some)}"


def entries(node: Node | None) -> tuple[Entry, ...]:
    """Return the entries of a mapping; none if the shape is at fault."""
    return node.entries if isinstance(node, Mapping) else ()


def items(node: Node | None) -> tuple[Scalar, ...]:
    """Return the scalars of a list; none if the shape is at fault."""
    found = node.items if isinstance(node, Sequence) else ()
    return tuple(item for item in found if isinstance(item, Scalar))


def value(node: Node | None, name: str) -> Node | None:
    """Return the value of a key of a mapping."""
    return node.get(name) if isinstance(node, Mapping) else None


def text(node: Node | None) -> str | None:
    """Return the text of a scalar; None if there is none."""
    return node.text if isinstance(node, Scalar) and node.text else None


def number(node: Node | None) -> Fraction | None:
    """Return the exact value of a scalar; None if it is no number."""
    word = text(node)
    return numbers.exact(word) if word and numbers.is_number(word) else None


def whole(node: Node | None) -> int | None:
    """Return the value of a scalar; None if it is no whole number."""
    word = text(node)
    return int(numbers.exact(word)) if word and numbers.is_whole(word) else None


def distinct(found: tuple[Scalar, ...], what: str, context: Context) -> tuple[str, ...]:
    """Return the texts of the scalars and note each that is there twice."""
    seen: dict[str, Scalar] = {}
    for item in found:
        if seen.setdefault(item.text, item) is not item:
            context.add(
                "DPQL305",
                f"`{shown(item.text)}` is twice in {what}",
                item.span,
                "keep one of them",
            )
    return tuple(seen)
