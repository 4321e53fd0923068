"""Conditions: what they mean, and what they refuse."""

from __future__ import annotations

import json
from fractions import Fraction
from typing import Any

import pytest
from exact_rows import meaning
from expressions import DATA, expressions
from golden import VECTORS
from hypothesis import HealthCheck, given, settings
from language.flights import faults, flights
from language.samples import KNOWN_N, REFERENCE

from dpql.errors import SpecError
from dpql.language import format_text, load_text
from dpql.language.context import Context
from dpql.language.expression import resolve_expression
from dpql.language.grammar import parse_condition
from dpql.language.predicate_text import predicate_text
from dpql.language.source import Source
from dpql.language.tree import Scalar
from dpql.language.typed import Typed
from dpql.model.condition_text import condition_text
from dpql.model.expression import Expression
from dpql.model.lattice import Lattice
from dpql.model.lattice_nodes import Node
from dpql.model.lattice_rules import Untyped
from dpql.model.limits import CONDITION
from dpql.model.spec import (
    And,
    Between,
    Comparison,
    Condition,
    IsNull,
    Membership,
    Not,
    Operator,
    Or,
)

ADULT = Comparison(column="age", operator=Operator.AT_LEAST, value=Fraction(18))
NORTH = Comparison(column="district", operator=Operator.EQUAL, value="north")
NULL = IsNull(column="wage")


def condition(text: str) -> Condition | None:
    """Return the meaning of a `where`."""
    quoted = text.replace("\\", "\\\\").replace('"', '\\"')
    spec = load_text(
        REFERENCE.replace("where: age between 25 and 54", f'where: "{quoted}"'),
        form="yaml",
    )
    return spec.statistics[2].where


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("age >= 18", ADULT),
        ("`age`>=18.0", ADULT),
        ("district == 'north'", NORTH),
        ('district == "north"', NORTH),
        ("wage is null", NULL),
        ("wage is not null", Not(operand=NULL)),
        ("not age >= 18", Not(operand=ADULT)),
        ("not not age >= 18", Not(operand=Not(operand=ADULT))),
        ("age >= 18 and district == north", And(operands=(ADULT, NORTH))),
        ("(age >= 18 and district == north)", And(operands=(ADULT, NORTH))),
        (
            "age >= 18 and (district == north and wage is null)",
            And(operands=(ADULT, NORTH, NULL)),
        ),
        (
            "age >= 18 or district == north and wage is null",
            Or(operands=(ADULT, And(operands=(NORTH, NULL)))),
        ),
        (
            "(age >= 18 or district == north) and wage is null",
            And(operands=(Or(operands=(ADULT, NORTH)), NULL)),
        ),
        (
            "not (age >= 18 or wage is null)",
            Not(operand=Or(operands=(ADULT, NULL))),
        ),
        (
            "district in [north, 'east']",
            Membership(column="district", values=("north", "east")),
        ),
        (
            "age between 1/2 and 1e2 and age >= 18",
            And(
                operands=(
                    Between(column="age", lower=Fraction(1, 2), upper=Fraction(100)),
                    ADULT,
                )
            ),
        ),
    ],
)
def test_conditions_mean_what_they_say(text: str, expected: Condition) -> None:
    """`not` binds tighter than `and`, `and` tighter than `or`."""
    assert expected == condition(text)


@pytest.mark.parametrize(
    "text",
    [
        *("age", "age >=", ">= 18", "age >= 18 and", "()", "not", "and"),
        *("age between 18", "age in []", "age in [18,]", "age is 18", "age >= 18 19"),
        *("age / 0 > 1", "age // 0 > 1", "age // wage > 1", "sqrt(age) > 1"),
        *("age ~ 'x'", "age >= 18;", "age == 'x", "(age >= 18", "age >= 18)"),
        *("wage == .5", "age + district > 1", "not age + 1", "true", "district"),
    ],
)
def test_nothing_that_could_fail_on_a_row_is_in_the_language(text: str) -> None:
    """No division without a grid, no roots, no half conditions."""
    with pytest.raises(SpecError):
        condition(text)


@pytest.mark.parametrize("depth", [32, 33, 2_000])
def test_depth_is_bounded(depth: int) -> None:
    """Thirty-two levels are read; more are refused, however many."""
    text = "not " * (depth - 1) + "age >= 18"
    if depth <= 32:
        assert condition(text) is not None
    else:
        with pytest.raises(SpecError):
            condition(text)


