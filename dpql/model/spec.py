"""What a spec means: the frozen value that `language` makes from a text.

A `Spec` holds meaning only. Comments, layout and the `defaults` block are gone: every
statistic carries its own resolved alpha, gamma and mechanism. So the YAML form and the
text form of one spec are equal values, and so are their plans. Spans in the text, and
what the text left out, are kept beside it, in fields that take no part in equality.

`dpql.language.resolve` is the only maker of a `Spec`; it has checked every invariant
stated here.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

from dpql.errors import Span
from dpql.model.columns import (
    BooleanColumn,
    CategoryColumn,
    Column,
    DateColumn,
    DerivedColumn,
    DropNulls,
    FillNulls,
    IdColumn,
    Nulls,
    NumberColumn,
    NumberType,
    PrivateColumn,
    TimeColumn,
)
from dpql.model.expression import (
    And,
    Between,
    Comparison,
    Condition,
    Expression,
    IsNull,
    Literal,
    Membership,
    Not,
    Operator,
    Or,
    columns_in,
)
from dpql.model.lean import Lean

if TYPE_CHECKING:
    from dpql.model.lattice import Lattice

__all__ = [
    "AccuracyTarget",
    "And",
    "Between",
    "BooleanColumn",
    "CategoryColumn",
    "Column",
    "Comparison",
    "Condition",
    "Contributes",
    "Data",
    "DateColumn",
    "DerivedColumn",
    "DropNulls",
    "Epsilon",
    "Expression",
    "FillNulls",
    "IdColumn",
    "IsNull",
    "Literal",
    "MechanismName",
    "Membership",
    "Neighbours",
    "Not",
    "Nulls",
    "NumberColumn",
    "NumberType",
    "Operator",
    "Or",
    "Privacy",
    "PrivateColumn",
    "Rho",
    "Rows",
    "RowsAtMost",
    "RowsExactly",
    "Share",
    "Spans",
    "Spec",
    "Spend",
    "Statistic",
    "TimeColumn",
]


class Neighbours(StrEnum):
    """Which data sets must be hard to tell apart."""

    ADD_REMOVE = "add_remove"
    REPLACE_ONE = "replace_one"


class MechanismName(StrEnum):
    """Which noise a statistic asks for."""

    SNAPPING = "snapping"
    GEOMETRIC = "geometric"
    GAUSSIAN = "gaussian"
    AUTO = "auto"


@dataclass(frozen=True, slots=True, kw_only=True)
class RowsExactly:
    """The number of rows is public."""

    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class RowsAtMost:
    """The number of rows is private; only this ceiling is public."""

    count: int


Rows = RowsExactly | RowsAtMost


@dataclass(frozen=True, kw_only=True)
class Data:
    """The source, named only, and what is public about it."""

    source: str
    rows: Rows
    columns: tuple[Column, ...]
    derived: tuple[DerivedColumn, ...] = ()

    @cached_property
    def lattice(self) -> Lattice:
        """The exact integers of the expressions over the columns."""
        from dpql.model.lattice import Lattice

        return Lattice.of(self)

    @cached_property
    def by_name(self) -> Mapping[str, Column]:
        """All columns, a derived one as the declared one that it is like."""
        from dpql.model.lattice import like

        found = {column.name: column for column in self.columns}
        for name, node in self.lattice.derived.items() if self.derived else ():
            found[name] = like(name, node)
        return found

    def needed(self, names: Iterable[str]) -> frozenset[str]:
        """Return the columns that some need, declared and derived, and themselves."""
        found = set(names)
        for column in reversed(self.derived):
            if column.name in found:
                found |= columns_in(column.expression)
        return frozenset(found)

    def column(self, name: str) -> Column:
        """Return the column of that name; resolve has made sure there is one."""
        return self.by_name[name]

    def category(self, name: str) -> CategoryColumn:
        """Return the column of keys of that name; what is true or false has two."""
        column = self.column(name)
        if isinstance(column, BooleanColumn):
            return CategoryColumn(name=name, keys=("false", "true"))
        assert isinstance(column, CategoryColumn), "the planner lets no other group"
        return column

    def private(self, names: Iterable[str]) -> tuple[str, ...]:
        """Return those of some columns whose keys are to be found."""
        found = self.by_name
        return tuple(x for x in names if isinstance(found[x], PrivateColumn))

    def has_others(self, name: str) -> bool:
        """Tell whether what is no key of a column has a key of its own."""
        return getattr(self.by_name[name], "others", False)

    def number(self, name: str) -> NumberColumn:
        """Return the column of numbers of that name.

        Truth is 0 or 1, a date its day and a time its second, from 1970-01-01.
        """
        column = self.column(name)
        match column:
            case NumberColumn():
                return column
            case BooleanColumn():
                lower, step, steps = 0, 1, 1
            case DateColumn(first=lower):
                step, steps = 1, column.last - lower
            case TimeColumn(first=lower, step=step):
                steps = (column.last - lower) // step
            case _:
                raise AssertionError("the planner sums no other")
        return NumberColumn(
            name=name,
            type=NumberType.INTEGER,
            lower=Fraction(lower),
            upper=Fraction(lower + steps * step),
            step=Fraction(step),
            unit=None,
            nulls=column.nulls,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Contributes:
    """What one unit can add at most: ``rows`` in each of ``groups`` groups.

    With a ``total``, rows <= total < rows * groups, it is that many rows in all.
    """

    rows: int
    groups: int
    total: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Privacy:
    """The promise: who is protected, against what, and the total budget.

    ``unit`` is the name of an id column, or None when each row is its own unit (then
    ``contributes`` is one row in one group). ``replace_one`` implies `RowsExactly`.
    0 < epsilon <= 1000 and 0 <= delta < 1; with a delta of 0 the release is pure.
    """

    unit: str | None
    contributes: Contributes
    neighbours: Neighbours
    epsilon: Fraction
    delta: Fraction


@dataclass(frozen=True, slots=True, kw_only=True)
class Share:
    """A part of what is left of the budget, in proportion to ``weight`` > 0.

    Of the epsilon, or, where a plan accounts in rho, of the rho.
    """

    weight: Fraction


@dataclass(frozen=True, slots=True, kw_only=True)
class Epsilon:
    """Exactly this much of the budget; 0 < value <= the total."""

    value: Fraction


@dataclass(frozen=True, slots=True, kw_only=True)
class AccuracyTarget:
    """A budget that keeps the error ``within`` > 0 with probability 1 - alpha.

    It is the least one for geometric noise, and for snapping that of the plain form of
    its accuracy.
    """

    within: Fraction


@dataclass(frozen=True, slots=True, kw_only=True)
class Rho:
    """Exactly this much under zero-concentrated privacy; value > 0. Needs a delta."""

    value: Fraction


Spend = Share | Epsilon | AccuracyTarget | Rho


@dataclass(frozen=True, slots=True, kw_only=True)
class Statistic(Lean):
    """One thing to release.

    ``kind`` is the name of a statistic of the table, `dpql.statistics.STATISTICS`.
    ``columns`` are the inputs in order: none for count and
    proportion, two for covariance and ratio, else one.
    ``edges`` are the bin edges of the histogram of a number column, at least two,
    increasing, within its bounds: [e0, e1), [e1, e2), ..., the last closed. They are
    empty for every other statistic and for the histogram of a category, whose bins are
    its keys. ``by`` names category columns; the groups are the product of their keys.
    ``condition`` is what a proportion asks of each row; None for all others.
    ``at`` are the quantiles of one column, at least one, increasing, within (0, 1).
    ``at_least`` is a public promise, not enforced: every group of a mean or variance
    of unknown count has so many rows. ``contributes`` is None where that of the spec
    holds. ``total_of`` names the statistic whose groups are added up here: all else but
    spending is as it is there. ``shown_from`` is the least number of units of a key
    that this statistic may find, None for 1. 0 < alpha < 1 and 0 < gamma <= 1.
    """

    LEFT_OUT: ClassVar[Mapping[str, Any]] = {"shown_from": None}

    name: str
    kind: str
    columns: tuple[str, ...]
    edges: tuple[Fraction, ...] = ()
    at: tuple[Fraction, ...] = ()
    condition: Condition | None = None
    where: Condition | None
    by: tuple[str, ...]
    at_least: int | None = None
    shown_from: int | None = None
    contributes: Contributes | None = None
    total_of: str | None = None
    mechanism: MechanismName
    alpha: Fraction
    gamma: Fraction
    spend: Spend


@dataclass(frozen=True, slots=True, kw_only=True)
class Spans:
    """The span of the text that each part of a spec was read from.

    A path is the sequence of names from the top: ``("statistics", "headcount")``.
    """

    by_path: Mapping[tuple[str, ...], Span] = field(default_factory=dict)

    def span(self, *path: str) -> Span | None:
        """Return the span of the path, or of the nearest part that encloses it."""
        for length in range(len(path), 0, -1):
            found = self.by_path.get(path[:length])
            if found is not None:
                return found
        return None


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Spec:
    """A whole spec: equal to another exactly when both mean the same."""

    release: str
    purpose: str
    data: Data
    privacy: Privacy
    statistics: tuple[Statistic, ...]
    signer: str | None
    spans: Spans = field(default=Spans(), compare=False, repr=False)
    filled_in: tuple[str, ...] = field(default=(), compare=False, repr=False)
    """What the text left to the language, such as "delta 0", in words."""

    def __repr__(self) -> str:
        count = len(self.statistics)
        noun = "statistic" if count == 1 else "statistics"
        return f"<spec of {self.release}, {count} {noun}>"

    def contributes(self, statistic: Statistic) -> Contributes:
        """Return what one unit can add to a statistic at most."""
        return statistic.contributes or self.privacy.contributes
