"""Parts of one: sums to which every row adds the same in all, so they share a loss.

If whole f_i >= 0 add up to F on every row, or are all 0 where a row is dropped, then
the sums B_i of f_i over all rows together change in l1 by at most F for each row of a
unit. So every part takes geometric noise of theta = epsilon / change, and epsilon is
not split.

    proportion   A: u, B: 1 - u                             (u is 1 or 0)     F = 1
    mean         A: u, B: Q - u                                               F = Q
    variance     B0: (Q-u)^2, B1: 2u(Q-u), B2: u^2                            F = Q^2
    covariance   P11: u v, P10: u(R-v), P01: (Q-u)v, P00: (Q-u)(R-v)          F = Q R

All are linear in the moments n, u, v, uu, uv. This n counts the rows that hold a value
(both values, for pairs), not the rows of the cell: else nulls would count as the lower
bound. A proportion is the mean of a condition read as 1 or 0 over one step; rows whose
condition is null are in neither part.
Source: MATH-statistics 3.1.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from dpql.model.plan import Term


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """Parts of one: their names, what rows add to each, and what a row adds to all.

    ``per_row`` is F before any refinement.
    """

    names: tuple[str, ...]
    terms: tuple[tuple[Term, ...], ...]
    per_row: int


def mean_parts(steps: int) -> Parts:
    """Return the parts of a mean over a grid."""
    return Parts(
        names=("upper", "lower"),
        terms=((_term(1, "u"),), (_term(steps, "n"), _term(-1, "u"))),
        per_row=steps,
    )


def proportion_parts() -> Parts:
    """Return the parts of a proportion: those of a mean over one step."""
    return replace(mean_parts(1), names=("true", "false"))


def variance_parts(steps: int) -> Parts:
    """Return the parts of a variance over a grid, in the order B0, B1, B2."""
    return Parts(
        names=("lower", "middle", "upper"),
        terms=(
            (_term(steps**2, "n"), _term(-2 * steps, "u"), _term(1, "uu")),
            (_term(2 * steps, "u"), _term(-2, "uu")),
            (_term(1, "uu"),),
        ),
        per_row=steps**2,
    )


def covariance_parts(steps: int, other: int) -> Parts:
    """Return the parts of a covariance or a ratio, in the order P11, P10, P01, P00."""
    return Parts(
        names=("upper_upper", "upper_lower", "lower_upper", "lower_lower"),
        terms=(
            (_term(1, "uv"),),
            (_term(other, "u"), _term(-1, "uv")),
            (_term(steps, "v"), _term(-1, "uv")),
            (
                _term(steps * other, "n"),
                _term(-other, "u"),
                _term(-steps, "v"),
                _term(1, "uv"),
            ),
        ),
        per_row=steps * other,
    )


def _term(coefficient: int, moment: str) -> Term:
    return Term(coefficient=coefficient, moments=(moment,))
