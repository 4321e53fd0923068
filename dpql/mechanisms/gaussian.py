"""Discrete Gaussian noise on a lattice of any size, with a rational sigma squared.

    outcome = lattice * (round(value / lattice) + X)
    P(X = x) = exp(-x**2 / (2 sigma2)) / Z,   sigma2 = squared / (2 rho)

    lattice   spacing of the outcomes; the value's own lattice, or a coarser one
    squared   the most that the numbers of all cells change between neighbours, as a sum
              of squares, in lattice steps
    rho       what the release of all those cells costs: it is rho-zCDP

No square root is stored, so sigma2 and rho are exact. The cost is the least possible:
for whole distances the Renyi divergence of order a is at most a d**2 / (2 sigma2), with
equality wherever a d is whole.

Rounding a value to a coarser lattice costs no privacy cell by cell: |s - t| <= D, D
whole, implies |floor(s) - floor(t)| <= D. It keeps ``cells * D**2`` and no smaller
bound on the sum of squares.
Source: MATH-delta 1.1, 1.2.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction

from dpql.errors import PlanFault
from dpql.exact import read_fraction
from dpql.mechanisms.gaussian_draw import (
    Kit,
    nearest,
    outcome,
    perturb,
    perturb_many,
    width,
)
from dpql.mechanisms.gaussian_law import (
    accuracy,
    drift,
    normaliser,
    probability,
    simultaneous_accuracy,
    steps_within,
    variance,
)
from dpql.mechanisms.gaussian_law import rho_for as rho_for_steps
from dpql.mechanisms.gaussian_tail import DIGITS
from dpql.mechanisms.mechanism import Query, agreed, require_target

__all__ = [
    "NAME",
    "PARAMETERS",
    "GaussianNoise",
    "accuracy",
    "calibrate",
    "calibrate_joint",
    "drift",
    "loss",
    "miniatures",
    "nearest",
    "normaliser",
    "outcome",
    "parameters",
    "perturb",
    "perturb_many",
    "probability",
    "restore",
    "rho",
    "rho_for",
    "simultaneous_accuracy",
    "steps_within",
    "variance",
    "width",
]

NAME = "gaussian"

PARAMETERS: Mapping[str, str] = {
    "sensitivity": "the most that a neighbour changes the value",
    "lattice": "spacing of the outcomes",
    "rounded": "whether values are rounded to the lattice before noise: 0 or 1",
    "squared": "the most that all cells change, as a sum of squares of lattice steps",
    "rho": "what the release of all cells costs under zero-concentrated privacy",
    "sigma2": "squared / (2 rho), the parameter of the noise in lattice steps",
}

RHO_CEILING = Fraction(1000)

_FINEST = 1 << 20
"""Most lattice steps in a sensitivity; a finer value is rounded (MATH-delta 1.2)."""

_MOST = 1 << 44
"""Most that several numbers change together, in lattice steps, before squaring."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GaussianNoise:
    """Every parameter of one Gaussian release, exact."""

    sensitivity: Fraction
    lattice: Fraction
    rounded: bool
    squared: Fraction
    rho: Fraction
    digits: int = DIGITS
    kit: Kit = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "kit", Kit(self))

    @property
    def sigma2(self) -> Fraction:
        """The parameter of the noise, in lattice steps squared."""
        return self.squared / (2 * self.rho)


def calibrate(
    query: Query, rho: Fraction, *, cells: int, squared: Fraction | None = None
) -> GaussianNoise:
    """Return the noise of cells whose release together costs exactly ``rho``.

    ``cells`` of them change by the query's sensitivity at most, or others by less with
    no larger sum of squares. ``squared`` is a smaller bound on that sum, in the units
    of the query; it counts only on the query's own lattice, which is kept when the
    sensitivity is at most 2**20 whole steps of it.
    """
    require_rho(rho)
    if cells < 1:
        raise PlanFault.of("DPQL413", "noise hides at least one cell")
    sensitivity, lattice = query.sensitivity, query.lattice
    fits = lattice is not None and _whole(sensitivity / lattice, _FINEST)
    if lattice is None or not fits:
        lattice, squared = sensitivity / _FINEST, None
    most = cells * sensitivity**2
    change = most if squared is None else squared
    if not sensitivity**2 <= change <= most:
        raise PlanFault.of(
            "DPQL413", "the sum of squares is that of one cell to that of all cells"
        )
    return GaussianNoise(
        sensitivity=sensitivity,
        lattice=lattice,
        rounded=not fits,
        squared=change / lattice**2,
        rho=rho,
    )


