"""Bands, maps and parts have the keys that their public parameters give."""

from __future__ import annotations

import time
from fractions import Fraction

import pytest
from exact_rows import value_of
from expressions import DATA

from dpql.model.calendar import DAY
from dpql.model.expression import (
    Bands,
    CalendarPart,
    Call,
    Expression,
    Function,
    Map,
    Pair,
    PartOf,
    Reference,
)
from dpql.model.lattice import Lattice
from dpql.model.lattice_nodes import Band, CellBand
from dpql.model.lattice_rules import Untyped
from dpql.model.spec import CategoryColumn, DateColumn, DropNulls, TimeColumn

FLOAT = Reference(column="f")
EDGES = (Fraction(-60), Fraction(0), Fraction(15), Fraction(240))


def test_bands_are_closed_on_the_left_and_the_last_on_both_sides() -> None:
    """A plain float is on no grid, so an edge is always in the band above."""
    node = DATA.lattice.typed(Bands(operand=FLOAT, edges=EDGES))
    assert isinstance(node, CellBand)
    assert ("[-60, 0)", "[0, 15)", "[15, 240]") == node.shape.keys
    for cell, key in [
        (-1e300, "[-60, 0)"),
        (0.0, "[0, 15)"),
        (15.0, "[15, 240]"),
        (14.999999999, "[0, 15)"),
        (240.0, "[15, 240]"),
        (1e300, "[15, 240]"),
        (None, None),
    ]:
        assert key == value_of(node, DATA, {"f": cell})


def test_bands_of_an_expression_are_of_its_whole_numbers() -> None:
    """Edges between steps and beyond the bounds tell apart what they should."""
    half = Call(function=Function.SUBTRACT, operands=(Reference(column="i"),) * 2)
    edges = (Fraction(-(10**300)), Fraction(-1, 2), Fraction(1, 2), Fraction(10**300))
    node = DATA.lattice.typed(Bands(operand=half, edges=edges))
    assert isinstance(node, Band)
    assert max(map(abs, (*node.starts, node.end))) < 100
    assert node.shape.keys[1] == value_of(node, DATA, {"i": 3})


def test_a_map_knows_what_it_names_and_what_it_does_not() -> None:
    """Pairs, the rest, and null; its keys are in order of their first use."""
    pairs = (Pair(key="UA", value="big"), Pair(key="x", value="small"))
    key = Reference(column="k")
    full = Map(operand=key, pairs=pairs, otherwise="big", missing="none", digest=None)
    bare = Map(operand=key, pairs=pairs, otherwise=None, missing=None, digest=None)
    node, other = DATA.lattice.typed(full), DATA.lattice.typed(bare)
    assert ("big", "small", "none") == node.shape.keys
    assert not node.shape.nullable
    assert other.shape.nullable
    cells = [0, 1, 2, 3, None]
    expected = ["big", "big", "small", "big", "none"]
    assert expected == [value_of(node, DATA, {"k": cell}) for cell in cells]
    expected_bare = ["big", None, "small", None, None]
    assert expected_bare == [value_of(other, DATA, {"k": cell}) for cell in cells]


@pytest.mark.parametrize(
    "wrong",
    [
        Bands(operand=Reference(column="k"), edges=EDGES),
        Bands(operand=Reference(column="b"), edges=EDGES),
        Bands(operand=Reference(column="u"), edges=EDGES),
        Map(
            operand=FLOAT,
            pairs=(Pair(key="a", value="b"),),
            otherwise=None,
            missing=None,
            digest=None,
        ),
        Map(
            operand=Reference(column="k"),
            pairs=(Pair(key="ZZ", value="b"),),
            otherwise=None,
            missing=None,
            digest=None,
        ),
        PartOf(part=CalendarPart.HOUR, column="u"),
        PartOf(part=CalendarPart.YEAR, column="i"),
        PartOf(part=CalendarPart.YEAR, column="nobody"),
    ],
    ids=str,
)
def test_what_has_no_keys_is_refused(wrong: Expression) -> None:
    """Before any data."""
    with pytest.raises(Untyped):
        DATA.lattice.typed(wrong)


def test_keys_are_those_of_the_last_step_too() -> None:
    """A time of the last step is in it, up to its last second."""
    first = 15_706 * DAY
    column = TimeColumn(
        name="t", first=first, last=first, step=3_600, zone=0, nulls=DropNulls()
    )
    lattice = Lattice([column])
    node = lattice.typed(PartOf(part=CalendarPart.DAY, column="t"))
    assert ("2013-01-01",) == node.shape.keys


def test_too_many_keys_are_refused_before_they_are_made() -> None:
    """The days of ten thousand years."""
    column = DateColumn(name="d", first=-719_162, last=2_932_896, nulls=DropNulls())
    lattice = Lattice([column])
    with pytest.raises(Untyped, match="more than"):
        lattice.typed(PartOf(part=CalendarPart.DAY, column="d"))
    years = lattice.typed(PartOf(part=CalendarPart.YEAR, column="d"))
    assert ("0001", "9999") == (years.shape.keys[0], years.shape.keys[-1])


def test_a_map_of_many_keys_is_typed_at_once() -> None:
    """The time grows with the number of pairs, not with its square."""
    keys = tuple(f"key {i}" for i in range(30_000))
    found = Map(
        operand=Reference(column="k"),
        pairs=tuple(Pair(key=key, value=f"of {key}") for key in keys),
        otherwise=None,
        missing=None,
        digest=None,
    )
    lattice = Lattice([CategoryColumn(name="k", keys=keys)])
    began = time.process_time()
    assert 30_000 == len(lattice.typed(found).shape.keys)
    assert time.process_time() - began < 2
