"""Keys of a spec that only some statistics have, such as `bins` of a histogram."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction

from dpql.model.shape import Field, ListOf
from dpql.model.spec import Column

Value = tuple[Fraction, ...] | Fraction | int | None
"""What an option holds: a list of numbers, a number, a whole number; None or () if
it is not given."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Input:
    """A column of a statistic; ``column`` is None if its declaration is at fault."""

    name: str
    type: str
    column: Column | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """What is declared where an option is used.

    ``known``: the statistic is of all rows, and their number is public. ``rows`` is the
    declared number of rows, or their ceiling; None if it is at fault. ``given`` are
    the options that the statistic has.
    """

    inputs: tuple[Input, ...]
    given: frozenset[str] = frozenset()
    known: bool
    rows: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Objection:
    """Why an option cannot be as it is; ``item`` counts its numbers from 0."""

    code: str
    message: str
    hint: str
    item: int | None = None


Check = Callable[[Value, Usage], Iterator[Objection]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Option:
    """An option: its shape, its clause in the text form, and its meaning.

    Attributes:
        field: the key, its shape and its page of the manual.
        member: the member of `dpql.model.spec.Statistic` that holds its value.
        clause: how the text form writes it: words, and then `{number}`, `{numbers}` or
            `{rows}` (`1 row`, `5 rows`).
        after_groups: the clause stands behind `by`, else right behind the columns.
        check: what is wrong with the value, or with its absence.
        meaning: of an option that is another way to say what the member holds, what
            it says; a spec is never printed with it.
    """

    field: Field
    member: str
    clause: str
    after_groups: bool = False
    check: Check
    meaning: Callable[[Value, Usage], Value] | None = None

    @property
    def name(self) -> str:
        """The key in a spec."""
        return self.field.name

    def is_given(self, value: Value) -> bool:
        """Tell whether a value was given at all."""
        return value not in ((), None)

    def fits(self, value: Value) -> bool:
        """Tell whether a value that was given has the length that its shape allows."""
        shape = self.field.shape
        if not isinstance(shape, ListOf) or not isinstance(value, tuple):
            return True
        longest = len(value) if shape.longest is None else shape.longest
        return shape.shortest <= len(value) <= longest
