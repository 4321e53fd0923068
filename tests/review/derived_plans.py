"""Plans with derived columns, made of one of the gallery."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

from review.spec_edits import OLD

from dpql.model.columns import (
    BooleanColumn,
    Column,
    DateColumn,
    DerivedColumn,
    DropNulls,
    FillNulls,
    NumberColumn,
    NumberType,
    TimeColumn,
)
from dpql.model.expression import (
    Bands,
    CalendarPart,
    Call,
    Compared,
    Comparison,
    Constant,
    Expression,
    Function,
    Map,
    Operator,
    Pair,
    PartOf,
    Reference,
)
from dpql.model.plan import Plan
from dpql.planner import plan

DROP = DropNulls()


def number(name: str, upper: int = 100) -> NumberColumn:
    """Return a column of whole numbers from 0."""
    return NumberColumn(
        name=name,
        type=NumberType.INTEGER,
        lower=Fraction(0),
        upper=Fraction(upper),
        step=Fraction(1),
        unit=None,
        nulls=DROP,
    )


COLUMNS: tuple[Column, ...] = (
    number("arrived"),
    number("left"),
    BooleanColumn(name="diverted", nulls=FillNulls(value=Fraction(0))),
    DateColumn(name="when", first=15_706, last=16_070, nulls=DROP),
    TimeColumn(name="at", first=0, last=86_340, step=60, zone=60, nulls=DROP),
)
GAINED = Call(
    function=Function.SUBTRACT,
    operands=(Reference(column="left"), Reference(column="arrived")),
)
LATE = Comparison(column="arrived", operator=Operator.GREATER, value=Fraction(15))
MUCH = Compared(
    left=Reference(column="gained"),
    operator=Operator.GREATER,
    right=Constant(value=Fraction(15)),
)
FAR = Bands(operand=Reference(column="left"), edges=tuple(map(Fraction, (0, 50, 100))))
MONTH = PartOf(part=CalendarPart.MONTH, column="when")
LONG = Map(
    operand=Reference(column="region"),
    pairs=tuple(Pair(key=key, value=f"{key}{'x' * 300}") for key in ("R1", "R2")),
    otherwise=None,
    missing=None,
    digest=None,
)


def planned(
    derived: dict[str, Expression],
    by: Sequence[str] = (),
    columns: Sequence[Column] = COLUMNS,
) -> Plan:
    """Return a plan with such derived columns, whose first step is grouped by some."""
    base = plan(OLD)
    data = replace(
        OLD.data,
        columns=(*OLD.data.columns, *columns),
        derived=tuple(
            DerivedColumn(name=name, expression=expression)
            for name, expression in derived.items()
        ),
    )
    first, *others = OLD.statistics
    statistics = (replace(first, by=tuple(by)), *others)
    step, *steps = base.steps
    return replace(
        base,
        spec=replace(OLD, data=data, statistics=statistics),
        steps=(replace(step, by=tuple(by)), *steps),
    )
