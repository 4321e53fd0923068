"""The number of different values of a column, in total or per cell.

    T = |{values of the rows}|,  sensitivity = min(k, v),  0 <= T <= min(rows, v)

    k   rows of a unit in a cell         v   values that are declared, if any are

They are the values in the rows that bounding leaves. With D the count, Y the other rows
and V, V' the old and the new unit's, D(Y + V) and D(Y + V') both lie between D(Y) and
D(Y) + k; so replacing a unit changes a cell by k, not by 2k. Null is no value, an
undeclared key neither. Numbers are rounded to their steps and clamped first; floats
have no steps of their own, so that their values would be those of a grid.
Source: MATH-statistics 2.
"""

from __future__ import annotations

from fractions import Fraction

from dpql.errors import PlanFault
from dpql.model.plan import Affine, Term
from dpql.model.spec import NumberType
from dpql.statistics.setting import Description, Setting, measure
from dpql.statistics.statistic import PRIVATE, Statistic


def describe(setting: Setting) -> Description:
    """Return how different values are counted."""
    if any(grid.error for grid in setting.grids):
        raise PlanFault.of(
            "DPQL433",
            "the column has too many steps to count its different values",
            hint="declare a larger `step`, or narrower bounds",
        )
    values = setting.grids[0].steps + 1 if setting.grids else setting.keys
    most = setting.rows if values is None else min(setting.rows, values)
    each = setting.rows_each if values is None else min(setting.rows_each, values)
    change, often = setting.changes(each)
    counted = measure(
        "distinct",
        (Term(coefficient=1, moments=("d",)),),
        change=change,
        lower=0,
        upper=most,
        l0=often,
    )
    return Description(
        measures=(counted,),
        readout=Affine(offset=Fraction(0), scale=Fraction(1)),
        lower=Fraction(0),
        upper=Fraction(most),
        quantisation=Fraction(0),
        sensitivity=Fraction(counted.sensitivity),
        unit=None,
        squares=setting.squares(each),
    )


STATISTIC = Statistic(
    name="distinct",
    summary="How many different values a column has: of an id, the declared keys of a "
    "category, numbers with steps, or dates. Null is no value.",
    example="district",
    phrase="number of different values of {0}",
    column_types=(
        "id",
        "category",
        PRIVATE,
        "boolean",
        NumberType.INTEGER,
        NumberType.DECIMAL,
        "date",
    ),
    counts_values=True,
    synonyms=("count_distinct", "distinct_count", "nunique", "unique", "cardinality"),
    describe=describe,
)
