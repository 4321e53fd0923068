"""The covariance of two columns: of the sample where n is public, else the population.

    n public:   T = n sum uv - sum u sum v,  value = s t T / (n (n - 1))
                sensitivity = rows_each * (n - 1) Q R  for grids of Q and R steps
    by parts:   sums of uv, u(R-v), (Q-u)v and (Q-u)(R-v) share one sensitivity

The first is exact for one row a unit, an upper bound for the units of format 1. A
private n needs parts of one.
Source: MATH 4 (table), 5 (integers); MATH-statistics 3 (parts).
"""

from __future__ import annotations

from fractions import Fraction

from dpql.errors import PlanFault
from dpql.model.plan import Affine, Share, Term
from dpql.statistics.at_least import AT_LEAST
from dpql.statistics.contribution import Contribution
from dpql.statistics.parts import covariance_parts
from dpql.statistics.setting import Description, Setting, alone, grouped, measure
from dpql.statistics.statistic import COUNTED, Statistic
from dpql.statistics.variance import require_two, spread


def describe(setting: Setting) -> Description:
    """Return how a covariance is measured."""
    if not setting.known:
        raise PlanFault.of(
            "DPQL422",
            "a covariance of a private number of rows is made of parts that share "
            "one sensitivity, which this mechanism does not let them",
            hint="write `mechanism: geometric`",
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
        squares=alone(products),
    )


def describe_joint(setting: Setting) -> Description:
    """Return how a covariance is measured by parts of one."""
    # Reading a spec needs none of their arithmetic.
    from dpql.statistics.joint import Joint
    from dpql.statistics.promise import covariance_promise

    first, second = setting.grids
    parts = covariance_parts(first.steps, second.steps)
    shake, shiver = (2 * grid.error / grid.steps for grid in setting.grids)
    area = first.width * second.width
    return Description(
        measures=(),
        readout=None,
        lower=-area / 4,
        upper=area / 4,
        quantisation=area * (shake + shiver + shake * shiver) / 4,
        sensitivity=None,
        unit=_product(setting.unit_names),
        joint=Joint(
            what=Share.COVARIANCE,
            parts=parts,
            contribution=Contribution.of(setting),
            rows=setting.rows,
            promise=covariance_promise,
            unit=area,
        ),
    )


def _product(units: tuple[str | None, ...]) -> str | None:
    named = [grouped(unit) for unit in units if unit is not None]
    return "·".join(named) if len(named) == len(units) else None


STATISTIC = Statistic(
    name="covariance",
    summary="The covariance of two number columns: of the sample (divided by n - 1) "
    "where the number of rows is public, else of the population (divided by n).",
    example=("age", "wage"),
    column_types=COUNTED,
    phrase="population covariance of {0} and {1} (divided by n)",
    public_phrase="sample covariance of {0} and {1} (divided by n - 1)",
    columns=2,
    power=2,
    options=(AT_LEAST,),
    fewest_rows=2,
    synonyms=("cov",),
    describe=describe,
    describe_joint=describe_joint,
)
