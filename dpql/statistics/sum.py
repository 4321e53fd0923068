"""The sum of a column.

    n public:   T = sum u,            sensitivity = rows_each * Q,  value = n a + s T
    n private:  T = D sum u + P n,    sensitivity = rows_each * max(|P|, |P + D Q|),
                                      value = (s / D) T

    a, s    lower bound and value of one step; Q steps
    P / D   a / s in lowest terms, so that D (a + s u) / s is the whole number P + D u

Source: MATH 4 (table), 5 (integers).
"""

from __future__ import annotations

from fractions import Fraction

from dpql.model.plan import Affine, Term
from dpql.statistics.setting import Description, Setting, alone, measure
from dpql.statistics.statistic import COUNTED, Statistic


def describe(setting: Setting) -> Description:
    """Return how a column is summed."""
    (grid,) = setting.grids
    n, k = setting.rows, setting.rows_each
    if setting.known:
        total = measure(
            "sum",
            (Term(coefficient=1, moments=("u",)),),
            change=k * grid.steps,
            lower=0,
            upper=n * grid.steps,
            l0=1,
        )
        readout = Affine(offset=n * grid.lower, scale=grid.step)
        squares = alone(total)
    else:
        first = grid.lower / grid.step
        p, d = first.numerator, first.denominator
        last = p + d * grid.steps
        signed, farthest = p < 0 < last, max(abs(p), abs(last))
        each, often = setting.changes(signed=signed)
        squares = setting.squares(per_row=farthest, signed=signed)
        total = measure(
            "sum",
            (
                Term(coefficient=d, moments=("u",)),
                Term(coefficient=p, moments=("n",)),
            ),
            change=each * farthest,
            lower=min(0, n * p),
            upper=max(0, n * last),
            l0=often,
            ranges=setting.ranges(signed=signed),
        )
        readout = Affine(offset=Fraction(0), scale=grid.step / d)
    return Description(
        measures=(total,),
        readout=readout,
        lower=readout.offset + readout.scale * total.lower,
        upper=readout.offset + readout.scale * total.upper,
        quantisation=n * grid.error * grid.step,
        sensitivity=readout.scale * total.sensitivity,
        unit=setting.unit_names[0],
        squares=squares,
    )


STATISTIC = Statistic(
    name="sum",
    summary="The sum of a number column, each cell clamped to its bounds.",
    example="wage",
    column_types=COUNTED,
    phrase="sum of {0}",
    describe=describe,
)
