"""Two-sided geometric: exact discrete Laplace noise on a lattice of any size.

    outcome = lattice * (round(value / lattice) + X)
    P(X = x) = (1 - q)/(1 + q) * q**|x|,   q = exp(-theta)
    theta = epsilon * lattice / sensitivity

    lattice      spacing of the outcomes; the value's own lattice, or a coarser one
    sensitivity  a whole number of lattice steps

The noise is drawn by inverting the tail P(|X| >= x) = 2 q**x / (1 + q):

    |X| = floor( -ln(U)/theta + beta ),   beta = ln(2/(1+q)) / theta,   fair sign

U is the number whose binary digits the lane holds. One request gives enough digits to
settle the floor but with probability below 2**-64; then more digits are read, for as
long as it takes, so the law is exact. No threshold is rational, so it ends.

Rounding a value to the lattice costs no privacy: |s - t| <= D, D whole, implies
|floor(s) - floor(t)| <= D.
Source: MATH 5 (coarsening lemma), 6.2 (the law; inversion in place of one Bernoulli
draw per binary digit, docs/decisions/0003), 7 (accuracy).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction

from dpql.errors import PlanFault
from dpql.exact import read_fraction, round_up_to_digits
from dpql.mechanisms.concentrated import geometric_rho_up
from dpql.mechanisms.geometric_draw import (
    Kit,
    nearest,
    outcome,
    perturb,
    perturb_many,
    width,
)
from dpql.mechanisms.geometric_law import (
    accuracy,
    drift,
    nominal_accuracy,
    probability,
    simultaneous_accuracy,
    steps_within,
    theta_for,
)
from dpql.mechanisms.mechanism import (
    EPSILON_CEILING,
    Query,
    agreed,
    require_spend,
    require_target,
)

__all__ = [
    "NAME",
    "PARAMETERS",
    "GeometricNoise",
    "accuracy",
    "calibrate",
    "calibrate_joint",
    "drift",
    "epsilon_for",
    "loss",
    "miniatures",
    "nearest",
    "nominal_accuracy",
    "outcome",
    "parameters",
    "perturb",
    "perturb_many",
    "probability",
    "restore",
    "rho",
    "simultaneous_accuracy",
    "steps_within",
    "theta_for",
    "width",
]

NAME = "geometric"

PARAMETERS: Mapping[str, str] = {
    "sensitivity": "the most that a neighbour changes the value",
    "lattice": "spacing of the outcomes",
    "rounded": "whether values are rounded to the lattice before noise: 0 or 1",
    "epsilon": "privacy loss that the noise was calibrated for",
    "theta": "privacy loss per lattice step: epsilon * lattice / sensitivity",
}

_GUARD = 72
"""Digits of U beyond the scale: a draw needs a second read below once in 2**64."""

_FINEST = 1 << 32
"""Most lattice steps in a sensitivity; a finer value is rounded (MATH 5, r = 32)."""

_MOST = 1 << 36
"""Most lattice steps in what several numbers change together, their rounding included.

Twice 2**32 where a unit is replaced, and one more for each rounded number.
"""

_DIGITS = 15
"""Significant decimal digits of an epsilon found for an accuracy."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GeometricNoise:
    """Every parameter of one geometric release, exact."""

    sensitivity: Fraction
    lattice: Fraction
    rounded: bool
    epsilon: Fraction
    guard: int = _GUARD
    kit: Kit = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "kit", Kit(self))

    @property
    def theta(self) -> Fraction:
        """Loss per step of the lattice."""
        return self.epsilon * self.lattice / self.sensitivity


def calibrate(query: Query, epsilon: Fraction, *, gamma: Fraction) -> GeometricNoise:
    """Return the geometric noise that hides ``query`` at exactly ``epsilon``.

    The lattice is the query's own when the sensitivity is at most 2**32 whole steps of
    it; otherwise values are rounded to a lattice of sensitivity / 2**32.
    ``gamma`` has no part in it: nothing is clamped.
    """
    require_spend(epsilon, gamma)
    lattice = query.lattice
    fits = lattice is not None and _whole(query.sensitivity / lattice)
    if lattice is None or not fits:
        lattice = query.sensitivity / _FINEST
    return GeometricNoise(
        sensitivity=query.sensitivity,
        lattice=lattice,
        rounded=not fits,
        epsilon=epsilon,
    )


