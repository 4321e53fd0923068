"""Which private keys are shown: vectors, every n, and planted faults."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Any

import mpmath
import pytest
from golden import cases

from dpql.errors import PlanFault
from dpql.exact import exp_down, exp_up
from dpql.mechanisms.selection import above_pre_threshold, calibrate
from dpql.testing import Tape

Case = dict[str, Any]
SPENDS = [("1", "1e-5"), ("0.1", "1e-6"), ("3", "0.001"), ("0.02", "0.3"), ("9", "0.9")]


@pytest.mark.golden
@pytest.mark.parametrize("case", cases("delta/selection"))
def test_selection_vectors(case: Case) -> None:
    """Width, length, every entry by its digest, and from how many units keys show."""
    given, expected = case["input"], case["expect"]
    found = calibrate(Fraction(given["epsilon"]), Fraction(given["delta"]))
    lines = "\n".join(map(str, found.table))
    assert expected["width"] == found.width
    assert expected["length"] == len(found.table)
    assert expected["first"] == [str(each) for each in found.table[:4]]
    assert expected["middle"] == str(found.table[len(found.table) // 2])
    assert expected["sha256_of_lines"] == hashlib.sha256(lines.encode()).hexdigest()
    assert expected["units_for_half"] == found.units_for(Fraction(1, 2))
    assert expected["units_for_95_percent"] == found.units_for(Fraction(95, 100))


def _excess(
    table: Sequence[int], whole: int, epsilon: Fraction, delta: Fraction
) -> Fraction:
    """Return how far any step of the table exceeds delta, in units of certainty.

    All outcomes and both directions: shown and hidden, one unit more and one less.
    """
    factor, worst = exp_down(epsilon, bits=512), Fraction(-whole)
    chances = [*table, table[-1]]
    for one, other in pairwise(chances):
        for p, q in ((one, other), (other, one)):
            shown = p - factor * q
            hidden = (whole - p) - factor * (whole - q)
            worst = max(worst, shown, hidden)
    return worst - delta * whole


@pytest.mark.parametrize(("epsilon", "delta"), SPENDS)
def test_every_step_is_private(epsilon: str, delta: str) -> None:
    """No outcome of any number of units gains more than epsilon and delta allow."""
    found = calibrate(Fraction(epsilon), Fraction(delta))
    # The bound of exp used here is itself below exp: what is left is that rounding.
    slack = found.whole * (exp_up(Fraction(epsilon)) - exp_down(Fraction(epsilon)))
    excess = _excess(found.table, found.whole, found.epsilon, found.delta)
    assert excess <= slack
    assert all(a < b for a, b in pairwise(found.table))
    assert found.table[-1] == found.whole


def test_an_exponential_rounded_up_is_caught() -> None:
    """The recursion with E from above to eight bits breaks the inequality."""
    good = calibrate(Fraction(1), Fraction(1, 10**5))
    whole, rise = good.whole, -((-exp_up(Fraction(1)) * 256).__floor__())
    table = [0]
    while table[-1] < whole:
        last, chance = table[-1], good.delta * whole
        left = (whole - last - chance) * Fraction(256, rise)
        grown = Fraction(rise * last, 256) + chance
        table.append(min(grown.__floor__(), (whole - left).__floor__(), whole))
    assert _excess(table, whole, good.epsilon, good.delta) > whole / 10**6


def test_one_unit_too_early_is_caught() -> None:
    """Showing keys as if they had one unit more breaks the inequality at once."""
    good = calibrate(Fraction(1), Fraction(1, 10**5))
    early = [0, *good.table[2:]]
    assert _excess(early, good.whole, good.epsilon, good.delta) > 0


@pytest.mark.parametrize(("epsilon", "delta"), SPENDS)
def test_the_table_is_the_optimum(epsilon: str, delta: str) -> None:
    """The closed form of the optimal chances, within 2**-60."""
    mpmath.mp.dps = 60
    found = calibrate(Fraction(epsilon), Fraction(delta))
    e, d = (
        mpmath.mpf(x.numerator) / x.denominator for x in (found.epsilon, found.delta)
    )
    top = (mpmath.exp(e) + 2 * d - 1) / (d * (mpmath.exp(e) + 1))
    turn = 1 + int(mpmath.floor(mpmath.log(top) / e))

    def early(n: int) -> mpmath.mpf:
        return d * (mpmath.exp(n * e) - 1) / (mpmath.exp(e) - 1)

    for n in range(len(found.table)):
        exact = early(n)
        if n > turn:
            fall = mpmath.exp(-(n - turn) * e)
            exact = (1 - fall) * (1 + d / (mpmath.exp(e) - 1)) + fall * early(turn)
        chance = mpmath.mpf(found.table[n]) / found.whole
        assert abs(chance - min(1, exact)) < mpmath.mpf(2) ** -55


def test_coins_decide_at_the_table() -> None:
    """The coin one below the entry shows a key, the entry itself does not."""
    found = calibrate(Fraction(1), Fraction(1, 10**5))
    for units in (1, 5, len(found.table) - 2):
        entry = found.table[units]
        assert found.shows(units, Tape([entry - 1], width=found.width))
        assert not found.shows(units, Tape([entry], width=found.width))
    last = (1 << found.width) - 1
    assert found.shows(10**9, Tape([last], width=found.width))
    assert not found.shows(0, Tape([0], width=found.width))
    assert found.chance(10**9) == 1
    assert found.chance(0) == 0


@pytest.mark.parametrize(
    ("epsilon", "delta"),
    [("0", "1e-5"), ("1", "0"), ("1", "1"), ("-1", "1e-5"), ("1e-6", "1e-9")],
)
def test_keys_for_nothing_are_refused(epsilon: str, delta: str) -> None:
    """No epsilon, no delta, certainty, and a table of ten million rows."""
    with pytest.raises(PlanFault, match="DPQL413"):
        calibrate(Fraction(epsilon), Fraction(delta))


def test_pre_threshold() -> None:
    """Fewer than the least are absent, and no two counts move apart."""
    found = [above_pre_threshold(n, 10) for n in range(25)]
    assert [0] * 10 + list(range(1, 16)) == found
    assert all(0 <= b - a <= 1 for a, b in pairwise(found))
    assert [above_pre_threshold(n, 1) for n in range(4)] == [0, 1, 2, 3]
