"""An expression evaluated by an engine is what exact rationals say, on every row."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import fields, replace
from fractions import Fraction
from pathlib import Path
from typing import Any, get_args

import polars as pl
import pytest
from expression_cases import DATA, NUMBERS, conditions, derived, keys, numbers, tables
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from oracle_expressions import Row
from tables import KINDS

from dpql.curator.columns import canonical_columns
from dpql.curator.derived import Derivation
from dpql.curator.engines.derived_columns import _METHODS, DerivedColumns
from dpql.curator.program import Program
from dpql.curator.sources import open_source
from dpql.model import lattice_nodes as nodes
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
    walk,
)
from dpql.model.lattice_nodes import Kind, Shape
from dpql.model.spec import (
    Data,
    DerivedColumn,
    DropNulls,
    FillNulls,
    NumberColumn,
    NumberType,
)

MANY = settings(
    max_examples=150, deadline=None, suppress_health_check=list(HealthCheck)
)


def program(data: Data) -> Program:
    """Return a program that makes all derived columns and sums nothing."""
    found, _ = Derivation(data).needed({one.name for one in data.derived})
    return Program(
        columns=canonical_columns(data),
        derived=found,
        data=data,
        unit=None,
        declared_rows=9,
        counts_rows=False,
        tallies=(),
    )


def evaluated(frame: Any, data: Data) -> list[tuple[Any, ...]]:
    """Return the derived columns of every row, as values."""
    made = DerivedColumns(program(data))
    source = open_source(frame, data)
    names = [column.name for column in data.columns]
    shapes = [data.lattice.derived[one.name].shape for one in data.derived]
    rows: list[tuple[Any, ...]] = []
    for batch in source.batches(names, made):
        cells = [batch[one.name].to_list() for one in data.derived]
        read = [
            [_value(cell, shape) for cell in column]
            for column, shape in zip(cells, shapes, strict=True)
        ]
        rows += zip(*read, strict=True)
    return rows


def _value(cell: int | None, shape: Shape) -> Any:
    if cell is None:
        assert shape.nullable, "the lattice says that it is never null"
        return None
    if shape.kind is Kind.KEY:
        return shape.keys[cell]
    assert shape.low <= cell <= shape.high, "the lattice has its bounds"
    return bool(cell) if shape.kind is Kind.BOOLEAN else shape.step * cell


def expected(frame: pl.DataFrame, data: Data) -> list[tuple[Any, ...]]:
    """Return the same by exact rationals."""
    rows = [Row(data, cells) for cells in frame.to_dicts()]
    return [tuple(row.value(one.expression) for one in data.derived) for row in rows]


@pytest.mark.property
@given(
    expressions=st.lists(
        numbers(6) | conditions(6) | keys(6), min_size=1, max_size=4
    ).map(tuple),
    frame=tables(),
)
@MANY
def test_expressions_are_exact(expressions: Any, frame: pl.DataFrame) -> None:
    """Numbers, truth and keys, nested to depth 6, on nulls, extremes and beyond."""
    data = derived(*expressions)
    if data.derived:
        assert expected(frame, data) == evaluated(frame, data)


def _ref(name: str) -> Reference:
    return Reference(column=name)


def _constant(text: str) -> Constant:
    return Constant(value=Fraction(text))


def _call(function: Function, *operands: Any) -> Call:
    found = [_ref(x) if isinstance(x, str) else x for x in operands]
    return Call(function=function, operands=tuple(found))


def _number_expressions() -> list[Expression]:
    two = (Function.ADD, Function.SUBTRACT, Function.MULTIPLY, *EXTREMES)
    found = [
        _call(one, x, y) for one in two for x, y in (("n", "d"), ("c", "g"), ("b", "n"))
    ]
    for name in ("n", "m", "d", "c", "f"):
        found += [
            _call(Function.ABS, name),
            *(
                _call(Function.FLOOR_DIVIDE, name, _constant(by))
                for by in ("7", "-2", "1/3", "-3/2")
            ),
            *(_call(Function.ROUND, name, _constant(to)) for to in ("1", "1/2", "7")),
            _call(Function.COALESCE, name, _constant("1/3")),
            _call(
                Function.CASE,
                Compared(left=_ref("n"), operator=Operator.LESS, right=_ref("d")),
                name,
                "m",
            ),
            *(
                _call(Function.DIV, x, y, *map(_constant, ("-2", "2", "1/3")))
                for x, y in ((name, "n"), ("d", name), (name, name))
            ),
        ]
    return [*found, _call(Function.SUBTRACT, "day", "due")]


EXTREMES = (Function.MIN, Function.MAX)
_LATE = Comparison(column="n", operator=Operator.GREATER, value=Fraction(1))
_EDGES = tuple(map(Fraction, ("-1", "0", "1/10", "3/10", "2")))
EVERY: tuple[Expression, ...] = (
    *_number_expressions(),
    *(Bands(operand=_ref(name), edges=_EDGES) for name in NUMBERS),
    Bands(operand=_call(Function.ADD, "n", "d"), edges=_EDGES),
    *(PartOf(part=part, column="left") for part in CalendarPart),
    *(PartOf(part=part, column="back") for part in CalendarPart),
    *(PartOf(part=part, column="day") for part in CalendarPart if part != "hour"),
    *(
        Compared(left=_ref(x), operator=operator, right=_ref(y))
        for operator in Operator
        for x, y in (("n", "big"), ("big", "f"), ("f", "big"), ("m", "c"), ("d", "g"))
    ),
    *(
        Comparison(column=name, operator=operator, value=value)
        for operator in Operator
        for name, value in (
            ("n", Fraction("2.5")),
            ("big", Fraction(2**53 + 1)),
            ("c", Fraction("0.3")),
            ("m", Fraction(4)),
            ("day", "1970-01-01"),
            ("back", "1970-01-01 22:30"),
        )
    ),
    *(IsNull(column=column.name) for column in DATA.columns),
    *(
        Membership(column=name, values=values)
        for name, values in (
            ("n", (Fraction(2), Fraction("2.5"), Fraction(-5))),
            ("big", (Fraction(2**53 + 1), Fraction(1))),
            ("m", (Fraction(4), Fraction(6))),
            ("k", ("a", "c")),
            ("q", ("3",)),
            ("due", ("1970-01-07", "1970-01-31")),
        )
    ),
    *(
        Between(column=name, lower=Fraction(low), upper=Fraction(high))
        for name, low, high in (("n", "-1", "2.5"), ("f", "0.1", "2"), ("m", "4", "4"))
    ),
    *(
        Map(
            operand=_ref(name),
            pairs=tuple(Pair(key=key, value=value) for key, value in pairs),
            otherwise=otherwise,
            missing=missing,
            digest=None,
        )
        for name, pairs in (
            ("k", (("c", "x"), ("a", "y"))),
            ("q", (("1", "x"), ("3", "x"))),
            ("b", (("true", "yes"),)),
        )
        for otherwise, missing in ((None, None), ("other", None), ("other", "gone"))
    ),
    *(IsMissing(operand=_call(Function.ADD, name, "d")) for name in ("n", "m", "g")),
    *(
        Compared(left=_ref("k"), operator=operator, right=_ref("q"))
        for operator in (Operator.EQUAL, Operator.UNEQUAL)
    ),
    *(
        Compared(left=_call(Function.ADD, "n", "m"), operator=operator, right=_ref("d"))
        for operator in Operator
    ),
    Listed(
        operand=_call(Function.MULTIPLY, "n", "m"),
        values=tuple(map(Fraction, ("6", "-30", "1/2"))),
    ),
    Ranged(
        operand=_call(Function.ADD, "c", "m"),
        lower=Fraction("0.2"),
        upper=Fraction("4.3"),
    ),
    *(Not(operand=_ref(name)) for name in "bt"),
    *(kind(operands=(_ref("b"), _LATE)) for kind in (And, Or)),
    _call(Function.COALESCE, "b", _constant("1")),
    _call(Function.SUBTRACT, _constant("1/2"), "n"),
    _call(Function.ADD, PartOf(part=CalendarPart.HOUR, column="left"), "n"),
    _call(Function.CASE, _ref("b"), _LATE, "t"),
)
"""Every function, part and comparison, on columns that drop nulls and that fill."""

_CELLS = {
    "n": """-9223372036854775808 9223372036854775807 -5 -1 0 1 2 3 20 21
        9007199254740993""",
    "m": "4 -6 -7 -5 15 16 0 2 1 3 5",
    "big": """9007199254740993 9007199254740992 -9007199254740993 0 1 2 3 4 5
        4611686018427387904 -9223372036854775808""",
    "d": "-1.0 -0.125 0.124999 0.125 2.0 3e300 -0.0 0.1 1.9 0.3 0.0",
    "c": "0.1 0.3 0.30000000000000004 0.15 0.7 0.0 1.0 0.6 0.2 0.4 0.5",
    "f": "inf -inf 9007199254740992 0.1 -3.0 3.5 0.0 1e-300 0.3 2.0 0.25",
    "g": "nan 0.1 1.0 0.0 0.3 2.0 -1.0 0.5 0.25 0.75 1e-9",
    "k": "a b c d x A a a b c a",
    "q": "1.0 2.0 3.0 1.5 4.0 -1.0 1.0 2.0 3.0 1.0 2.0",
    "b": "true false true false true null null true true false true",
    "t": "true false true null false true null true false false true",
    "day": """0001-01-01 9999-12-31 1969-12-19 1969-12-20 1969-12-31 1970-01-01
        1970-02-28 1970-03-05 1970-03-06 1970-01-04 1970-01-05""",
    "due": """1970-01-01 1970-01-31 1970-02-01 1969-12-31 1970-01-07 1970-01-08
        9999-12-31 1970-01-02 1970-01-03 1970-01-04 1970-01-05""",
    "left": """1969-12-31T21:59:59 1969-12-31T22:00:00 1970-01-02T03:59:59
        1970-01-02T04:00:00 1970-01-01T00:00:00 1969-12-31T23:59:59 0001-01-01T00:00:00
        9999-12-31T23:59:59 1970-01-01T12:30:30 1970-01-02T03:00:00
        1970-01-01T23:00:00""",
    "back": """1969-12-31T22:29:59 1969-12-31T22:30:00 1970-01-04T22:29:59
        1970-01-03T22:30:00 1970-01-04T00:00:00 1970-01-01T22:30:00 1970-01-01T22:29:59
        0001-01-01T00:00:00 1970-01-01T00:00:00 1970-01-02T00:00:00
        1970-01-03T23:00:00""",
}
NASTY = pl.DataFrame(
    {
        name: pl.Series(["null", *cells.split()]).replace("null", None)
        for name, cells in _CELLS.items()
    }
).with_columns(
    pl.col("n", "m", "big").cast(pl.Int64),
    pl.col("d", "c", "f", "g", "q").cast(pl.Float64),
    pl.col("b", "t") == "true",
    pl.col("day", "due").str.to_date(),
    pl.col("left", "back").str.to_datetime(),
)
"""Nulls, ends of every range, and what is beyond them."""


@pytest.mark.heavy
@pytest.mark.parametrize("kind", [None, *KINDS])
def test_every_function_is_exact_in_every_source(
    kind: str | None, tmp_path: Path
) -> None:
    """Nulls, ends of every range and what is beyond them, however they are stored."""
    data = derived(*EVERY)
    assert len(EVERY) == len(data.derived)
    made, stored = NASTY, NASTY
    if kind is not None:
        made, stored = KINDS[kind].make(NASTY, tmp_path), KINDS[kind].stored(NASTY)
    found = evaluated(made, data)
    assert sorted(expected(stored, data), key=repr) == sorted(found, key=repr)
    if kind is None:
        seen = [{row[at] for row in found} for at in range(len(EVERY))]
        # Such as c // 7, which is 0 wherever it is known.
        assert 7 == sum(len(values) == 1 for values in seen)


def test_every_kind_of_node_and_expression_is_among_them() -> None:
    """What is tried in every source leaves nothing out that an engine computes."""
    data = derived(*EVERY)
    made = {
        type(node)
        for one in data.lattice.derived.values()
        for node in (one, *_inside(one))
    }
    # A derived column names another one only in the property test.
    assert {nodes.DerivedCell} == set(_METHODS) - made
    used = [found for one in EVERY for found in walk(one)]
    assert set(get_args(Expression)) == {type(one) for one in used}
    assert set(Function) == {one.function for one in used if isinstance(one, Call)}
    assert set(CalendarPart) == {one.part for one in used if isinstance(one, PartOf)}


def _inside(node: nodes.Node) -> Iterator[nodes.Node]:
    for field in fields(node):
        value = getattr(node, field.name)
        for one in value if isinstance(value, tuple) else (value,):
            if isinstance(one, nodes.Node):
                yield one
                yield from _inside(one)


def test_conditions_read_what_they_need() -> None:
    """What is more than tests of single columns is derived; the rest is not."""
    data = derived(_call(Function.ADD, "n", "m"))
    derivation = Derivation(data)
    plain = Comparison(column="n", operator=Operator.LESS, value=Fraction(3))
    pair = Compared(left=_ref("n"), operator=Operator.LESS, right=_ref("d"))
    test = derivation.test(And(operands=(plain, Not(operand=pair), pair)))
    assert "n <= 2 and not (test 1 == 1) and test 1 == 1" == str(test)
    made, used = derivation.needed({"test 1"})
    assert ["test 1"] == [one.column.name for one in made]
    assert {"test 1", "n", "d"} == used
    made, used = derivation.needed({"derived 0"})
    assert ({"derived 0", "n", "m"}, 1) == (used, len(made))


_VECTORS = Path(__file__).parents[2] / "vectors" / "questions" / "derived.json"
_COMPARISONS = {"lt": Operator.LESS, "le": Operator.AT_MOST, "eq": Operator.EQUAL}
_FUNCTIONS = {
    "add": Function.ADD,
    "sub": Function.SUBTRACT,
    "mul": Function.MULTIPLY,
    "min": Function.MIN,
    "max": Function.MAX,
    "abs": Function.ABS,
    "floordiv": Function.FLOOR_DIVIDE,
    "div": Function.DIV,
    "coalesce": Function.COALESCE,
    "case": Function.CASE,
}


def _vector_expression(found: Any) -> Expression:  # noqa: PLR0911  one per kind
    name, *rest = found
    if name == "col":
        return _ref(rest[0])
    if name == "const":
        return _constant(rest[0])
    operands = [
        _constant(one) if isinstance(one, str) else _vector_expression(one)
        for one in rest
    ]
    if name in _COMPARISONS:
        return Compared(
            left=operands[0], operator=_COMPARISONS[name], right=operands[1]
        )
    if name == "isnull":
        return IsMissing(operand=operands[0])
    if name == "not":
        return Not(operand=operands[0])
    if name in ("and", "or"):
        return (And if name == "and" else Or)(operands=tuple(operands))
    return _call(_FUNCTIONS[name], *operands)


_CASES = [
    case
    for case in json.loads(_VECTORS.read_text())["cases"]
    if "values" in case["expect"]
]


@pytest.mark.parametrize("case", _CASES, ids=lambda case: case["id"])
def test_vectors(case: dict[str, Any]) -> None:
    """The exact values of the vectors, cell by cell."""
    given_ = case["input"]
    data = replace(
        DATA,
        columns=tuple(
            NumberColumn(
                name=name,
                type=NumberType.DECIMAL,
                lower=Fraction(column["lower"]),
                upper=Fraction(column["upper"]),
                step=Fraction(column["step"]),
                unit=None,
                nulls=DropNulls() if column["null"] else FillNulls(value=Fraction(0)),
            )
            for name, column in given_["columns"].items()
        ),
        derived=(
            DerivedColumn(
                name="asked", expression=_vector_expression(given_["expression"])
            ),
        ),
    )
    cells = {
        name: [
            None if row[name] is None else float(Fraction(row[name]))
            for row in given_["rows"]
        ]
        for name in given_["columns"]
    }
    wanted = [None if x is None else Fraction(x) for x in case["expect"]["values"]]
    frame = pl.DataFrame(cells, schema=dict.fromkeys(cells, pl.Float64))
    assert wanted == [row[0] for row in evaluated(frame, data)]