def calibrate_joint(change: int, epsilon: Fraction) -> GeometricNoise:
    """Return the noise of each of several whole numbers that share one sensitivity.

    ``change`` is the most that all of them together, over all cells, change in l1
    between neighbours. Each takes independent noise of theta = epsilon / change, and
    the loss of all together is ``epsilon``: it must be counted once.
    Source: MATH-statistics 3.1.
    """
    require_spend(epsilon, Fraction(1))
    if not 1 <= change <= _MOST:
        raise PlanFault.of(
            "DPQL413", "numbers that share a sensitivity may change by 2^36 steps"
        )
    return GeometricNoise(
        sensitivity=Fraction(change),
        lattice=Fraction(1),
        rounded=False,
        epsilon=epsilon,
    )


def parameters(noise: GeometricNoise) -> dict[str, str]:
    """Return every parameter as exact text."""
    exact = {name: getattr(noise, name) for name in PARAMETERS}
    return {name: str(Fraction(value)) for name, value in exact.items()}


def restore(given: Mapping[str, str]) -> GeometricNoise:
    """Return the noise that has these parameters; refuse any that disagree."""
    try:
        exact = {name: read_fraction(given[name]) for name in PARAMETERS}
        require_spend(exact["epsilon"], Fraction(1))
        if min(exact["sensitivity"], exact["lattice"]) <= 0 or not _whole(
            exact["sensitivity"] / exact["lattice"], _MOST
        ):
            return agreed(NAME, None, {}, given)
        noise = GeometricNoise(
            sensitivity=exact["sensitivity"],
            lattice=exact["lattice"],
            rounded=bool(exact["rounded"]),
            epsilon=exact["epsilon"],
        )
    except (KeyError, TypeError, ValueError, PlanFault):
        return agreed(NAME, None, {}, given)
    return agreed(NAME, noise, parameters(noise), given)


def loss(noise: GeometricNoise) -> Fraction:
    """Return theta times the steps of a sensitivity: the loss, exactly."""
    return noise.theta * (noise.sensitivity / noise.lattice)


def rho(noise: GeometricNoise) -> Fraction:
    """Return the cost of one cell under zero-concentrated privacy, rounded up.

        theta (D - 2q (1 - q**D) / (1 - q**2)),   D the steps of a sensitivity

    It is convex in D and 0 at D = 0. So it bounds, too, what several cells cost that
    change by D steps together.
    Source: MATH-delta 2.1.
    """
    return geometric_rho_up(noise.theta, int(noise.sensitivity / noise.lattice))


def epsilon_for(
    query: Query, accuracy: Fraction, alpha: Fraction, *, gamma: Fraction
) -> Fraction:
    """Return the smallest epsilon that reaches ``accuracy``, up to 15 digits.

        theta* solves 2 q**(a+1) = alpha (1 + q), a the whole steps in the accuracy

    Source: MATH 7.
    """
    require_target(query, accuracy, alpha)
    trial = calibrate(query, Fraction(1), gamma=gamma)
    half = Fraction(1, 2) if trial.rounded else 0
    steps = (accuracy / trial.lattice - half).__floor__()
    if steps < 0:
        raise PlanFault.of(
            "DPQL410",
            "the accuracy target is finer than the lattice of the outcomes",
            hint=f"ask for at least {trial.lattice}",
        )
    ratio = query.sensitivity / trial.lattice
    epsilon = round_up_to_digits(ratio * theta_for(steps, alpha), _DIGITS)
    if epsilon > EPSILON_CEILING:
        raise PlanFault.of(
            "DPQL412",
            "the accuracy target needs an epsilon above 1000",
            hint="ask for a wider margin, or for a larger alpha",
        )
    assert steps_within(epsilon / ratio, alpha) <= steps, "MATH 7"
    return epsilon


def miniatures() -> list[tuple[GeometricNoise, Fraction]]:
    """Return noises that read few digits at a time, to enumerate every lane."""
    shapes = [
        (Fraction(1), Fraction(1), 11),
        (Fraction(1, 2), Fraction(1), 11),
        (Fraction(3), Fraction(2), 11),
        (Fraction(7, 10), Fraction(3), 11),
        (Fraction(1), Fraction(1), 5),
        (Fraction(2), Fraction(3), 5),
        (Fraction(8), Fraction(1), 5),
    ]
    return [
        (
            GeometricNoise(
                sensitivity=sensitivity,
                lattice=Fraction(1),
                rounded=False,
                epsilon=epsilon,
                guard=guard,
            ),
            sensitivity,
        )
        for epsilon, sensitivity, guard in shapes
    ]


def _whole(steps: Fraction, most: int = _FINEST) -> bool:
    return steps.denominator == 1 and steps <= most
