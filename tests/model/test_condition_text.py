"""Conditions as text: exact, escaped, and read back as the same condition."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from language import strategies
from spec_text import integer, make_spec

from dpql.language.context import Context
from dpql.language.expression import resolve_condition
from dpql.language.source import Source
from dpql.language.tree import Scalar
from dpql.model.characters import look
from dpql.model.condition_text import condition_text
from dpql.model.lattice import Lattice
from dpql.model.spec import (
    CategoryColumn,
    Column,
    Comparison,
    Condition,
    NumberColumn,
    Operator,
)

TEXT = (
    'x >= 1 and (y < 2 or not (g == "a" or x is not null)) and g in ["a", "b"] '
    "and y between 0 and 3"
)
ODD_KEYS = st.one_of(
    st.sampled_from(
        [
            'a" or c == "b',
            "a' or c == 'b",
            "\\",
            '\\"',
            "a\\",
            "5",
            "1/3",
            "null",
            "a, b",
            "] or x in [1",
            "a \u201d or \u201c b",
            "a  b",
            "-- no remark",
            "\\u{201d}",
            "`",
        ]
    ),
    st.text(st.sampled_from(list("\"'\\`,= ab()[]")), min_size=1, max_size=9)
    .map(str.strip)
    .filter(bool),
    strategies.keys,
)
ODD_NAMES = st.one_of(
    strategies.column_names,
    st.sampled_from(["x >= 1 or y", 'c == "a" or c', "a  b", "x -- y", "\\", "not x"]),
)


def condition(text: str) -> Condition:
    """Return the condition that a spec's text means."""
    spec = make_spec(
        {
            "x": integer(0, 9),
            "y": integer(0, 9),
            "g": "{type: category, keys: [a, b]}",
        },
        {"it": {"count": "rows", "where": f"'{text}'", "spend": "{share: 1}"}},
    )
    found = spec.statistics[0].where
    assert found is not None
    return found


def read(text: str, columns: tuple[Column, ...]) -> Condition | None:
    """Return what the language's own parser makes of a text, given the columns."""
    source = Source("<test>", text)
    context = Context(source)
    for column in columns:
        numeric = isinstance(column, NumberColumn)
        context.types[column.name] = column.type.value if numeric else "category"
        context.columns[column.name] = column
    scalar = Scalar(text, source.stretch(0, len(text)), 0)
    context.lattice = Lattice(tuple(context.columns.values()))
    found = resolve_condition(scalar, context)
    source.check()
    return found


@st.composite
def filters(draw: st.DrawFn) -> tuple[tuple[Column, ...], Condition]:
    """Draw odd columns with odd keys, and a condition on them."""
    names = draw(st.lists(ODD_NAMES, min_size=2, max_size=4, unique_by=look))
    keys = draw(st.lists(ODD_KEYS, min_size=1, max_size=4, unique=True))
    columns: list[Column] = [CategoryColumn(name=names[0], keys=tuple(keys))]
    columns += [draw(strategies.number_columns(name, drop=True)) for name in names[1:]]
    return tuple(columns), draw(strategies.conditions(tuple(columns)))


def test_a_condition_reads_as_it_was_written() -> None:
    """Parentheses stand where they are needed, and reading it again changes nothing."""
    meaning = condition(TEXT)
    assert TEXT == condition_text(meaning)
    assert meaning == condition(condition_text(meaning))


@pytest.mark.property
@settings(
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)
@given(filters())
def test_the_text_of_a_condition_means_that_condition(
    drawn: tuple[tuple[Column, ...], Condition],
) -> None:
    """Text, then the language's parser: the same condition, so none share a text."""
    columns, meant = drawn
    assert meant == read(condition_text(meant), columns)


def test_one_odd_key_is_not_two_conditions() -> None:
    """The example of the issue."""
    odd = Comparison(column="c", operator=Operator.EQUAL, value='a" or c == "b')
    assert r'c == "a\" or c == \"b"' == condition_text(odd)


def test_a_key_is_not_a_number() -> None:
    """The key 5 and the number 5 are two texts, whatever the type of the column."""
    number, key = (
        Comparison(column="c", operator=Operator.EQUAL, value=value)
        for value in (Fraction(5), "5")
    )
    assert "c == 5" == condition_text(number)
    assert 'c == "5"' == condition_text(key)
