"""Hypothesis expressions over columns of every type, and rows full of odd cells."""

from __future__ import annotations

import datetime as dt
from dataclasses import replace
from fractions import Fraction
from typing import Any

import polars as pl
from hypothesis import strategies as st
from tables import TABLE

from dpql.model.calendar import read_date, read_time
from dpql.model.expression import (
    And,
    Bands,
    Between,
    CalendarPart,
    Call,
    Compared,
    Comparison,
    Constant,
    Expression,
    Function,
    IsMissing,
    IsNull,
    Listed,
    Map,
    Membership,
    Not,
    Operator,
    Or,
    Pair,
    PartOf,
    Ranged,
    Reference,
)
from dpql.model.lattice import Lattice
from dpql.model.lattice_rules import Untyped
from dpql.model.spec import (
    BooleanColumn,
    CategoryColumn,
    Column,
    Data,
    DateColumn,
    DerivedColumn,
    DropNulls,
    FillNulls,
    NumberColumn,
    NumberType,
    TimeColumn,
)


def _day(text: str) -> int:
    found = read_date(text)
    assert found is not None
    return found


def _second(text: str) -> int:
    found = read_time(text)
    assert found is not None
    return found


def _number(
    name: str, bounds: tuple[str, str], step: str | None, nulls: Any
) -> NumberColumn:
    kind = "decimal" if step else "float"
    if step and float(step).is_integer():
        kind = "integer"
    return NumberColumn(
        name=name,
        type=NumberType(kind),
        lower=Fraction(bounds[0]),
        upper=Fraction(bounds[1]),
        step=None if step is None else Fraction(step),
        unit=None,
        nulls=nulls,
    )


_DROP = DropNulls()


def _fill(value: Any) -> FillNulls:
    return FillNulls(value=Fraction(value))


COLUMNS: tuple[Column, ...] = (
    _number("n", ("-5", "20"), "1", _DROP),
    _number("m", ("-6", "15"), "3", _fill(4)),
    _number("d", ("-1", "2"), "0.25", _DROP),
    _number("c", ("0.1", "0.7"), "0.1", _fill("0.3")),
    _number("f", ("-3", "3.5"), None, _DROP),
    _number("g", ("0", "1"), None, _fill("0.1")),
    _number("big", (str(-(2**54)), str(2**54)), "1", _DROP),
    CategoryColumn(name="k", keys=("a", "b", "c")),
    CategoryColumn(name="q", keys=("3", "1", "2"), numeric=True),
    BooleanColumn(name="b", nulls=_DROP),
    BooleanColumn(name="t", nulls=_fill(1)),
    DateColumn(
        name="day", first=_day("1969-12-20"), last=_day("1970-03-05"), nulls=_DROP
    ),
    DateColumn(
        name="due",
        first=_day("1970-01-01"),
        last=_day("1970-01-31"),
        nulls=_fill(_day("1970-01-07")),
    ),
    TimeColumn(
        name="left",
        first=_second("1969-12-31 22:00"),
        last=_second("1970-01-02 03:00"),
        step=3600,
        zone=60,
        nulls=_DROP,
    ),
    TimeColumn(
        name="back",
        first=_second("1969-12-31 22:30"),
        last=_second("1970-01-04 00:00"),
        step=86400,
        zone=60,
        nulls=_fill(_second("1970-01-01 22:30")),
    ),
)
ABOVE = ("derived 0", "derived 1")
"""Derived columns that those below may name, if they have a type."""

NUMBERS = ("n", "m", "d", "c", "f", "g")
DATA = replace(TABLE, columns=COLUMNS)

_CONSTANTS = st.sampled_from(
    [Fraction(x) for x in ("0", "1", "-1", "2", "1/2", "-3/2", "0.1", "7", "1/3", "-5")]
)
_LITERALS = _CONSTANTS | st.sampled_from([Fraction(2**53 + 1), Fraction(10) ** 30])
_OPERATORS = st.sampled_from(Operator)
_EQUALITIES = st.sampled_from([Operator.EQUAL, Operator.UNEQUAL])
_BINARY = st.sampled_from(
    [
        Function.ADD,
        Function.SUBTRACT,
        Function.MULTIPLY,
        Function.MIN,
        Function.MAX,
    ]
)
_DAYS = st.sampled_from(["1970-01-01", "1969-12-31", "1970-02-28", "2000-01-01"])
_TIMES = st.sampled_from(
    ["1970-01-01 00:00", "1969-12-31 23:59:59", "1970-01-02", "1970-01-01 12:30"]
)
_EDGES = st.lists(_CONSTANTS, min_size=2, max_size=4, unique=True).map(sorted)


def _constant(value: Any) -> Constant:
    return Constant(value=value)


