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

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING

from dpql.errors import PlanFault
from dpql.exact import (
    exp_down,
    exp_up,
    power_of_two_up,
    read_fraction,
    round_down_to_digits,
    sidak_down,
)
from dpql.mechanisms.bits import Bits, Lane, read_one, stretches
from dpql.mechanisms.concentrated import pure_rho_up
from dpql.mechanisms.mechanism import agreed

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

NAME = "selection"

PARAMETERS: Mapping[str, str] = {
    "epsilon": "the privacy loss of one key, but for delta",
    "delta": "the probability that a key of one unit is shown",
    "certain": "keys of so many units are always shown",
}

LONGEST = 1 << 20
"""Numbers of units that a table may tell apart."""

_EXP_BITS = 128
_SPARE = 64
_DELTA_DIGITS = 30
_BYTE = 8
_HEAD = 56
"""Bits of a coin that are compared at once."""


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

    @property
    def certain(self) -> int:
        """The least number of units that is always shown."""
        return len(self.table) - 1

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


def calibrate_keys(spend: Fraction, delta: Fraction, *, keys: int) -> Selection:
    """Return the selection of keys of which a unit changes so many."""
    return calibrate(spend / keys, delta_each(delta, keys))


def delta_each(delta: Fraction, keys: int) -> Fraction:
    """Return what one of so many keys may fail, in 30 digits, down.

    1 - (1 - delta)**(1/keys); of one key it is delta itself.
    """
    each = sidak_down(delta, keys)
    return each if keys == 1 else round_down_to_digits(each, _DELTA_DIGITS)


def parameters(noise: Selection) -> dict[str, str]:
    """Return every parameter as exact text."""
    return {
        "epsilon": str(noise.epsilon),
        "delta": str(noise.delta),
        "certain": str(noise.certain),
    }


def restore(given: Mapping[str, str]) -> Selection:
    """Return the selection that has these parameters; refuse any that disagree."""
    try:
        epsilon, delta = read_fraction(given["epsilon"]), read_fraction(given["delta"])
        noise = calibrate(epsilon, delta)
    except (KeyError, TypeError, ValueError, PlanFault):
        return agreed(NAME, None, {}, given)
    return agreed(NAME, noise, parameters(noise), given)


def loss(noise: Selection) -> Fraction:
    """Return the epsilon of one key."""
    return noise.epsilon


def rho(noise: Selection) -> Fraction:
    """Return the cost of one key under zero-concentrated privacy, but for delta."""
    return pure_rho_up(noise.epsilon)


def is_within(noise: Selection, delta: Fraction, *, keys: int) -> bool:
    """Tell whether so many keys fail with a probability of at most delta."""
    return noise.delta <= sidak_down(delta, keys)


def chance(noise: Selection, units: int) -> Fraction:
    """Return the probability that a key with so many units is shown."""
    return noise.chance(units)


def units_for(noise: Selection, wanted: Fraction) -> int:
    """Return the least number of units that is shown at least so probably."""
    return noise.units_for(wanted)


def certain(noise: Selection) -> int:
    """Return the least number of units that is always shown."""
    return noise.certain


def accuracy(noise: Selection, alpha: Fraction) -> int:
    """Return from how many units on keys are shown, but with probability alpha."""
    return noise.units_for(1 - alpha)


def is_outcome(noise: Selection, count: int) -> bool:
    """Tell whether a number may be released of a key: none but 1 is."""
    del noise
    return count == 1


def find(
    noise: Selection, units: NDArray[np.int64], bits: Bits, *, most: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the indices of the keys that are shown, and 1 for each, as `shows`.

    ``units`` are all at least 1: an absent key draws no coin. The first bits of all
    coins are compared at once; where they leave it open, the whole coin decides.
    """
    del most
    import numpy as np

    size = -(-noise.width // _BYTE)
    spare = _BYTE * size - noise.width
    head = min(_HEAD, noise.width)
    heads = np.array([x >> (noise.width - head) for x in noise.table], np.uint64)
    shown = np.empty(len(units), np.bool_)
    for lanes in stretches(len(units)):
        counted = np.minimum(units[lanes.start : lanes.stop], noise.certain)
        data = bits.read(lanes, 0, noise.width)
        coins = np.frombuffer(data, np.uint8).reshape(len(lanes), size)
        # Unsigned: the first bit of a coin is no sign.
        first = np.zeros(len(lanes), np.uint64)
        for byte in range(_BYTE):
            first <<= np.uint64(_BYTE)
            # A lane of a test may be shorter than eight bytes.
            if byte < size:
                first |= coins[:, byte]
        first >>= np.uint64(_BYTE * _BYTE - spare - head)
        limits = heads.take(counted)
        shown[lanes.start : lanes.stop] = first < limits
        for index in np.flatnonzero(first == limits).tolist():
            lane = Lane(bits, lanes[index], data[size * index : size * (index + 1)])
            shown[lanes.start + index] = noise.shows(int(counted[index]), lane)
    found = np.flatnonzero(shown)
    return found, np.ones(len(found), np.int64)


def miniatures() -> list[Selection]:
    """Return selections that read few bits, to enumerate wholly.

    Their chances are those of a calibrated one, rounded down to a few bits.
    """
    found = []
    for epsilon, delta, width in (("1", "1/20", 9), ("2", "1/5", 7), ("1/3", "1/4", 8)):
        noise = calibrate(Fraction(epsilon), Fraction(delta))
        drop = noise.width - width
        table = tuple(x >> drop for x in noise.table)
        found.append(replace(noise, width=width, table=table))
    return found


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
