"""Snapping: Laplace noise on a power-of-two grid whose stated epsilon is true.

    outcome = clamp_B( round_Lambda( clamp_B(f) + S * lambda_ * ln(U) ) )

    f         the value in rescaled units, (value - shift) / sensitivity
    lambda_   scale, 1 / epsilon_prime
    Lambda    smallest power of two >= lambda_
    U         uniform on (0, 1), truncated to p + 1 bits after its first one
    S         fair sign
    p         precision; ln is rounded to p bits, everything else is exact
    eta       2**-p

Guarantee: epsilon_prime * (1 + 12 * B * eta) + 2 * eta <= epsilon.
Requires that U carries p + 1 bits: precise arithmetic on a coarser U breaks the claim.
Source: MATH 1.1 (normative definition, variant E), 1.3 (proof), 3.2 (planning).
The notes' product and sum rounded to p bits (variant R) are not followed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction

from dpql.errors import PlanFault
from dpql.exact import (
    ln_up,
    power_of_two_up,
    read_fraction,
    round_up_to_bits,
    round_up_to_digits,
    two_to,
)
from dpql.mechanisms import snapping_law
from dpql.mechanisms.concentrated import pure_rho_up
from dpql.mechanisms.mechanism import (
    EPSILON_CEILING,
    Query,
    agreed,
    require_spend,
    require_target,
)
from dpql.mechanisms.snapping_draw import Kit, outcome, perturb, perturb_many, width
from dpql.mechanisms.snapping_law import (
    accuracy,
    bias,
    clamp_bound,
    clamp_probability,
    drift,
    plain_accuracy,
    probability,
)
from dpql.mechanisms.snapping_price import (
    DIGITS,
    GUARD,
    epsilon_of,
    least_epsilon,
    widest_scale,
)

__all__ = [
    "NAME",
    "PARAMETERS",
    "SnappingNoise",
    "accuracy",
    "bias",
    "calibrate",
    "clamp_bound",
    "clamp_probability",
    "drift",
    "epsilon_for",
    "least_epsilon",
    "loss",
    "miniatures",
    "outcome",
    "parameters",
    "perturb",
    "perturb_many",
    "plain_accuracy",
    "plain_epsilon_for",
    "probability",
    "restore",
    "rho",
    "width",
]

NAME = "snapping"

PARAMETERS: Mapping[str, str] = {
    "sensitivity": "the most that a neighbour changes the value",
    "shift": "middle of the value's public range; the value is centred there",
    "B_prime": "half the public range, in sensitivities",
    "B": "clamp bound, in sensitivities, with 53 significant bits",
    "gamma": "bound on the probability that the outer clamp changes the outcome",
    "epsilon": "privacy loss that the noise was calibrated for",
    "precision": "bits p to which the logarithm is rounded; U carries p + 1",
    "eta": "2**-p",
    "epsilon_prime": "loss of the ideal mechanism inside, below epsilon",
    "lambda_prime": "scale of the noise, in sensitivities: 1 / epsilon_prime",
    "Lambda_prime": "grid of the outcomes, in sensitivities: a power of two",
}

_RUN = 87
"""Zeros that may lead U before a draw needs a second read, once in 2**87.

At p = 118 the request is 26 bytes, and the number it makes has the same count of
Python's 30-bit digits unless U < 2**-26: its size, too, would tell the noise.
"""

_CLOSING = 16
"""The most last digits by which an epsilon is raised before the plain form is taken."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SnappingNoise:
    """Every parameter of one snapping release, exact.

    The ideal loss, eta and the grid follow from the rest and are not stored twice.
    """

    sensitivity: Fraction
    shift: Fraction
    B_prime: Fraction
    B: Fraction
    gamma: Fraction
    epsilon: Fraction
    precision: int
    lambda_prime: Fraction
    run: int = _RUN
    kit: Kit = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "kit", Kit(self))

    @property
    def eta(self) -> Fraction:
        """2**-p."""
        return two_to(-self.precision)

    @property
    def epsilon_prime(self) -> Fraction:
        """Loss of the ideal mechanism."""
        return 1 / self.lambda_prime

    @property
    def grid_exponent(self) -> int:
        """The exponent k of Lambda_prime == 2**k."""
        return power_of_two_up(self.lambda_prime)

    @property
    def Lambda_prime(self) -> Fraction:
        """Spacing of the outcomes in rescaled units."""
        return two_to(self.grid_exponent)

    @property
    def edge(self) -> int:
        """The step that stands for +B; its negative stands for -B."""
        return self.kit.edge


