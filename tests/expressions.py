"""Random declared columns, expressions over them of every kind, and rows of cells."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from exact_rows import Row
from hypothesis import strategies as st

from dpql.model.calendar import DAY
from dpql.model.expression import (
    NUMBERED,
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
from dpql.model.spec import (
    BooleanColumn,
    CategoryColumn,
    Column,
    Data,
    DateColumn,
    DropNulls,
    FillNulls,
    NumberColumn,
    NumberType,
    RowsAtMost,
    TimeColumn,
)

DROP = DropNulls()
FIRST, LAST = 15_700, 15_800
"""Days of 2012 and 2013."""


def _fill(value: Any) -> FillNulls:
    return FillNulls(value=Fraction(value))


def _number(name: str, kind: NumberType, *given: Any, nulls: Any = DROP) -> Column:
    lower, upper, step = (None if x is None else Fraction(x) for x in given)
    assert lower is not None
    assert upper is not None
    return NumberColumn(
        name=name,
        type=kind,
        lower=lower,
        upper=upper,
        step=step,
        unit=None,
        nulls=nulls,
    )


COLUMNS: tuple[Column, ...] = (
    _number("i", NumberType.INTEGER, -7, 9, 1),
    _number("j", NumberType.INTEGER, 1, 700, 1, nulls=_fill(20)),
    _number("d", NumberType.DECIMAL, "-1/2", "5/2", "1/10"),
    _number("f", NumberType.FLOAT, -60, 240, None),
    BooleanColumn(name="b", nulls=DROP),
    BooleanColumn(name="c", nulls=_fill(1)),
    CategoryColumn(name="k", keys=("UA", "AA", "x", "true")),
    CategoryColumn(name="l", keys=("AA", "zz")),
    CategoryColumn(name="m", keys=("1", "2", "3"), numeric=True),
    DateColumn(name="u", first=FIRST, last=LAST, nulls=DROP),
    DateColumn(name="v", first=FIRST - 5, last=LAST, nulls=_fill(FIRST)),
    TimeColumn(
        name="s", first=FIRST * DAY, last=LAST * DAY, step=60, zone=60, nulls=DROP
    ),
    TimeColumn(
        name="t",
        first=FIRST * DAY + 90,
        last=LAST * DAY,
        step=60,
        zone=60,
        nulls=_fill(FIRST * DAY + 90),
    ),
)
DATA = Data(source="rows", rows=RowsAtMost(count=1_000), columns=COLUMNS)
NUMBERS = ("i", "j", "d", "f")
KEYS = {"k": ("UA", "AA", "x", "true"), "l": ("AA", "zz"), "m": ("1", "2", "3")}
DATES = ("u", "v")
TIMES = ("s", "t")
CONSTANTS = [Fraction(x) for x in (0, 1, 2, -3, 15, 100)] + [
    Fraction(1, 3),
    Fraction(-3, 2),
    Fraction(7, 10),
]
PLAIN = (Reference(column=name) for name in NUMBERS)

constants = st.sampled_from(CONSTANTS).map(lambda x: Constant(value=x))
operators = st.sampled_from(tuple(Operator))
days = st.integers(FIRST - 10, LAST + 10)


def _call(function: Function, *operands: Any) -> st.SearchStrategy[Expression]:
    return st.builds(Call, function=st.just(function), operands=st.tuples(*operands))


def edges(largest: int = 8) -> st.SearchStrategy[tuple[Fraction, ...]]:
    """Return the edges of bands."""
    numbers = st.fractions(-70, 250, max_denominator=4)
    lists = st.lists(numbers, min_size=2, max_size=largest, unique=True)
    return lists.map(lambda found: tuple(sorted(found)))


def numbers(depth: int) -> st.SearchStrategy[Expression]:
    """Return expressions that are numbers, at most so deep."""
    leaf = st.one_of(
        st.sampled_from(NUMBERS).map(lambda name: Reference(column=name)),
        constants,
        st.builds(
            PartOf,
            part=st.sampled_from(sorted(NUMBERED - {CalendarPart.HOUR})),
            column=st.sampled_from(DATES + TIMES),
        ),
        st.sampled_from([DATES, TIMES]).flatmap(
            lambda pair: _call(
                Function.SUBTRACT,
                *(st.just(Reference(column=name)) for name in pair),
            )
        ),
    )
    since = st.sampled_from(DATES + TIMES).map(lambda name: Reference(column=name))
    then = st.sampled_from(["2013-01-05", "1970-01-01", "1969-12-31"]).map(
        lambda text: Constant(value=text)
    )
    leaf |= _call(Function.SUBTRACT, since, then) | _call(
        Function.SUBTRACT, then, since
    )
    if depth <= 1:
        return leaf
    inner = numbers(depth - 1)
    step = st.sampled_from([Fraction(1), Fraction(1, 3), Fraction(5)])
    divisor = st.sampled_from([x for x in CONSTANTS if x]).map(
        lambda x: Constant(value=x)
    )
    return st.one_of(
        leaf,
        *(
            _call(one, inner, inner)
            for one in (
                Function.ADD,
                Function.SUBTRACT,
                Function.MULTIPLY,
                Function.MIN,
                Function.MAX,
            )
        ),
        _call(Function.ABS, inner),
        _call(Function.FLOOR_DIVIDE, inner, divisor),
        _call(Function.ROUND, inner, step.map(lambda x: Constant(value=x))),
        _call(Function.CASE, conditions(depth - 1), inner, inner),
        _call(Function.COALESCE, inner, constants),
        _call(
            Function.DIV,
            inner,
            inner,
            *(
                st.just(Constant(value=x))
                for x in (Fraction(-1), Fraction(2), Fraction(1, 100))
            ),
        ),
    )


def keys(depth: int) -> st.SearchStrategy[Expression]:
    """Return expressions that are keys, at most so deep."""
    leaf = st.one_of(
        st.sampled_from(sorted(KEYS)).map(lambda name: Reference(column=name)),
        st.builds(
            PartOf,
            part=st.sampled_from([p for p in CalendarPart if p != CalendarPart.HOUR]),
            column=st.sampled_from(DATES + TIMES),
        ),
    )
    if depth <= 1:
        return leaf
    values = st.sampled_from(["big", "small", "UA"])
    maps = st.sampled_from(sorted(KEYS)).flatmap(
        lambda name: st.builds(
            Map,
            operand=st.just(Reference(column=name)),
            pairs=st.dictionaries(st.sampled_from(KEYS[name]), values, min_size=1).map(
                lambda found: tuple(
                    Pair(key=key, value=value) for key, value in found.items()
                )
            ),
            otherwise=st.none() | values,
            missing=st.none() | values,
            digest=st.none(),
        )
    )
    return st.one_of(
        leaf, maps, st.builds(Bands, operand=numbers(depth - 1), edges=edges())
    )


def conditions(depth: int) -> st.SearchStrategy[Expression]:
    """Return expressions that are true or false, at most so deep."""
    values = st.sampled_from(CONSTANTS)
    plain = st.sampled_from(NUMBERS)
    key = st.sampled_from(sorted(KEYS))
    leaf = st.one_of(
        st.sampled_from("bc").map(lambda name: Reference(column=name)),
        st.builds(Comparison, column=plain, operator=operators, value=values),
        st.builds(
            Membership,
            column=plain,
            values=st.lists(values, min_size=1, unique=True).map(tuple),
        ),
        st.builds(
            Between,
            column=plain,
            lower=st.sampled_from([Fraction(-5), Fraction(1)]),
            upper=st.sampled_from([Fraction(1), Fraction(3, 2), Fraction(90)]),
        ),
        key.flatmap(
            lambda name: st.builds(
                Comparison,
                column=st.just(name),
                operator=st.sampled_from([Operator.EQUAL, Operator.UNEQUAL]),
                value=st.sampled_from(KEYS[name]),
            )
        ),
        st.builds(
            Compared,
            left=st.sampled_from(NUMBERS).map(lambda name: Reference(column=name)),
            operator=operators,
            right=st.sampled_from(NUMBERS).map(lambda name: Reference(column=name)),
        ),
        st.sampled_from([DATES, TIMES]).flatmap(
            lambda pair: st.builds(
                Compared,
                left=st.just(Reference(column=pair[0])),
                operator=operators,
                right=st.just(Reference(column=pair[1])),
            )
        ),
        st.builds(
            Comparison,
            column=st.sampled_from(DATES),
            operator=operators,
            value=st.just("2013-01-01"),
        ),
        st.builds(
            Comparison,
            column=st.sampled_from(TIMES),
            operator=operators,
            value=st.just("2013-01-01 12:30:01"),
        ),
        st.sampled_from([one.name for one in COLUMNS]).map(
            lambda name: IsNull(column=name)
        ),
    )
    if depth <= 1:
        return leaf
    inner, number = conditions(depth - 1), numbers(depth - 1)
    many = st.lists(inner, min_size=2, max_size=3)
    return st.one_of(
        leaf,
        inner.map(lambda operand: Not(operand=operand)),
        many.map(lambda found: _flat(And, found)),
        many.map(lambda found: _flat(Or, found)),
        st.builds(Compared, left=number, operator=operators, right=number),
        st.builds(
            Listed,
            operand=_call(Function.ADD, number, number),
            values=st.lists(values, min_size=1, unique=True).map(tuple),
        ),
        st.builds(
            Ranged,
            operand=_call(Function.MULTIPLY, number, number),
            lower=st.sampled_from([Fraction(-5), Fraction(1, 3)]),
            upper=st.sampled_from([Fraction(1), Fraction(90)]),
        ),
        _call(Function.ABS, number).map(lambda operand: IsMissing(operand=operand)),
    )


def _flat(kind: Any, found: list[Expression]) -> Expression:
    flat: list[Expression] = []
    for operand in found:
        flat += operand.operands if isinstance(operand, kind) else [operand]
    return kind(operands=tuple(flat))  # type: ignore[no-any-return]


def expressions(depth: int) -> st.SearchStrategy[Expression]:
    """Return expressions of every kind."""
    return st.one_of(numbers(depth), keys(depth), conditions(depth))


def rows() -> st.SearchStrategy[Row]:
    """Return rows of canonical cells: nulls, extremes, beyond the bounds."""
    wild = st.sampled_from([-(1 << 62), 1 << 62, -8, 10, 0])
    real = st.sampled_from([-1e300, 1e300, -60.0, 240.0, 15.0, 0.7, -1.5]) | st.floats(
        -80, 300
    )
    truth = st.integers(0, 1)
    second = st.builds(
        lambda day, rest: day * DAY + rest, days, st.integers(0, DAY - 1)
    )
    cells: dict[str, st.SearchStrategy[Any]] = {
        "i": st.integers(-8, 10) | wild,
        "j": st.integers(0, 701) | wild,
        "d": st.integers(-6, 26).map(lambda u: u / 10) | real,
        "f": real,
        "b": truth,
        "c": truth,
        "k": st.integers(0, 3),
        "l": st.integers(0, 1),
        "m": st.integers(0, 2),
        "u": days,
        "v": days,
        "s": second,
        "t": second,
    }
    return st.fixed_dictionaries(
        {name: st.none() | cell for name, cell in cells.items()}
    )