def calibrate_joint(change: int, squared: int, rho: Fraction) -> GaussianNoise:
    """Return the noise of each of several whole numbers that share one sensitivity.

    ``change`` is the most that one of them changes between neighbours, ``squared`` the
    most that all of them over all cells change as a sum of squares. The cost of all
    together is ``rho``: it must be counted once.
    Source: MATH-delta 1.2, parts of one.
    """
    require_rho(rho)
    if not 1 <= change <= _MOST or not change**2 <= squared:
        raise PlanFault.of(
            "DPQL413", "numbers that share a sensitivity may change by 2^44 steps"
        )
    return GaussianNoise(
        sensitivity=Fraction(change),
        lattice=Fraction(1),
        rounded=False,
        squared=Fraction(squared),
        rho=rho,
    )


def parameters(noise: GaussianNoise) -> dict[str, str]:
    """Return every parameter as exact text."""
    exact = {name: getattr(noise, name) for name in PARAMETERS}
    return {name: str(Fraction(value)) for name, value in exact.items()}


def restore(given: Mapping[str, str]) -> GaussianNoise:
    """Return the noise that has these parameters; refuse any that disagree."""
    try:
        exact = {name: read_fraction(given[name]) for name in PARAMETERS}
        require_rho(exact["rho"])
        if min(exact["sensitivity"], exact["lattice"]) <= 0:
            return agreed(NAME, None, {}, given)
        steps = exact["sensitivity"] / exact["lattice"]
        if not _whole(steps, _MOST) or exact["squared"] < steps**2:
            return agreed(NAME, None, {}, given)
        if exact["squared"].denominator != 1:
            return agreed(NAME, None, {}, given)
        noise = GaussianNoise(
            sensitivity=exact["sensitivity"],
            lattice=exact["lattice"],
            rounded=bool(exact["rounded"]),
            squared=exact["squared"],
            rho=exact["rho"],
        )
    except (KeyError, TypeError, ValueError, PlanFault):
        return agreed(NAME, None, {}, given)
    return agreed(NAME, noise, parameters(noise), given)


def loss(noise: GaussianNoise) -> Fraction:
    """Return the rho of all cells, recomputed from sigma2 and the sum of squares."""
    return noise.squared / (2 * noise.sigma2)


def rho(noise: GaussianNoise) -> Fraction:
    """Return the same: what it loses is a rho."""
    return loss(noise)


def rho_for(
    query: Query,
    accuracy: Fraction,
    alpha: Fraction,
    *,
    cells: int,
    squared: Fraction | None = None,
) -> Fraction:
    """Return the smallest rho that reaches ``accuracy``, up to 15 digits.

    Source: MATH-delta 1.5.
    """
    require_target(query, accuracy, alpha)
    trial = calibrate(query, Fraction(1), cells=cells, squared=squared)
    half = Fraction(1, 2) if trial.rounded else 0
    steps = (accuracy / trial.lattice - half).__floor__()
    if steps < 0:
        raise PlanFault.of(
            "DPQL410",
            "the accuracy target is finer than the lattice of the noise",
            hint="ask for a wider margin",
        )
    rho = rho_for_steps(trial.squared, steps, alpha)
    if rho > RHO_CEILING:
        raise PlanFault.of(
            "DPQL412",
            "the accuracy target needs a rho above 1000",
            hint="ask for a wider margin, or for a larger alpha",
        )
    return rho


def require_rho(rho: Fraction) -> None:
    """Refuse a rho that no release may have."""
    if not 0 < rho <= RHO_CEILING:
        raise PlanFault.of(
            "DPQL413", "rho must be above 0 and at most 1000", hint="try 0.01"
        )


def miniatures() -> list[tuple[GaussianNoise, Fraction]]:
    """Return small noises with the distance of neighbours, to enumerate wholly."""
    cases = [
        ("1", "1", 2, "1", 6),
        ("1", "1", 1, "1/8", 6),
        ("3", "1", 1, "9/8", 6),
        ("2", "1/2", 1, "2", 8),
        ("1", "1", 1, "1/50", 8),
        ("1/3", "1/3", 4, "8", 6),
    ]
    return [
        (
            GaussianNoise(
                sensitivity=Fraction(sensitivity),
                lattice=Fraction(lattice),
                rounded=True,
                squared=cells * (Fraction(sensitivity) / Fraction(lattice)) ** 2,
                rho=Fraction(rho),
                digits=digits,
            ),
            Fraction(sensitivity),
        )
        for sensitivity, lattice, cells, rho, digits in cases
    ]


def _whole(steps: Fraction, most: int) -> bool:
    return steps.denominator == 1 and 1 <= steps <= most
