"""For people who test differentially private code.

    tapes         Tape, SeededBits: coins the test knows
    enumeration   enumerate_outcomes: the exact law, by every tape
    fit           chi_square, relative_entropy, dkw: draws against a law
    audit         epsilon_lower_bound: what two sets of draws prove

Nothing here may be used to make a release.
"""

from dpql.testing.audit import EpsilonBound, epsilon_lower_bound
from dpql.testing.enumeration import Outcomes, enumerate_outcomes
from dpql.testing.fit import Fit, chi_square, dkw, relative_entropy
from dpql.testing.tape import SeededBits, SeededLane, Tape, TapeError

__all__ = [
    "EpsilonBound",
    "Fit",
    "Outcomes",
    "SeededBits",
    "SeededLane",
    "Tape",
    "TapeError",
    "chi_square",
    "dkw",
    "enumerate_outcomes",
    "epsilon_lower_bound",
    "relative_entropy",
]