def calibrate(query: Query, epsilon: Fraction, *, gamma: Fraction) -> SnappingNoise:
    """Return the snapping noise that hides ``query`` at exactly ``epsilon``.

        p0 = max(118, 54 + ceil log2(1/epsilon))
        k  = (2 + 24 * 2**-52) / (epsilon - 2**(1 - p0))
        B  = B' + (k/2) * (1 + 2 ln(1/gamma)),  rounded up to 53 bits
        p  = max(p0, 52 + ceil log2 B)
        epsilon' = (epsilon - 2 eta) / (1 + 12 B eta),  lambda' = 1/epsilon'

    Ensures: loss(result) == epsilon, and Theorem 1 of MATH 1.3 applies.
    Source: MATH 3.2.
    """
    require_spend(epsilon, gamma)
    B_prime = (query.upper - query.lower) / (2 * query.sensitivity)
    least = max(GUARD, 54 + power_of_two_up(1 / epsilon))
    k = (2 + 24 * two_to(-52)) / (epsilon - two_to(1 - least))
    B = round_up_to_bits(B_prime + k / 2 * (1 + 2 * ln_up(1 / gamma)), 53)
    precision = max(least, 52 + power_of_two_up(B))
    eta = two_to(-precision)
    return SnappingNoise(
        sensitivity=query.sensitivity,
        shift=(query.upper + query.lower) / 2,
        B_prime=B_prime,
        B=B,
        gamma=gamma,
        epsilon=epsilon,
        precision=precision,
        lambda_prime=(1 + 12 * B * eta) / (epsilon - 2 * eta),
    )


def parameters(noise: SnappingNoise) -> dict[str, str]:
    """Return every parameter as exact text."""
    return {name: str(getattr(noise, name)) for name in PARAMETERS}


def restore(given: Mapping[str, str]) -> SnappingNoise:
    """Return the noise that has these parameters; refuse any that disagree.

    Clamp bound, precision and scale must be those that `calibrate` derives, so a plan
    cannot smuggle in a noise that the proof does not cover.
    """
    try:
        exact = {name: read_fraction(given[name]) for name in PARAMETERS}
        reach = exact["B_prime"] * exact["sensitivity"]
        query = Query(
            sensitivity=exact["sensitivity"],
            lower=exact["shift"] - reach,
            upper=exact["shift"] + reach,
        )
        noise = calibrate(query, exact["epsilon"], gamma=exact["gamma"])
    except (KeyError, TypeError, ValueError, PlanFault):
        return agreed(NAME, None, {}, given)
    return agreed(NAME, noise, parameters(noise), given)


def loss(noise: SnappingNoise) -> Fraction:
    """Return a bound on the privacy loss from scale, clamp and precision alone.

        (1 + 12 B eta) / lambda' + 2 eta

    Source: MATH 1.3 (*).
    """
    return (1 + 12 * noise.B * noise.eta) / noise.lambda_prime + 2 * noise.eta


def rho(noise: SnappingNoise) -> Fraction:
    """Return the cost under zero-concentrated privacy of any noise of that loss."""
    return pure_rho_up(loss(noise))


def epsilon_for(
    query: Query, accuracy: Fraction, alpha: Fraction, *, gamma: Fraction
) -> Fraction:
    """Return the smallest epsilon that reaches the target, rounded up to 15 digits.

    It is at most 2e-14, relatively, above the least at which `accuracy` states the
    target; `accuracy` falls as epsilon grows, in jumps at the powers of two.

    Refuses a target that a constant meets (DPQL411), one below any grid (DPQL410), and
    one beyond the ceiling of epsilon (DPQL412).
    Ensures: accuracy(calibrate(query, result), alpha) <= accuracy.
    """
    require_target(query, accuracy, alpha)
    epsilon = epsilon_of(widest_scale(accuracy / query.sensitivity, alpha))
    for _ in range(_CLOSING):
        _require_affordable(epsilon)
        noise = calibrate(query, epsilon, gamma=gamma)
        if snapping_law.accuracy(noise, alpha) <= accuracy:
            return epsilon
        epsilon = round_up_to_digits(epsilon * (1 + Fraction(1, 10**14)), DIGITS)
    return plain_epsilon_for(query, accuracy, alpha, gamma=gamma)


def plain_epsilon_for(
    query: Query, accuracy: Fraction, alpha: Fraction, *, gamma: Fraction
) -> Fraction:
    """Return the smallest epsilon whose plain accuracy reaches the target, rounded up.

    Plans of format 1 were priced by it. It refuses what `epsilon_for` refuses.
    Ensures: plain_accuracy(calibrate(query, result), alpha) <= accuracy.
    """
    require_target(query, accuracy, alpha)
    epsilon = least_epsilon(accuracy / query.sensitivity, alpha)
    _require_affordable(epsilon)
    noise = calibrate(query, epsilon, gamma=gamma)
    assert plain_accuracy(noise, alpha) <= accuracy, "MATH 3.4"
    return epsilon


def _require_affordable(epsilon: Fraction) -> None:
    if epsilon > EPSILON_CEILING:
        raise PlanFault.of(
            "DPQL412",
            "the accuracy target needs an epsilon above 1000",
            hint="ask for a wider margin, or for a larger alpha",
        )


def miniatures() -> list[tuple[SnappingNoise, Fraction]]:
    """Return noises of 5 to 8 bits, small enough to enumerate every lane.

    Their loss is claimed by the same formula as that of a planned noise.
    """
    shapes = [
        (5, Fraction(1), Fraction(4)),
        (6, Fraction(3, 2), Fraction(5)),
        (7, Fraction(13, 8), Fraction(9, 2)),
        (8, Fraction(1, 2), Fraction(5, 2)),
    ]
    return [
        (
            SnappingNoise(
                sensitivity=Fraction(1),
                shift=Fraction(0),
                B_prime=B / 2,
                B=B,
                gamma=Fraction(1),
                epsilon=Fraction(1),
                precision=precision,
                lambda_prime=scale,
                run=4,
            ),
            Fraction(1),
        )
        for precision, scale, B in shapes
    ]
