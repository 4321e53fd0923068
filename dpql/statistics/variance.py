"""The variance of a column: of the sample where n is public, else of the population.

    n public:   T = n sum u^2 - (sum u)^2,  value = s^2 T / (n (n - 1)),
                sensitivity = Q^2 j (n - j),  j = min(rows_each, n // 2)
    n private:  count, S = sum (2u - Q), S2 = sum (2u - Q)^2,
                sensitivities rows_each * (1, Q, Q^2),
                value = (s / 2)^2 (S2 / count - (S / count)^2)
    by parts:   sums of (Q-u)^2, 2u(Q-u) and u^2 share one sensitivity

Source: MATH 4 (table, k_u rows exact; variance under add/remove), 5 (integers);
MATH-statistics 3 (parts).
"""

from __future__ import annotations

from fractions import Fraction

from dpql.errors import PlanFault
from dpql.model.plan import Affine, CentredVariance, Share, Term
from dpql.statistics.at_least import AT_LEAST
from dpql.statistics.contribution import Contribution
from dpql.statistics.count import counting
from dpql.statistics.mean import centred_sum
from dpql.statistics.parts import variance_parts
from dpql.statistics.setting import Description, Setting, alone, grouped, measure
from dpql.statistics.statistic import COUNTED, Statistic


def describe(setting: Setting) -> Description:
    """Return how a variance is measured."""
    return _known(setting) if setting.known else _private(setting)


def describe_joint(setting: Setting) -> Description:
    """Return how a variance is measured by parts of one."""
    # Reading a spec needs none of their arithmetic.
    from dpql.statistics.joint import Joint
    from dpql.statistics.promise import variance_promise

    (grid,) = setting.grids
    parts = variance_parts(grid.steps)
    shift = grid.error * grid.step
    return Description(
        measures=(),
        readout=None,
        lower=Fraction(0),
        upper=grid.width**2 / 4,
        quantisation=grid.width * shift + shift**2,
        sensitivity=None,
        unit=_squared(setting.unit_names[0]),
        joint=Joint(
            what=Share.VARIANCE,
            parts=parts,
            contribution=Contribution.of(setting),
            rows=setting.rows,
            promise=variance_promise,
            unit=grid.width**2,
        ),
    )


def spread(n: int) -> Fraction:
    """Return V(n): the largest sample variance of n points of an interval of width 1.

        V(n) = floor(n/2) ceil(n/2) / (n (n - 1))

    Source: MATH 4.
    """
    return Fraction((n // 2) * (n - n // 2), n * (n - 1))


def require_two(rows: int) -> None:
    """Refuse a sample that has no variance."""
    if rows < 2:  # noqa: PLR2004  the n - 1 of a sample
        raise PlanFault.of(
            "DPQL421",
            "a variance or covariance needs at least 2 rows",
            hint="declare `rows: {exactly: 2}` or more",
        )


def _known(setting: Setting) -> Description:
    (grid,) = setting.grids
    n = setting.rows
    require_two(n)
    moved = min(setting.rows_each, n // 2)
    squares = measure(
        "squares",
        (
            Term(coefficient=n, moments=("uu",)),
            Term(coefficient=-1, moments=("u", "u")),
        ),
        change=grid.steps**2 * moved * (n - moved),
        lower=0,
        upper=grid.steps**2 * (n // 2) * (n - n // 2),
        l0=1,
    )
    scale = grid.step**2 / (n * (n - 1))
    shake = 2 * grid.error / grid.steps
    return Description(
        measures=(squares,),
        readout=Affine(offset=Fraction(0), scale=scale),
        lower=Fraction(0),
        upper=scale * squares.upper,
        quantisation=grid.width**2 * spread(n) * (2 * shake + shake**2),
        sensitivity=scale * squares.sensitivity,
        unit=_squared(setting.unit_names[0]),
        squares=alone(squares),
    )


def _private(setting: Setting) -> Description:
    (grid,) = setting.grids
    steps = grid.steps
    each, often = setting.changes()
    squares = measure(
        "squares",
        (
            Term(coefficient=4, moments=("uu",)),
            Term(coefficient=-4 * steps, moments=("u",)),
            Term(coefficient=steps**2, moments=("n",)),
        ),
        change=each * steps**2,
        lower=0,
        upper=setting.rows * steps**2,
        l0=often,
    )
    shift = grid.error * grid.step
    return Description(
        measures=(counting(setting), centred_sum(setting), squares),
        readout=CentredVariance(scale=grid.step / 2, steps=steps),
        lower=Fraction(0),
        upper=grid.width**2 / 4,
        quantisation=grid.width * shift + shift**2,
        sensitivity=None,
        unit=_squared(setting.unit_names[0]),
    )


def _squared(unit: str | None) -> str | None:
    return None if unit is None else f"{grouped(unit)}²"


STATISTIC = Statistic(
    name="variance",
    summary="The variance of a number column, each cell clamped to its bounds: "
    "of the sample (divided by n - 1) where the number of rows is public, else "
    "of the population (divided by n).",
    example="wage",
    column_types=COUNTED,
    phrase="population variance of {0} (divided by n)",
    public_phrase="sample variance of {0} (divided by n - 1)",
    power=2,
    options=(AT_LEAST,),
    fewest_rows=2,
    synonyms=("var",),
    describe=describe,
    describe_joint=describe_joint,
)
