"""The sum of the squares of a column.

T = sum (p + d u)^2,  sensitivity = rows_each * most, less the least if n is public,
value = (s / d)^2 T

a, s    lower bound and value of one step; Q steps
p / d   a / s in lowest terms, so that d (a + s u) / s is the whole number p + d u
least, most   of (p + d u)^2 for u in 0..Q
"""

from __future__ import annotations

from fractions import Fraction

from dpql.model.plan import Affine, Term
from dpql.statistics.setting import Description, Setting, grouped, measure
from dpql.statistics.statistic import Statistic


def describe(setting: Setting) -> Description:
    """Return how squares are summed."""
    (grid,) = setting.grids
    first = grid.lower / grid.step
    p, d = first.numerator, first.denominator
    nearest = min(max(-p // d, 0), grid.steps)
    ends = {0, nearest, min(nearest + 1, grid.steps), grid.steps}
    squares = [(p + d * u) ** 2 for u in ends]
    least = min(squares) if setting.known else 0
    each, often = setting.changes()
    total = measure(
        "squares",
        (
            Term(coefficient=d**2, moments=("uu",)),
            Term(coefficient=2 * p * d, moments=("u",)),
            Term(coefficient=p**2, moments=("n",)),
        ),
        change=each * (max(squares) - least),
        lower=setting.rows * least,
        upper=setting.rows * max(squares),
        l0=often,
    )
    scale = (grid.step / d) ** 2
    shift = grid.error * grid.step
    largest = max(abs(grid.lower), abs(grid.upper))
    unit = setting.unit_names[0]
    return Description(
        measures=(total,),
        readout=Affine(offset=Fraction(0), scale=scale),
        lower=scale * total.lower,
        upper=scale * total.upper,
        quantisation=setting.rows * shift * (2 * largest + shift),
        sensitivity=scale * total.sensitivity,
        unit=None if unit is None else f"{grouped(unit)}²",
    )


STATISTIC = Statistic(
    name="sum_of_squares",
    summary="The sum of the squares of a number column, each cell clamped.",
    example="wage",
    phrase="sum of the squares of {0}",
    power=2,
    describe=describe,
)
