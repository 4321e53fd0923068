"""Do the draws follow the exact law? Three tests with a stated false-alarm rate.

    chi_square        sharpest; its p-value is an approximation, good in fat cells
    relative_entropy  nearly as sharp; its false-alarm rate is proved for any sample
    dkw               sees a shift of the whole law; proved for any sample

All take counts of outcomes and exact probabilities of outcomes. Probabilities may leave
some mass out, such as far tails: outcomes not named are one more cell, with that mass.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

import gmpy2

_PRECISION = 128


@dataclass(frozen=True, slots=True)
class Fit:
    """What a test found.

    Attributes:
        statistic: the distance from the law, in the units of the test.
        p_value: chance of at least that distance when the law is right.
        false_alarm: the chance the caller accepts of a wrong rejection.
        cells: how many cells were compared, after pooling.
    """

    statistic: float
    p_value: float
    false_alarm: float
    cells: int

    @property
    def passed(self) -> bool:
        """Whether the draws are compatible with the law."""
        return self.p_value >= self.false_alarm


def chi_square(
    observed: Mapping[int, int],
    probabilities: Mapping[int, Fraction],
    *,
    false_alarm: float,
    least: int = 1000,
) -> Fit:
    """Compare counts with an exact law by Pearson's statistic.

        X = sum over cells (O - E)**2 / E,   p = Q((cells - 1) / 2, X / 2)

    Cells with E < ``least`` are pooled into one, and that one, if it is still thin,
    with the thinnest other. The chi-square law is a limit: one pair of
    cells with E = 1000 raises a rate of 1e-9 to about 4e-9, with E = 50 to 3e-8. Use
    `relative_entropy` where the rate itself must be certain.
    """
    cells, trials = _cells(observed, probabilities, least)
    cells = _enough(_merge_thin(cells, trials, least))
    with gmpy2.context(precision=_PRECISION):
        statistic = gmpy2.mpfr(0)
        for count, probability in cells:
            expected = probability * trials
            if expected:
                statistic += gmpy2.mpq((count - expected) ** 2 / expected)
            elif count:
                return Fit(float("inf"), 0.0, false_alarm, len(cells))
        half = gmpy2.mpfr(len(cells) - 1) / 2
        p_value = gmpy2.gamma_inc(half, statistic / 2) / gmpy2.gamma(half)
        return Fit(float(statistic), float(p_value), false_alarm, len(cells))


def relative_entropy(
    observed: Mapping[int, int],
    probabilities: Mapping[int, Fraction],
    *,
    false_alarm: float,
    least: int = 1000,
) -> Fit:
    """Compare counts with an exact law by relative entropy; the rate is proved.

        G = sum over cells O ln(O / E),   d = cells - 1
        P(G >= g) <= e**-g (e g / d)**d   for g > d, whatever the sample size

    Cells with E < ``least`` are pooled into one; that has no part in the proof, it
    keeps d small and so the test sharp. An outcome of no mass refutes at once.
    Source: Agrawal (2020), Finite-sample concentration of the multinomial in relative
    entropy: E exp(t G) <= (1 - t)**-d for 0 <= t < 1, and Markov's inequality.
    """
    cells, trials = _cells(observed, probabilities, least)
    cells = _enough(cells)
    with gmpy2.context(precision=_PRECISION):
        statistic = gmpy2.mpfr(0)
        for count, probability in cells:
            if count and not probability:
                return Fit(float("inf"), 0.0, false_alarm, len(cells))
            if count:
                ratio = gmpy2.mpq(Fraction(count) / (probability * trials))
                statistic += count * gmpy2.log(ratio)
        freedom = len(cells) - 1
        p_value = gmpy2.mpfr(1)
        if statistic > freedom:
            excess = statistic - freedom * (1 + gmpy2.log(statistic / freedom))
            p_value = gmpy2.exp(-excess)
        return Fit(float(statistic), float(p_value), false_alarm, len(cells))


def dkw(
    observed: Mapping[int, int],
    probabilities: Mapping[int, Fraction],
    *,
    false_alarm: float,
) -> Fit:
    """Compare distribution functions by their largest distance; the rate is proved.

        D = sup |F_n - F|,   P(D >= d) <= 2 e**(-2 n d**2)

    Mass left out of ``probabilities`` may lie anywhere; D is the least distance that
    some place for it leaves. Holds for discrete laws.
    Source: Massart (1990), The tight constant in the Dvoretzky-Kiefer-Wolfowitz
    inequality.
    """
    trials = sum(observed.values())
    missing = 1 - sum(probabilities.values(), Fraction(0))
    seen, mass, distance = 0, Fraction(0), Fraction(0)
    steps = sorted(observed.keys() | probabilities.keys())
    for step in steps:
        seen += observed.get(step, 0)
        mass += probabilities.get(step, 0)
        share = Fraction(seen, trials)
        distance = max(distance, mass - share, share - mass - missing)
    with gmpy2.context(precision=_PRECISION):
        p_value = 2 * gmpy2.exp(gmpy2.mpq(-2 * trials * distance**2))
        return Fit(float(distance), float(min(1, p_value)), false_alarm, len(steps))


def _cells(
    observed: Mapping[int, int], probabilities: Mapping[int, Fraction], least: int
) -> tuple[list[tuple[int, Fraction]], int]:
    """Return (count, probability) of cells; the thin and the unnamed are the last."""
    trials = sum(observed.values())
    if trials <= 0:
        raise ValueError("there must be at least one draw")
    if min(probabilities.values(), default=0) < 0 or sum(probabilities.values()) > 1:
        raise ValueError("probabilities must be at least 0 and add to at most 1")
    cells = []
    count_left, mass_left = trials, Fraction(1)
    for step, probability in probabilities.items():
        if probability * trials >= least:
            cells.append((observed.get(step, 0), probability))
            count_left -= observed.get(step, 0)
            mass_left -= probability
    if mass_left or count_left:
        cells.append((count_left, mass_left))
    return cells, trials


def _merge_thin(
    cells: list[tuple[int, Fraction]], trials: int, least: int
) -> list[tuple[int, Fraction]]:
    """Join the pooled cell, the last, to the thinnest other one if it is thin itself.

    An impossible cell (mass 0) is left alone: one draw in it refutes the law.
    """
    *others, (count, mass) = cells
    if not others or not 0 < mass * trials < least:
        return cells
    thinnest = min(range(len(others)), key=lambda index: others[index][1])
    more, probability = others[thinnest]
    others[thinnest] = (more + count, probability + mass)
    return others


def _enough(cells: list[tuple[int, Fraction]]) -> list[tuple[int, Fraction]]:
    """Refuse a comparison of one cell, which nothing could fail."""
    if not cells[1:]:
        raise ValueError("fewer than two cells are left: draw more, or lower `least`")
    return cells
