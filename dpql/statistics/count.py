"""The number of rows, in total or per cell.

    T = n,  sensitivity = rows_each,  0 <= T <= rows

Under replace_one with rows as units this needs a filter or groups; else the number is
public. Of larger units it is the number of rows that bounding leaves, which is private.
Source: MATH 4, first row of the table.
"""

from __future__ import annotations

from fractions import Fraction

from dpql.errors import PlanFault
from dpql.model.plan import Affine, Measure, Term
from dpql.statistics.keys import finding
from dpql.statistics.setting import Description, Setting, measure
from dpql.statistics.shown_from import SHOWN_FROM
from dpql.statistics.statistic import Statistic


def describe(setting: Setting) -> Description:
    """Return how rows are counted."""
    if setting.sought is not None:
        return finding(setting.sought, highest=setting.rows)
    if setting.known:
        raise PlanFault.of(
            "DPQL420",
            "the number of rows is declared public, so counting them releases nothing",
            hint="count with `where:` or `by:`, or drop the statistic",
        )
    counted = counting(setting)
    return Description(
        measures=(counted,),
        readout=Affine(offset=Fraction(0), scale=Fraction(1)),
        lower=Fraction(0),
        upper=Fraction(setting.rows),
        quantisation=Fraction(0),
        sensitivity=Fraction(counted.sensitivity),
        unit=None,
        squares=setting.squares(),
    )


def counting(setting: Setting) -> Measure:
    """Return the measure that counts the rows of a cell."""
    each, often = setting.changes()
    return measure(
        "count",
        (Term(coefficient=1, moments=("n",)),),
        change=each,
        lower=0,
        upper=setting.rows,
        l0=often,
    )


STATISTIC = Statistic(
    name="count",
    summary="How many rows there are, or how many pass `where`.",
    example="rows",
    phrase="number of rows",
    columns=0,
    power=0,
    options=(SHOWN_FROM,),
    describe=describe,
)
