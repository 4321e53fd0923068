"""Which private keys are shown, and nothing more: optimal selection as integers.

    sel_0 = 0
    sel_(n+1) = min(floor(E sel_n + delta F), floor(F - (F - sel_n - delta F) / E), F)

A key that n units have is shown if the first ``width`` bits of its lane, as an integer,
are below sel_n; F = 2**width. E is exp(epsilon), rounded down. Epsilon and delta are
those of one key: a unit with l0 keys takes epsilon / l0 and 1 - (1 - delta)**(1/l0).

This is (epsilon, delta)-DP with finitely many coins: E from below keeps both sides of
every step. It differs from the optimum by less than 2**-64.
Source: MATH-delta 3.2, 3.6; Desfontaines, Voss, Gipson, Mandayam (2022).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from dpql.errors import PlanFault
from dpql.exact import exp_down, exp_up, power_of_two_up
from dpql.mechanisms.bits import Bits, read_one

LONGEST = 1 << 20
"""Numbers of units that a table may tell apart."""

_EXP_BITS = 128
_SPARE = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """The chance of every number of units, as ``table[n]`` of 2**width."""

    epsilon: Fraction
    delta: Fraction
    width: int
    table: Sequence[int]

    @property
    def whole(self) -> int:
        """F, certainty."""
        return 1 << self.width

    def chance(self, units: int) -> Fraction:
        """Return the probability that a key with so many units is shown."""
        return Fraction(self._threshold(units), self.whole)

    def units_for(self, chance: Fraction) -> int:
        """Return the least number of units that is shown at least so probably."""
        assert 0 < chance <= 1, "a probability"
        return next(
            n for n, found in enumerate(self.table) if found >= chance * self.whole
        )

    def shows(self, units: int, bits: Bits) -> bool:
        """Draw whether a key with so many units is shown; the lane is its own."""
        return read_one(bits, 0, self.width) < self._threshold(units)

    def _threshold(self, units: int) -> int:
        assert units >= 0, "a number of units"
        return self.table[min(units, len(self.table) - 1)]


def calibrate(epsilon: Fraction, delta: Fraction) -> Selection:
    """Return the selection of keys at what one key may cost.

    Raises:
        PlanFault: epsilon is not above 0, delta not between 0 and 1 (DPQL413), or so
            little is spent that the table would be longer than 2**20.
    """
    require_key_spend(epsilon, delta)
    width = _SPARE + max(0, power_of_two_up(1 / delta))
    whole = 1 << width
    rise = (exp_down(epsilon, bits=1024) * (1 << _EXP_BITS)).__floor__()
    if _longer(epsilon, delta):
        raise _too_long()
    # delta F = top / bottom, and all that follows is integers.
    top, bottom = (delta * whole).as_integer_ratio()
    table = [0]
    while table[-1] < whole:
        if len(table) > LONGEST:
            raise _too_long()
        last = table[-1]
        grown = (rise * last * bottom + (top << _EXP_BITS)) // (bottom << _EXP_BITS)
        hidden = ((whole - last) * bottom - top) << _EXP_BITS
        left = whole + -hidden // (rise * bottom)
        table.append(min(grown, left, whole))
    return Selection(epsilon=epsilon, delta=delta, width=width, table=tuple(table))


def _longer(epsilon: Fraction, delta: Fraction) -> bool:
    """Tell early of a table that is surely too long.

    An entry is at most delta F (exp(n epsilon) - 1) / (exp(epsilon) - 1).
    """
    if LONGEST * epsilon > _EXP_BITS:
        return False
    most = exp_up(LONGEST * epsilon) - 1
    return delta * most < exp_down(epsilon, bits=1024) - 1


def _too_long() -> PlanFault:
    return PlanFault.of(
        "DPQL413",
        "so little epsilon and delta would tell more than a million numbers of units "
        "apart",
        hint="spend more on the keys",
    )


def require_key_spend(epsilon: Fraction, delta: Fraction) -> None:
    """Refuse to show keys for nothing."""
    if epsilon <= 0 or not 0 < delta < 1:
        raise PlanFault.of(
            "DPQL413",
            "private keys need an epsilon above 0 and a delta between 0 and 1",
            hint="try epsilon 1 and delta 1e-9",
        )


def above_pre_threshold(units: int, least: int) -> int:
    """Return what counts of a key's units where fewer than ``least`` never show.

        n' = max(0, n - (least - 1))

    It moves no two counts apart, so it costs nothing. A key with n' = 0 is absent: no
    coin is drawn for it. ``units`` must be the very count that is noised or selected.
    Source: MATH-delta 3.5.
    """
    assert least >= 1, "1 is no pre-threshold"
    return max(0, units - (least - 1))
