"""What a program derives, and how conditions become tests of it."""

from __future__ import annotations

from fractions import Fraction

import pytest
from expression_cases import DATA, derived

from dpql.curator.columns import CanonicalColumn, Content
from dpql.curator.derived import (
    Derivation,
    column_bins,
    column_grid,
    columns_of,
    described,
    drops_nulls,
    fill_of,
)
from dpql.curator.grid import WholeQuantiser
from dpql.model.expression import (
    Bands,
    Call,
    Comparison,
    Constant,
    Function,
    IsNull,
    Operator,
    Reference,
)

ADDED = Call(
    function=Function.ADD,
    operands=(Reference(column="n"), Constant(value=Fraction(1, 2))),
)
BANDS = Bands(operand=Reference(column="derived 0"), edges=(Fraction(0), Fraction(3)))
HIGH = Comparison(column="n", operator=Operator.AT_LEAST, value=Fraction(3))
MADE = derived(ADDED, BANDS, HIGH)


def test_derived_columns_are_canonical() -> None:
    """A number is whole, a key a code, and truth is 0 or 1."""
    found, used = Derivation(MADE).needed({"derived 1", "derived 2"})
    assert [
        CanonicalColumn(name="derived 0", content=Content.WHOLE),
        CanonicalColumn(name="derived 1", content=Content.CODE, keys=("[0, 3]",)),
        CanonicalColumn(name="derived 2", content=Content.TRUTH),
    ] == [one.column for one in found]
    assert {"n", "derived 0", "derived 1", "derived 2"} == used
    assert ["n"] == list(columns_of(found[0].node))
    assert str(found[0]).startswith("derived 0 (whole number) = Sum(left NumberCell(")
    assert "shape" not in described(found[1].node)


def test_grids_of_derived_columns_count_their_own_steps() -> None:
    """Numbers run from low to high; whoever asks for fewer steps gets wider ones."""
    expected = WholeQuantiser(lower=-9, upper=41, step=1, steps=50, fill=None)
    assert expected == column_grid(MADE, "derived 0", 50)
    assert 5 == column_grid(MADE, "derived 0", 10).step  # type: ignore[union-attr]
    binned = column_bins(MADE, "derived 0", (Fraction(-4), Fraction(0), Fraction(1)))
    assert ((1, 9), 11) == (binned.starts, binned.end)
    assert drops_nulls(MADE, "derived 0")


@pytest.mark.parametrize(
    ("name", "drops", "fill"),
    [("n", True, None), ("t", False, 1), ("day", True, None), ("due", False, 6)],
)
def test_nulls_of_declared_columns(name: str, drops: bool, fill: int | None) -> None:  # noqa: FBT001
    """They are dropped, or filled with what is declared."""
    assert drops is drops_nulls(DATA, name)
    assert fill == fill_of(DATA, name)


def test_times_count_full_steps() -> None:
    """A time is floored, whatever the steps of its column are."""
    grid = column_grid(DATA, "left", 29)
    assert isinstance(grid, WholeQuantiser)
    assert (True, 3600) == (grid.floors, grid.step)
    bins = column_bins(DATA, "left", (Fraction(-7200), Fraction(0)))
    assert grid == bins.quantiser


def test_conditions_of_derived_columns() -> None:
    """They are tests of the derived column, which is there once."""
    derivation = Derivation(MADE)
    assert "derived 2 == 1" == str(derivation.test(Reference(column="derived 2")))
    assert "derived 1 is null" == str(derivation.test(IsNull(column="derived 1")))
    key = Comparison(column="derived 1", operator=Operator.EQUAL, value="[0, 3]")
    assert 'derived 1 is "[0, 3]"' == str(derivation.test(key))
    other = Comparison(column="derived 1", operator=Operator.UNEQUAL, value="[0, 3]")
    assert "derived 1 has no such value" == str(derivation.test(other))
    above = Comparison(
        column="derived 0", operator=Operator.GREATER, value=Fraction(1, 3)
    )
    assert "test 1 == 1" == str(derivation.test(above))
    assert "test 1 == 1" == str(derivation.test(above))