def test_parentheses_without_meaning_are_no_depth() -> None:
    """A thousand parentheses around one comparison are one comparison."""
    assert condition("(" * 1_000 + "age >= 18" + ")" * 1_000) == ADULT


def test_spans_inside_a_condition_survive_plain_and_quoted_yaml() -> None:
    """The caret is under the word where the text holds the condition as it is."""
    for opening in ("", "'", '"'):
        text = REFERENCE.replace(
            "where: age between 25 and 54",
            f"where: {opening}age > 1 and agee > 2{opening}",
        )
        with pytest.raises(SpecError) as caught:
            load_text(text, form="yaml")
        (fault,) = caught.value.diagnostics
        assert fault.span is not None
        assert 24 + len(opening) == fault.span.column
        assert 28 + len(opening) == fault.span.end_column


def test_spans_inside_a_folded_condition_are_those_of_the_whole() -> None:
    """Where the notation differs, the whole condition is marked."""
    text = REFERENCE.replace("age between 25 and 54", "age > 1 and\n      agee > 2")
    with pytest.raises(SpecError) as caught:
        load_text(text, form="yaml")
    (fault,) = caught.value.diagnostics
    assert fault.span is not None
    assert fault.span.column == 12


@pytest.mark.parametrize(
    "where",
    [
        "age >= 18 -- adults only\n      and district == north",
        "age >= 18 -- adults only and district == north",
        '"age >= 18 --"',
        "age >= 18 --and district == 'a' or age >= 16",
        "district == 'north' -- it's north",
        ">\n      age >= 18 -- adults only\n      and district == north",
    ],
)
def test_a_remark_never_cuts_a_filter_short(where: str) -> None:
    """YAML joins lines, so that what follows `--` would be read by nobody."""
    text = REFERENCE.replace("where: age between 25 and 54", f"where: {where}")
    for use in (load_text, format_text):
        with pytest.raises(SpecError) as caught:
            use(text, form="yaml")
        (fault,) = caught.value.diagnostics
        assert fault.code == "DPQL126"


def test_two_dashes_in_quotes_are_a_key() -> None:
    """In quotes and backquotes they are two characters like any others."""
    text = REFERENCE.replace("[north, east", "[north, 'a--b', east").replace(
        "person_id: {type: id}",
        "person_id: {type: id}\n    a--b: {type: float, bounds: [0, 1], nulls: drop}",
    )
    where = "where: district in ['a--b', \"a--b\"] or `a--b` > 0"
    with pytest.raises(SpecError, match="DPQL305"):
        load_text(text.replace("where: age between 25 and 54", where), form="yaml")
    where = "where: district == 'a--b' or `a--b` > 0"
    text = text.replace("where: age between 25 and 54", where)
    assert isinstance(load_text(text, form="yaml").statistics[2].where, Or)


def _read(text: str) -> Typed | None:
    """Return what the language makes of an expression over the columns of tests."""
    source = Source("<test>", text)
    context = Context(source)
    for column in DATA.columns:
        context.columns[column.name] = column
        context.types[column.name] = "declared"
    context.lattice = Lattice(DATA.columns)
    found = resolve_expression(Scalar(text, source.stretch(0, len(text)), 0), context)
    source.check()
    return found


@pytest.mark.property
@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(expressions(5))
def test_the_text_of_an_expression_means_that_expression(meant: Expression) -> None:
    """Text, the language, and text again: the same kind, bounds and expression.

    Literals come to stand on the right; so the first reading may differ from what was
    meant, and no reading changes it again.
    """
    lattice = Lattice(DATA.columns)
    node = _typed(lattice, meant)
    text = condition_text(meant)
    if node is None or node.shape.excess or len(text) > CONDITION.longest:
        return
    found = _read(text)
    assert found is not None
    assert node.shape.kind == found.node.shape.kind
    assert (node.shape.lower, node.shape.upper) == (
        found.node.shape.lower,
        found.node.shape.upper,
    )
    again = _read(condition_text(found.expression))
    assert again is not None
    assert found.expression == again.expression
    laid_out = predicate_text(parse_condition(text)[0])
    assert laid_out == predicate_text(parse_condition(laid_out)[0])
    same = _read(laid_out)
    assert same is not None
    assert found.expression == same.expression


