"""What surrounds a statistic: cells, units, names of units."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from math import prod

import pytest

from dpql.statistics import Setting
from dpql.statistics.contribution import Contribution
from dpql.statistics.setting import grouped, measure


def setting(*, replace: bool, cells_each: int, cells: int) -> Setting:
    """Return a setting of a hundred rows."""
    return Setting(
        replace=replace,
        known=False,
        rows=100,
        rows_each=1,
        cells_each=cells_each,
        cells=cells,
    )


@pytest.mark.parametrize(
    ("replace", "cells_each", "cells", "one_sign", "signed"),
    [
        (False, 1, 1, 1, 1),
        (False, 2, 9, 2, 2),
        (False, 5, 3, 3, 3),
        (True, 1, 1, 1, 2),
        (True, 1, 9, 2, 2),
        (True, 2, 3, 3, 4),
        (True, 9, 3, 3, 6),
    ],
)
def test_cells_that_one_unit_touches(
    replace: bool,  # noqa: FBT001  a column of the table
    cells_each: int,
    cells: int,
    one_sign: int,
    signed: int,
) -> None:
    """Replacing doubles; a cell counts twice only for terms of either sign."""
    found = setting(replace=replace, cells_each=cells_each, cells=cells)
    assert (found.l0(signed=False), found.l0(signed=True)) == (one_sign, signed)


@pytest.mark.parametrize(
    ("replaced", "total", "signed", "expected"),
    [
        (False, None, False, (5, 4)),
        (False, 6, False, (1, 6)),
        (False, 19, True, (1, 19)),
        (True, 6, False, (1, 12)),
        (True, 19, False, (5, 7)),
        (True, 19, True, (1, 38)),
    ],
)
def test_total_counts_rows_instead_of_cells(
    replaced: bool,  # noqa: FBT001  a column of the table
    total: int | None,
    signed: bool,  # noqa: FBT001  a column of the table
    expected: tuple[int, int],
) -> None:
    """The smaller of rows times cells and the total, doubled where units change."""
    found = replace(
        setting(replace=replaced, cells_each=4, cells=7), rows_each=5, total=total
    )
    assert expected == found.changes(signed=signed)


def test_no_change_exceeds_the_range() -> None:
    """A measure that is clamped moves by no more than its range."""
    assert measure("m", (), change=9, lower=0, upper=4, l0=1).sensitivity == 4
    assert measure("m", (), change=3, lower=0, upper=4, l0=1).sensitivity == 3


def test_units_are_grouped_when_they_must_be() -> None:
    """One word needs no parentheses."""
    assert grouped("year") == "year"
    assert grouped("EUR/month") == "(EUR/month)"


def test_changes_are_those_of_the_contribution() -> None:
    """Units and values cost what the formulas of one unit's contribution say."""
    for replaced, k, each, cells, total in product(
        (False, True), (1, 2, 5), (1, 2, 3), (1, 3, 7), (None, 1, 2, 4)
    ):
        found = replace(
            setting(replace=replaced, cells_each=min(each, cells), cells=cells),
            rows_each=k,
            total=total,
        )
        unit = Contribution.of(found)
        assert unit.units_change() == prod(found.changes(1))
        for values in (1, 2, 9):
            assert unit.distinct_change(values) == prod(found.changes(min(k, values)))
