"""Conditions: what they mean, and what they refuse."""

from __future__ import annotations

from fractions import Fraction

import pytest
from language.samples import REFERENCE

from dpql.errors import SpecError
from dpql.language import format_text, load_text
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
