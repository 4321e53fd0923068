"""The sample covariance of two columns, where the number of rows is public.

    T = n sum uv - sum u sum v,  value = s t T / (n (n - 1))
    sensitivity = rows_each * (n - 1) Q R  for grids of Q and R steps

Exact for one row a unit, an upper bound for the units of format 1. There is no form for
a private n.
Source: MATH 4 (table), 5 (integers).
"""

from __future__ import annotations

from fractions import Fraction

from dpql.errors import PlanFault
from dpql.model.plan import Affine, Term
from dpql.statistics.setting import Description, Setting, grouped, measure
from dpql.statistics.statistic import Statistic
from dpql.statistics.variance import require_two, spread


def describe(setting: Setting) -> Description:
    """Return how a covariance is measured."""
    if not setting.known:
        raise PlanFault.of(
            "DPQL422",
            "a covariance needs a public number of rows, hence no filter, no groups "
            "and no unit of several rows",
            hint="declare `rows: {exactly: N}`, `unit: row` and `neighbours: "
            "replace_one`, or drop the statistic",
        )
    first, second = setting.grids
    n = setting.rows
    require_two(n)
    area = first.steps * second.steps
    reach = area * (n // 2) * (n - n // 2)
    products = measure(
        "products",
        (
            Term(coefficient=n, moments=("uv",)),
            Term(coefficient=-1, moments=("u", "v")),
        ),
        change=setting.rows_each * (n - 1) * area,
        lower=-reach,
        upper=reach,
        l0=1,
    )
    scale = first.step * second.step / (n * (n - 1))
    shake, shiver = (2 * grid.error / grid.steps for grid in setting.grids)
    return Description(
        measures=(products,),
        readout=Affine(offset=Fraction(0), scale=scale),
        lower=-scale * reach,
        upper=scale * reach,
        quantisation=(
            first.width * second.width * spread(n) * (shake + shiver + shake * shiver)
        ),
        sensitivity=scale * products.sensitivity,
        unit=_product(setting.unit_names),
    )


def _product(units: tuple[str | None, ...]) -> str | None:
    named = [grouped(unit) for unit in units if unit is not None]
    return "·".join(named) if len(named) == len(units) else None


STATISTIC = Statistic(
    name="covariance",
    summary="The sample covariance of two number columns; n must be public.",
    example=("age", "wage"),
    phrase="sample covariance of {0} and {1} (divided by n - 1)",
    columns=2,
    power=2,
    needs_public_count=True,
    fewest_rows=2,
    synonyms=("cov",),
    describe=describe,
)