def numbers(depth: int) -> st.SearchStrategy[Expression]:
    """Return expressions that are numbers, so deep at most."""
    plain = st.sampled_from([*NUMBERS, "b", "t", *ABOVE]).map(
        lambda name: Reference(column=name)
    )
    leaf = plain | plain | _CONSTANTS.map(_constant)
    if depth <= 1:
        return leaf
    below = st.deferred(lambda: numbers(depth - 1))
    truth = st.deferred(lambda: conditions(depth - 1))
    nonzero = _CONSTANTS.filter(bool).map(_constant)
    positive = _CONSTANTS.filter(lambda x: x > 0).map(_constant)
    days = st.sampled_from(["day", "due"]).map(lambda name: Reference(column=name))
    return st.one_of(
        leaf,
        st.builds(_call, _BINARY, below, below),
        st.builds(_call, _BINARY, below, below),
        st.builds(_call, st.just(Function.ABS), below),
        st.builds(_call, st.just(Function.FLOOR_DIVIDE), below, nonzero),
        st.builds(_call, st.just(Function.ROUND), below, positive),
        st.builds(_call, st.just(Function.CASE), truth, below, below),
        st.builds(_call, st.just(Function.COALESCE), below, _CONSTANTS.map(_constant)),
        st.builds(_div, below, below, st.sampled_from(_SPANS)),
        st.builds(_call, st.just(Function.SUBTRACT), days, days | _DAYS.map(_constant)),
        st.builds(_call, st.just(Function.SUBTRACT), _DAYS.map(_constant), days),
        truth,
        st.sampled_from(
            [
                PartOf(part=CalendarPart.HOUR, column="left"),
                PartOf(part=CalendarPart.WEEKDAY, column="day"),
                PartOf(part=CalendarPart.YEAR, column="back"),
                PartOf(part=CalendarPart.MONTH_OF_YEAR, column="due"),
            ]
        ),
    )


_SPANS = [
    ("-2", "2", "1/2"),
    ("0", "1", "1/3"),
    ("-7", "-1", "2"),
    ("0.1", "0.9", "0.1"),
]


def _call(function: Function, *operands: Expression) -> Call:
    return Call(function=function, operands=operands)


def _div(x: Expression, y: Expression, span: tuple[str, str, str]) -> Call:
    return _call(Function.DIV, x, y, *(_constant(Fraction(one)) for one in span))


def keys(depth: int) -> st.SearchStrategy[Expression]:
    """Return expressions that are keys, so deep at most."""
    leaf: st.SearchStrategy[Expression] = st.sampled_from(
        [
            Reference(column="k"),
            Reference(column="q"),
            *(
                PartOf(part=part, column="day")
                for part in CalendarPart
                if part != "hour"
            ),
            *(PartOf(part=part, column="back") for part in CalendarPart),
            PartOf(part=CalendarPart.HOUR, column="left"),
            PartOf(part=CalendarPart.DAY, column="left"),
        ]
    )
    if depth <= 1:
        return leaf
    number = st.deferred(lambda: numbers(depth - 1))
    return st.one_of(
        leaf,
        st.builds(lambda x, e: Bands(operand=x, edges=tuple(e)), number, _EDGES),
        st.builds(
            _map,
            st.sampled_from(["k", "q", "b"]),
            st.lists(st.sampled_from("xyz"), min_size=1, max_size=3),
            st.sampled_from([None, "x", "other"]),
            st.sampled_from([None, "gone"]),
        ),
    )


_KEYS = {"k": ("c", "a", "b"), "q": ("1", "2", "3"), "b": ("true", "false")}


def _map(
    name: str, values: list[str], otherwise: str | None, missing: str | None
) -> Map:
    pairs = zip(_KEYS[name], values, strict=False)
    return Map(
        operand=Reference(column=name),
        pairs=tuple(Pair(key=key, value=value) for key, value in pairs),
        otherwise=otherwise,
        missing=missing,
        digest=None,
    )


