"""The number of rows in each bin; the bins are cells like groups.

    T = n,  sensitivity = rows_each,  l0 = cells_each, twice that under replace_one

A unit's rows fall into at most cells_each bins, groups and bins taken together.
Source: MATH 4, last row of the table.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise

from dpql.diagnostics import shown
from dpql.model import limits
from dpql.model.notation import number_text
from dpql.model.shape import Field, ListOf, Number
from dpql.model.spec import NumberColumn
from dpql.statistics import count
from dpql.statistics.option import Objection, Option, Usage, Value
from dpql.statistics.setting import Description, Setting
from dpql.statistics.statistic import COUNTED, NUMBERS, Statistic


def describe(setting: Setting) -> Description:
    """Return how the rows of every bin are counted.

    Which bin a row is in stays private even where the number of rows is public.
    """
    return count.describe(replace(setting, known=False))


def _check_bins(value: Value, usage: Usage) -> Iterator[Objection]:
    if not usage.inputs:
        return
    (given,) = usage.inputs
    if value in ((), None):
        if given.type in NUMBERS and "width" not in usage.given:
            yield Objection(
                code="DPQL306",
                message=f"the histogram of the {given.type} column "
                f"`{shown(given.name)}` needs bins",
                hint="add `bins: [...]` with the edges of the bins, or the `width` of "
                "equal ones",
            )
        return
    if given.type in ("category", "boolean"):
        yield Objection(
            code="DPQL306",
            message=f"`{shown(given.name)}` is a {given.type}: its keys are the bins",
            hint="delete `bins`",
        )
        return
    assert isinstance(value, tuple)
    for item, (before, edge) in enumerate(pairwise(value), start=1):
        if edge <= before:
            yield Objection(
                code="DPQL306",
                message=f"the bin edge {number_text(edge)} is not above the one "
                "before it",
                hint="list the edges from the smallest to the largest",
                item=item,
            )
    column = given.column
    if not isinstance(column, NumberColumn):
        return
    for item, edge in enumerate(value):
        if not column.lower <= edge <= column.upper:
            yield Objection(
                code="DPQL306",
                message=f"the bin edge {number_text(edge)} is outside the bounds of "
                f"`{shown(given.name)}`",
                hint=f"keep within {number_text(column.lower)} and "
                f"{number_text(column.upper)}",
                item=item,
            )


BINS = Option(
    field=Field(
        name="bins",
        shape=ListOf(item=Number(), shortest=2, longest=limits.MOST_EDGES),
        summary="Bin edges, increasing, inside the bounds; the last bin is closed.",
        examples=([16, 25, 35, 45, 55, 65, 100],),
    ),
    member="edges",
    clause="bins {numbers}",
    check=_check_bins,
)


def _check_width(value: Value, usage: Usage) -> Iterator[Objection]:
    if value is None or not usage.inputs:
        return
    assert isinstance(value, Fraction)
    (given,) = usage.inputs
    if "bins" in usage.given:
        yield Objection(
            code="DPQL306",
            message="the bins are given by `bins` and by `width`",
            hint="keep one of them",
        )
    elif given.type == "category":
        yield Objection(
            code="DPQL306",
            message=f"`{shown(given.name)}` is a category: its keys are the bins",
            hint="delete `width`",
        )
    elif value <= 0:
        yield Objection(
            code="DPQL306",
            message=f"the width {number_text(value)} is not above 0",
            hint="write a width such as `15`",
        )
    elif isinstance(given.column, NumberColumn):
        yield from _unequal(given.column, value)


def _unequal(column: NumberColumn, width: Fraction) -> Iterator[Objection]:
    bins = (column.upper - column.lower) / width
    if bins > limits.MOST_EDGES - 1:
        yield Objection(
            code="DPQL306",
            message=f"there would be more than {limits.MOST_EDGES - 1} bins",
            hint="take wider ones",
        )
    elif bins.denominator != 1:
        end = column.lower + width * -(-bins // 1)
        yield Objection(
            code="DPQL306",
            message=f"the bounds of `{shown(column.name)}` are "
            f"{number_text(column.upper - column.lower)} apart, which is no whole "
            f"number of widths {number_text(width)}",
            hint=f"declare `bounds: [{number_text(column.lower)}, {number_text(end)}]`,"
            " or list the edges: `bins: [...]`",
        )


def _equal_bins(value: Value, usage: Usage) -> Value:
    """Return the edges of equal bins over the bounds of the column."""
    if not isinstance(value, Fraction) or list(_check_width(value, usage)):
        return ()
    (given,) = usage.inputs
    if not isinstance(given.column, NumberColumn):
        return ()
    lower, upper = given.column.lower, given.column.upper
    return tuple(lower + value * i for i in range(int((upper - lower) / value) + 1))


WIDTH = Option(
    field=Field(
        name="width",
        shape=Number(above=0),
        summary="The width of equal bins over the bounds, which it divides; the last "
        "bin is closed. Instead of `bins`.",
        examples=(15,),
    ),
    member="edges",
    clause="width {number}",
    check=_check_width,
    meaning=_equal_bins,
)

STATISTIC = Statistic(
    name="histogram",
    summary="How many rows fall into each bin, or have each key.",
    example="age",
    phrase="number of rows by {0}",
    column_types=(*COUNTED, "category"),
    power=0,
    splits=True,
    options=(BINS, WIDTH),
    synonyms=("hist",),
    describe=describe,
)
