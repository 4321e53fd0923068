"""For people who test differentially private code.

    tolerances    laplace_tolerance, laplace_complement, geometric_tolerance,
                  snapping_tolerance, mechanism_tolerance, integer_tolerance,
                  split_flakiness, overall_flakiness: how far noise may reach
    gaussian      gaussian_sigma, gaussian_delta, classic_gaussian, ClassicGaussian,
                  gaussian_tolerance, gaussian_complement
    boxes         mean_box, variance_box, Box: statistics made of several noisy parts
    tape          Tape, TapeError, SeededBits, SeededLane: coins the test knows
    enumeration   enumerate_outcomes, Outcomes: the exact law, by every tape
    fit           chi_square, relative_entropy, dkw, Fit: draws against a law
    audit         epsilon_lower_bound, EpsilonBound: what two sets of draws prove
    binomial      probability_down, probability_up: Clopper-Pearson bounds

Nothing here may be used to make a release.
"""

from dpql.testing.audit import EpsilonBound, epsilon_lower_bound
from dpql.testing.binomial import probability_down, probability_up
from dpql.testing.boxes import Box, mean_box, variance_box
from dpql.testing.enumeration import Outcomes, enumerate_outcomes
from dpql.testing.fit import Fit, chi_square, dkw, relative_entropy
from dpql.testing.gaussian import (
    ClassicGaussian,
    classic_gaussian,
    gaussian_complement,
    gaussian_delta,
    gaussian_sigma,
    gaussian_tolerance,
)
from dpql.testing.tape import SeededBits, SeededLane, Tape, TapeError
from dpql.testing.tolerances import (
    geometric_tolerance,
    integer_tolerance,
    laplace_complement,
    laplace_tolerance,
    mechanism_tolerance,
    overall_flakiness,
    snapping_tolerance,
    split_flakiness,
)

__all__ = [
    "Box",
    "ClassicGaussian",
    "EpsilonBound",
    "Fit",
    "Outcomes",
    "SeededBits",
    "SeededLane",
    "Tape",
    "TapeError",
    "chi_square",
    "classic_gaussian",
    "dkw",
    "enumerate_outcomes",
    "epsilon_lower_bound",
    "gaussian_complement",
    "gaussian_delta",
    "gaussian_sigma",
    "gaussian_tolerance",
    "geometric_tolerance",
    "integer_tolerance",
    "laplace_complement",
    "laplace_tolerance",
    "mean_box",
    "mechanism_tolerance",
    "overall_flakiness",
    "probability_down",
    "probability_up",
    "relative_entropy",
    "snapping_tolerance",
    "split_flakiness",
    "variance_box",
]