def conditions(depth: int) -> st.SearchStrategy[Expression]:
    """Return conditions, so deep at most."""
    plain = st.sampled_from([*NUMBERS, "big"])
    few = st.lists(_LITERALS, min_size=1, max_size=3, unique=True).map(tuple)
    pair = st.tuples(_LITERALS, _LITERALS).map(sorted)
    columns = st.sampled_from([*(column.name for column in COLUMNS), *ABOVE])
    leaf = st.one_of(
        st.builds(_comparison, plain, _OPERATORS, _LITERALS),
        st.builds(_comparison, st.sampled_from(["day", "due"]), _OPERATORS, _DAYS),
        st.builds(_comparison, st.sampled_from(["left", "back"]), _OPERATORS, _TIMES),
        st.builds(_comparison, st.just("k"), _EQUALITIES, st.sampled_from("abc")),
        st.builds(
            _comparison,
            st.sampled_from("bt"),
            _EQUALITIES,
            st.sampled_from(["true", "false"]),
        ),
        st.builds(lambda c, v: Membership(column=c, values=v), plain, few),
        st.builds(lambda c, p: Between(column=c, lower=p[0], upper=p[1]), plain, pair),
        st.builds(lambda c: IsNull(column=c), columns),
        st.builds(
            lambda a, o, b: Compared(
                left=Reference(column=a), operator=o, right=Reference(column=b)
            ),
            plain,
            _OPERATORS,
            plain,
        ),
        st.builds(
            lambda o: Compared(
                left=Reference(column="day"), operator=o, right=Reference(column="due")
            ),
            _OPERATORS,
        ),
        st.sampled_from(["b", "t", *ABOVE]).map(lambda name: Reference(column=name)),
    )
    if depth <= 1:
        return leaf
    number = st.deferred(lambda: numbers(depth - 1))
    below = st.deferred(lambda: conditions(depth - 1))
    several = st.lists(below, min_size=2, max_size=3).map(tuple)
    return st.one_of(
        leaf,
        st.builds(lambda x: Not(operand=x), below),
        st.builds(lambda x: And(operands=x), several),
        st.builds(lambda x: Or(operands=x), several),
        st.builds(
            lambda x, o, y: Compared(left=x, operator=o, right=y),
            number,
            _OPERATORS,
            number,
        ),
        st.builds(
            lambda x, o, y: Compared(left=x, operator=o, right=_constant(y)),
            number,
            _OPERATORS,
            _LITERALS,
        ),
        st.builds(lambda x, v: Listed(operand=x, values=v), number, few),
        st.builds(lambda x, p: Ranged(operand=x, lower=p[0], upper=p[1]), number, pair),
        st.builds(lambda x: IsMissing(operand=x), number | keys(depth - 1)),
        st.builds(
            lambda x, y, o: Compared(left=x, operator=o, right=y),
            keys(depth - 1),
            keys(depth - 1),
            _EQUALITIES,
        ),
    )


def _comparison(name: str, operator: Operator, value: Any) -> Comparison:
    return Comparison(column=name, operator=operator, value=value)


def derived(*expressions: Expression) -> Data:
    """Return data with those expressions that have a type and need no wide integers."""
    lattice = Lattice(COLUMNS)
    found = []
    for index, expression in enumerate(expressions):
        try:
            node = lattice.typed(expression)
        except Untyped:
            continue
        if node.shape.excess is None:
            name = f"derived {index}"
            lattice.add(name, node)
            found.append(DerivedColumn(name=name, expression=expression))
    return replace(DATA, derived=tuple(found))


_WHOLE_CELLS = st.one_of(
    st.integers(-9, 25), st.sampled_from([2**53 + 1, -(2**63), 2**63 - 1, 2**62])
)
_REAL_CELLS = st.one_of(
    st.sampled_from([0.0, -0.0, 0.1, 0.25, -1.5, 2.0**53, 1e300, float("nan")]),
    st.sampled_from([float("inf"), float("-inf"), 5e-324, 0.30000000000000004]),
    st.floats(-4, 4),
)
_DATE_CELLS = st.dates(dt.date(1969, 12, 1), dt.date(1970, 3, 20)) | st.sampled_from(
    [dt.date(1, 1, 1), dt.date(9999, 12, 31)]
)
_AT = dt.datetime.fromisoformat
_TIME_CELLS = st.datetimes(_AT("1969-12-31"), _AT("1970-01-05")) | st.sampled_from(
    [_AT("0001-01-01"), _AT("9999-12-31 23:59:59"), _AT("1970-01-04 22:29:59")]
)
_CELLS: dict[str, tuple[Any, st.SearchStrategy[Any]]] = {
    **dict.fromkeys(["n", "m", "big"], (pl.Int64, _WHOLE_CELLS)),
    **dict.fromkeys(["d", "c", "f", "g"], (pl.Float64, _REAL_CELLS)),
    "k": (pl.String, st.sampled_from("abcd")),
    "q": (pl.Float64, st.sampled_from([1.0, 2.0, 3.0, 1.5])),
    **dict.fromkeys(["b", "t"], (pl.Boolean, st.booleans())),
    **dict.fromkeys(["day", "due"], (pl.Date, _DATE_CELLS)),
    **dict.fromkeys(["left", "back"], (pl.Datetime("us"), _TIME_CELLS)),
}


@st.composite
def tables(draw: st.DrawFn) -> pl.DataFrame:
    """Draw a frame of the columns."""
    count = draw(st.integers(1, 6))
    columns = []
    for name, (dtype, cells) in _CELLS.items():
        held = st.lists(st.none() | cells, min_size=count, max_size=count)
        columns.append(pl.Series(name, draw(held), dtype))
    return pl.DataFrame(columns)
