"""Conditions that no row passes are found, and no other is called so."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import pytest
import spec_text
from hypothesis import given
from hypothesis import strategies as st

from dpql.model.expression import (
    And,
    Between,
    Compared,
    Comparison,
    Condition,
    IsNull,
    Membership,
    Not,
    Operator,
    Or,
    Reference,
)
from dpql.model.spec import Data
from dpql.planner import plan
from dpql.review.never import Verdict, never_true

COLUMNS = {
    "age": spec_text.integer(16, 100, "drop"),
    "rate": "{type: decimal, bounds: [0, 1], step: 0.1, nulls: {as: 0.5}}",
    "kind": "{type: category, keys: [a, b, c]}",
    "other": spec_text.integer(0, 9, "drop"),
}


def judged(where: str) -> Verdict | None:
    """Return the verdict on a filter in the notation of a spec."""
    count = {"count": "rows", "where": f"'{where}'", "spend": "{share: 1}"}
    spec = spec_text.make_spec(COLUMNS, {"n": count})
    (statistic,) = spec.statistics
    assert statistic.where is not None
    return never_true(statistic.where, spec.data)


@pytest.mark.parametrize(
    ("where", "verdict"),
    [
        ("age > 200", Verdict.BOUNDS),
        ("age < 16", Verdict.BOUNDS),
        ("age >= 16", None),
        ("age == 100", None),
        ("age > 30 and age < 20", Verdict.CONTRADICTION),
        ("age > 18 and age < 19", Verdict.CONTRADICTION),
        ("age > 18 and age < 20", None),
        ("rate > 0.1 and rate < 0.2", None),
        ("age in [1, 2]", Verdict.BOUNDS),
        ("not (age is null) and age is null", Verdict.CONTRADICTION),
        ("age is null and age > 3", Verdict.CONTRADICTION),
        ("rate is null and rate == 0.5", None),
        ("rate is null and rate == 0.4", Verdict.CONTRADICTION),
        ("kind == a and kind == b", Verdict.CONTRADICTION),
        ("kind == a or kind == b", None),
        ("kind != a and kind != b and kind != c", Verdict.CONTRADICTION),
        ("not (age < 50 or age >= 50)", Verdict.CONTRADICTION),
        ("age between 20 and 30 and age between 40 and 50", Verdict.CONTRADICTION),
    ],
)
def test_filters_are_judged(where: str, verdict: Verdict | None) -> None:
    """What is impossible within the bounds, what always, and what is possible."""
    assert verdict == judged(where)


def test_tests_of_other_kinds_may_be_anything() -> None:
    """Two columns against each other are not judged, what stands beside them is."""
    spec = spec_text.make_spec(COLUMNS, {"n": {"count": "rows", "spend": "{share: 1}"}})
    above = Compared(
        left=Reference(column="age"),
        operator=Operator.GREATER,
        right=Reference(column="other"),
    )
    young = Comparison(column="age", operator=Operator.LESS, value=Fraction(16))
    both = And(operands=(above, young))
    assert never_true(above, spec.data) is None
    assert never_true(Or(operands=(Not(operand=above), young)), spec.data) is None
    assert never_true(both, spec.data) is Verdict.BOUNDS


def test_too_many_columns_are_not_judged() -> None:
    """Nothing is said where not all combinations can be tried."""
    columns = {f"x{n}": spec_text.integer(0, 9, "drop") for n in range(8)}
    where = " and ".join(f"{name} in [1, 3, 5, 7]" for name in columns)
    count = {"count": "rows", "where": f"'{where} and x0 > 20'", "spend": "{share: 1}"}
    spec = spec_text.make_spec(columns, {"n": count})
    assert spec.statistics[0].where is not None
    assert never_true(spec.statistics[0].where, spec.data) is None


LOW, HIGH = 2, 6
NUMBER = st.integers(LOW - 2, HIGH + 2).map(Fraction)
TESTS = st.one_of(
    st.builds(
        Comparison,
        column=st.sampled_from("xy"),
        operator=st.sampled_from(Operator),
        value=NUMBER,
    ),
    st.builds(
        lambda column, values: Membership(column=column, values=tuple(values)),
        st.sampled_from("xy"),
        st.sets(NUMBER, min_size=1, max_size=3),
    ),
    st.builds(
        lambda column, ends: Between(column=column, lower=min(ends), upper=max(ends)),
        st.sampled_from("xy"),
        st.tuples(NUMBER, NUMBER),
    ),
    st.builds(IsNull, column=st.sampled_from("xy")),
)
CONDITIONS = st.recursive(
    TESTS,
    lambda inner: st.one_of(
        st.builds(lambda operand: Not(operand=operand), inner),
        st.builds(lambda a, b: And(operands=(a, b)), inner, inner),
        st.builds(lambda a, b: Or(operands=(a, b)), inner, inner),
    ),
    max_leaves=5,
)


def table() -> Data:
    """Return two columns: one fills in 3 where a cell is missing."""
    ends = f"bounds: [{LOW}, {HIGH}]"
    columns = {
        "x": f"{{type: integer, {ends}, nulls: drop}}",
        "y": f"{{type: integer, {ends}, nulls: {{as: 3}}}}",
    }
    return spec_text.make_spec(
        columns, {"n": {"count": "rows", "spend": "{share: 1}"}}
    ).data


DATA = table()


def truth(condition: Condition, row: dict[str, int | None]) -> bool | None:
    """Return whether a row passes, written a second time."""
    if isinstance(condition, Not):
        inner = truth(condition.operand, row)
        return None if inner is None else not inner
    if isinstance(condition, And | Or):
        found = [truth(each, row) for each in condition.operands]
        decisive = isinstance(condition, Or)
        return (
            decisive if decisive in found else None if None in found else not decisive
        )
    assert isinstance(condition, Comparison | Membership | Between | IsNull)
    cell = row[condition.column]
    if isinstance(condition, IsNull):
        return cell is None
    if cell is None and condition.column == "y":
        cell = 3
    if cell is None:
        return None
    return {
        Membership: lambda test: cell in test.values,
        Between: lambda test: test.lower <= cell <= test.upper,
        Comparison: lambda test: compared(cell, test),
    }[type(condition)](condition)


def compared(cell: int, test: Comparison) -> bool:
    """Return whether a cell compares so."""
    condition = test
    return bool(
        {
            "==": cell == condition.value,
            "!=": cell != condition.value,
            "<": cell < condition.value,
            "<=": cell <= condition.value,
            ">": cell > condition.value,
            ">=": cell >= condition.value,
        }[condition.operator.value]
    )


@given(CONDITIONS)
def test_the_verdict_is_that_of_all_rows(condition: Condition) -> None:
    """Whole numbers far beyond the bounds are tried too: the verdict is exact."""

    def passes(low: int, high: int) -> bool:
        cells = [None, *range(low, high + 1)]
        return any(
            truth(condition, {"x": x, "y": y}) is True
            for x, y in product(cells, repeat=2)
        )

    expected = None
    if not passes(LOW, HIGH):
        wide = passes(LOW - 9, HIGH + 9)
        expected = Verdict.BOUNDS if wide else Verdict.CONTRADICTION
    assert expected == never_true(condition, DATA)


def test_plans_can_be_made_of_impossible_filters() -> None:
    """They are a warning, not a fault."""
    count = {"count": "rows", "where": "age > 200", "spend": "{share: 1}"}
    assert plan(spec_text.make_spec(COLUMNS, {"n": count})).steps
