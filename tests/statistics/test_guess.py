"""Guesses in doubles: near the truth, and without effect on what is found."""

from __future__ import annotations

import math
from fractions import Fraction

import gmpy2
import pytest

from dpql.statistics import decisions, guess
from dpql.statistics.decisions import level_of
from dpql.statistics.guess import critical, log_tail, root
from dpql.statistics.inversion import Inversion
from dpql.statistics.parts_reading import SHARE
from dpql.statistics.spread_reading import Spread
from dpql.statistics.tails import LaplaceTail, Tail

ALPHA = Fraction(1, 20)
WEIGHTS = [
    (1.0,),
    (1.0, 1.0),
    (1.0, 0.3),
    (1.0, 1 - 2.0**-40),
    (0.7, 0.4, 0.2),
    (0.5, 0.5, 0.1),
    (0.5, 0.1, 0.1),
    (0.9, 0.7, 0.4, 0.2),
    (0.6, 0.6, 0.3, 0.3),
]


@pytest.mark.parametrize("weights", WEIGHTS, ids=str)
@pytest.mark.parametrize("c", [0.2, 1.0, 3.0, 20.0])
def test_logarithms_of_tails(weights: tuple[float, ...], c: float) -> None:
    """Doubles agree with 256 bits to ten digits, where weights meet as well."""
    found = log_tail(c * max(weights), weights)
    whole = [int(weight * (1 << 60)) for weight in weights]
    tail = LaplaceTail(whole)
    exact = gmpy2.log(tail.above(gmpy2.mpfr(c) * max(whole)))
    assert found == pytest.approx(float(exact), rel=1e-10)


def test_doubles_say_where_they_cannot_tell() -> None:
    """Three weights that are nearly equal, or two pairs that are, have no guess."""
    assert log_tail(1.0, (1.0, 1.0, 1.0)) is None
    assert log_tail(1.0, (1.0, 1.0, 1 - 1e-7, 1 - 1e-7)) is None
    level = level_of(ALPHA)
    asked = []

    def tail(c: int) -> gmpy2.mpfr:
        asked.append(c)
        return gmpy2.exp(-gmpy2.mpfr(c) / (1 << 60))

    found = critical([9, 9, 9, 8], level.alpha, 2.0, tail)
    assert found == pytest.approx(math.log(20))
    assert asked


def test_the_secant_gives_up() -> None:
    """Where a function is flat, or cannot tell, there is no root."""
    assert root(lambda _: 1.0, 1.0, 2.0) is None
    assert root(lambda _: None, 1.0, 2.0) is None
    assert root(lambda x: x - 3, 1.0, 0.0) is None
    assert root(lambda x: x - 3, 1.0, 2.0) == pytest.approx(3.0)
    assert root(lambda x: 9 - x * x, 1.0, -1.0) == pytest.approx(3.0)


@pytest.mark.parametrize("bad", [0.0, 1e-12, 0.3, 1.0, 1e9])
def test_a_bad_guess_changes_no_digit(
    monkeypatch: pytest.MonkeyPatch, bad: float
) -> None:
    """Ends and widths are what the tests say, wherever the search begins."""
    tail = Tail.of(Fraction(1, 700))
    level = level_of(ALPHA)
    cells = [(70_000, 12_000, 900, 5000), (-300, 9000, 40_000, 2), (9, 9, 9, 9)]

    def found() -> list[object]:
        spread = Spread(tail, ALPHA)
        share = Inversion(SHARE, tail, ALPHA)
        return [
            *(share.kept(cell[:2]) for cell in cells),
            *(spread.variance(cell[:3]) for cell in cells),
            *(spread.covariance(cell) for cell in cells),
            level.critical([9, 5, 2]),
        ]

    expected = found()
    monkeypatch.setattr(guess, "critical", lambda *_: bad)
    monkeypatch.setattr("dpql.statistics.inversion.farthest", lambda *_: min(bad, 1.0))
    assert expected == found()
    assert decisions.guess.critical is guess.critical