def _typed(lattice: Lattice, expression: Expression) -> Node | None:
    try:
        return lattice.typed(expression)
    except Untyped:
        return None


SIGNS = {
    "add": "+",
    "sub": "-",
    "mul": "*",
    "floordiv": "//",
    "eq": "==",
    "lt": "<",
    "le": "<=",
    "and": "and",
    "or": "or",
}
VECTORED = json.loads((VECTORS / "questions" / "derived.json").read_text("utf-8"))


def _written(tree: Any) -> str:
    """Return a tree of the vectors as a person would write it."""
    if isinstance(tree, str):
        return tree
    word, *given = tree
    if word in ("col", "const"):
        return str(given[0])
    operands = list(map(_written, given))
    if word in SIGNS:
        return f"({operands[0]} {SIGNS[word]} {operands[1]})"
    if word == "not":
        return f"(not {operands[0]})"
    function = {"isnull": "is_null"}.get(word, word)
    return f"{function}({', '.join(operands)})"


@pytest.mark.golden
@pytest.mark.parametrize("form", ["yaml", "dpql"])
@pytest.mark.parametrize("case", VECTORED["cases"], ids=lambda case: case["id"])
def test_vectors_written_as_specs(case: dict[str, Any], form: str) -> None:
    """Columns and expression as text: shape and values are those of the vectors."""
    columns = {
        name: f"{{type: decimal, bounds: [{column['lower']}, {column['upper']}], "
        f"step: {column['step']}, nulls: "
        + ("drop}" if column["null"] else f"{{as: {column['lower']}}}}}")
        for name, column in case["input"]["columns"].items()
    }
    text = KNOWN_N.replace("replace_one", "add_remove")
    start, end = text.index("    age:"), text.index("privacy:")
    block = "".join(f"    {name}: {column}\n" for name, column in columns.items())
    block += f"  derived:\n    it: {_written(case['input']['expression'])}\n"
    start_of = text.index("statistics:")
    text = text[:start] + block + text[end:start_of] + "statistics:\n  n: {count: rows"
    text += ", where: it is not null, spend: {share: 1}}\n"
    if "refused" in case["expect"]:
        with pytest.raises(SpecError, match="DPQL362"):
            load_text(text, form="yaml")
        return
    data = load_text(format_text(text, form="yaml", to=form), form=form).data
    shape = data.lattice.derived["it"].shape
    assert case["expect"]["shape"] == {
        "step": str(shape.step),
        "lower": str(shape.lower),
        "upper": str(shape.upper),
        "null": shape.nullable,
    }
    rows = [
        {name: None if cell is None else Fraction(cell) for name, cell in row.items()}
        for row in case["input"]["rows"]
    ]
    assert case["expect"]["values"] == [
        None if value is None else str(value)
        for row in rows
        for value in [meaning(data.derived[0].expression, data, row)]
    ]


DATED = json.loads((VECTORS / "questions" / "dates.json").read_text("utf-8"))


@pytest.mark.golden
@pytest.mark.parametrize(
    "case",
    [case for case in DATED["cases"] if "keys_of" in case["input"]],
    ids=lambda case: case["id"],
)
def test_vectors_of_calendar_keys_written_as_specs(case: dict[str, Any]) -> None:
    """The keys of a part of a date follow from the bounds of its column."""
    given = case["input"]
    text = REFERENCE.replace(
        "person_id:",
        f"day: {{type: time, bounds: [{given['first']} 00:00, {given['last']} 23:59], "
        "step: minute, nulls: drop}\n    person_id:",
    ).replace("privacy:", f"  derived:\n    it: {given['keys_of']}(day)\nprivacy:")
    data = load_text(text, form="yaml").data
    assert tuple(case["expect"]["keys"]) == data.category("it").keys


def test_a_column_too_fine_to_be_computed_with_is_only_compared() -> None:
    """Its cells are read as they are; a sum or a copy of it is marked at its name."""
    fine = "{type: decimal, bounds: [2_000, 2_001], step: 1e-18, nulls: drop}"
    frame = flights(where="arr_delay > 0").replace(
        "columns:\n", f"columns:\n    fine: {fine}\n"
    )
    written = '"arr_delay - dep_delay"'
    assert [] == faults(frame.replace(written, "fine > 2_000.5"))
    for text in ("2 + abs(fine)", "fine"):
        (fault,) = faults(frame.replace(written, text))
        assert fault.message == "`fine` has more steps than can be computed with"
