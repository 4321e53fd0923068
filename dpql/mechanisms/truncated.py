"""Truncated geometric noise: private keys and their counts at one price.

    P(X = x) = q**|x| / N for |x| <= reach,   N = 1 + 2q (1 - q**reach) / (1 - q)
    q = exp(-epsilon),   reach = the least with P(X = reach) <= delta

A key with n units is shown with the count n + X, if n + X >= reach + 1. Keys and counts
together are (epsilon, delta)-DP, epsilon and delta those of one key; the true delta is
P(X = reach). The count must be one of distinct units.

    |X| = #{1 <= x <= reach : U < H(x)},   H(x) = 2 (q**x - q**(reach+1)) / (1 - q) / N

The lane is read as that of Gaussian noise: sign, then digits that are complemented
where the sign bit is set. The outcome is neither clamped nor noised again; that shown
counts are too large on average is the bias of selection.
Source: MATH-delta 3.3.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING

from dpql.errors import PlanFault
from dpql.exact import exp_down, exp_up, read_fraction, sidak_down
from dpql.mechanisms.bits import Bits, Lane, each_lane, flips, read_one, stretches
from dpql.mechanisms.concentrated import pure_rho_up
from dpql.mechanisms.mechanism import agreed
from dpql.mechanisms.selection import LONGEST, delta_each, require_key_spend

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

NAME = "truncated_geometric"

PARAMETERS: Mapping[str, str] = {
    "epsilon": "the privacy loss of one key and its count, but for delta",
    "delta": "the probability that a key of one unit is shown is at most this",
    "reach": "the noise is at most this; keys are shown from the next number on",
}

DIGITS = 63
_BITS = 320


@dataclass(frozen=True, slots=True, kw_only=True)
class TruncatedNoise:
    """The noise of one key's count; ``digits`` are fewer in tests."""

    epsilon: Fraction
    delta: Fraction
    reach: int
    digits: int = DIGITS

    @property
    def cuts(self) -> tuple[int, ...]:
        """What digits are compared with; made when first asked for."""
        return _cuts(self)

    @property
    def least_shown(self) -> int:
        """The least noisy count that is shown."""
        return self.reach + 1


def calibrate(epsilon: Fraction, delta: Fraction) -> TruncatedNoise:
    """Return the noise of a count of units at what one key may cost.

    Raises:
        PlanFault: epsilon is not above 0, delta not between 0 and 1 (DPQL413), or the
            noise would reach beyond 2**20.
    """
    require_key_spend(epsilon, delta)
    if not _fits(epsilon, delta, LONGEST):
        raise PlanFault.of(
            "DPQL413",
            "so little epsilon and delta needs noise beyond a million units",
            hint="spend more on the keys",
        )
    low, high = 0, 1
    while not _fits(epsilon, delta, high):
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if _fits(epsilon, delta, middle) else (middle, high)
    return TruncatedNoise(epsilon=epsilon, delta=delta, reach=high)


def calibrate_keys(spend: Fraction, delta: Fraction, *, keys: int) -> TruncatedNoise:
    """Return the noise of counts of keys of which a unit changes so many."""
    return calibrate(spend / keys, delta_each(delta, keys))


def parameters(noise: TruncatedNoise) -> dict[str, str]:
    """Return every parameter as exact text."""
    return {name: str(getattr(noise, name)) for name in PARAMETERS}


def restore(given: Mapping[str, str]) -> TruncatedNoise:
    """Return the noise that has these parameters; refuse any that disagree."""
    try:
        epsilon, delta = read_fraction(given["epsilon"]), read_fraction(given["delta"])
        noise = calibrate(epsilon, delta)
    except (KeyError, TypeError, ValueError, PlanFault):
        return agreed(NAME, None, {}, given)
    return agreed(NAME, noise, parameters(noise), given)


def loss(noise: TruncatedNoise) -> Fraction:
    """Return the epsilon of one key and its count."""
    return noise.epsilon


def rho(noise: TruncatedNoise) -> Fraction:
    """Return the cost of one key under zero-concentrated privacy, but for delta."""
    return pure_rho_up(noise.epsilon)


def is_within(noise: TruncatedNoise, delta: Fraction, *, keys: int) -> bool:
    """Tell whether so many keys fail with a probability of at most delta.

    The reach is what decides: it is compared with what one key may fail.
    """
    each = sidak_down(delta, keys)
    return noise.delta <= each and _fits(noise.epsilon, each, noise.reach)


def certain(noise: TruncatedNoise) -> int:
    """Return the least number of units that is always shown."""
    return noise.least_shown + noise.reach


def is_outcome(noise: TruncatedNoise, count: int) -> bool:
    """Tell whether a number may be released of a key."""
    return count >= noise.least_shown


def find(
    noise: TruncatedNoise, units: NDArray[np.int64], bits: Bits, *, most: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return which of some keys are shown, and with what counts."""
    import numpy as np

    return noisy_counts(noise, np.minimum(units, most), bits)


def miniatures() -> list[TruncatedNoise]:
    """Return noises that read few bits, to enumerate wholly."""
    return [
        replace(calibrate(Fraction(epsilon), Fraction(delta)), digits=digits)
        for epsilon, delta, digits in (
            ("1", "1/100", 5),
            ("3/10", "1/5", 5),
            ("2", "1/1000", 6),
        )
    ]


def true_delta(noise: TruncatedNoise) -> Fraction:
    """Return P(X = reach) to some 300 bits: the delta of one key."""
    return probability(noise, noise.reach)


def probability(noise: TruncatedNoise, x: int) -> Fraction:
    """Return P(X = x) to some 300 bits."""
    if abs(x) > noise.reach:
        return Fraction(0)
    low, high = _end_mass(noise.epsilon, noise.reach, abs(x), _BITS)
    return (low + high) / 2


def chance(noise: TruncatedNoise, units: int) -> Fraction:
    """Return the probability that a key with so many units is shown, from below.

    P(X >= reach + 1 - n)
    """
    least = noise.least_shown - units
    if least > noise.reach:
        return Fraction(0)
    if least <= -noise.reach:
        return Fraction(1)
    if least <= 0:
        return 1 - Fraction(_bounds(noise, 1 - least, _BITS)[1], 2 << _BITS)
    return Fraction(_bounds(noise, least, _BITS)[0], 2 << _BITS)


def units_for(noise: TruncatedNoise, wanted: Fraction) -> int:
    """Return the least number of units that is shown at least so probably."""
    assert 0 < wanted <= 1, "a probability"
    low, high = 0, 2 * noise.reach + 1
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if chance(noise, middle) >= wanted else (middle, high)
    return high


def accuracy(noise: TruncatedNoise, alpha: Fraction) -> int:
    """Return the least A with P(|X| > A) <= alpha.

    So P(a key is shown and its count more than A off) <= alpha; given that it is shown,
    the chance of such an error may be 1.
    """
    low, high = -1, noise.reach
    while high - low > 1:
        middle = (low + high) // 2
        most = _bounds(noise, middle + 1, _BITS)[1]
        low, high = (low, middle) if most <= alpha * (1 << _BITS) else (middle, high)
    return high


def draw(noise: TruncatedNoise, bits: Bits) -> int:
    """Return X from one lane: the same halvings for every lane."""
    digits = noise.digits
    lane = read_one(bits, 0, digits + 1)
    negative = lane >> digits
    mask, flip = (1 << digits) - 1, flips(digits + 1)[negative]
    read, found = digits + 1, (lane ^ flip) & mask
    magnitude = _from_table(noise, found)
    while magnitude is None:
        more = read_one(bits, read, read + digits)
        found = found << digits | (more ^ flip) & mask
        read += digits
        magnitude = _read_on(noise, found, read - 1)
    return (magnitude, -magnitude)[negative]


def noisy_count(noise: TruncatedNoise, units: int, bits: Bits) -> int | None:
    """Return the count that is shown of a key with so many units; None: not shown."""
    assert units >= 1, "an absent key draws no coin"
    count = units + draw(noise, bits)
    return count if count >= noise.least_shown else None


def draw_many(noise: TruncatedNoise, count: int, bits: Bits) -> NDArray[np.int64]:
    """Return what `draw` gives on so many lanes."""
    import numpy as np

    found = np.empty(count, np.int64)
    if noise.digits != DIGITS:
        lanes = each_lane(bits, count, noise.digits + 1)
        found[:] = [draw(noise, lane) for lane in lanes]
        return found
    cuts = np.array(noise.cuts, np.int64)
    for lanes_ in stretches(count):
        heads = bits.read(lanes_, 0, DIGITS + 1)
        words = np.frombuffer(heads, ">i8").astype(np.int64)
        signs = words >> DIGITS
        digits = words ^ signs
        magnitudes = _halved(cuts, digits)
        at_cut = cuts.take(magnitudes + 1) == digits
        at_cut &= magnitudes < noise.reach
        magnitudes ^= signs
        magnitudes -= signs
        for index in np.flatnonzero(at_cut).tolist():
            lane = Lane(bits, lanes_[index], heads[8 * index : 8 * index + 8])
            magnitudes[index] = draw(noise, lane)
        found[lanes_.start : lanes_.stop] = magnitudes
    return found


def _halved(cuts: NDArray[np.int64], digits: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return #{x : cut[x] > M} of all lanes, by the same halvings for each.

    `numpy.searchsorted` would branch on every M, and its time would tell of them.
    """
    import numpy as np

    found = np.zeros(len(digits), np.int64)
    step = len(cuts) // 2
    while step:
        found += (cuts.take(found + step) > digits) * np.int64(step)
        step //= 2
    return found


def noisy_counts(
    noise: TruncatedNoise, units: NDArray[np.int64], bits: Bits
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return which of some keys are shown, and with what counts, as `noisy_count`.

    ``units`` are all at least 1: an absent key draws no coin.
    """
    import numpy as np

    counts = units + draw_many(noise, len(units), bits)
    shown = np.flatnonzero(counts >= noise.least_shown)
    return shown, counts.take(shown)


def _from_table(noise: TruncatedNoise, found: int) -> int | None:
    """Return #{x : cut[x] > M}, by halving; None where M is a cut."""
    cuts, position = noise.cuts, 0
    step = (len(cuts) - 1) // 2 + 1
    while step:
        position += step * (cuts[position + step] > found)
        step //= 2
    is_open = position < noise.reach and cuts[position + 1] == found
    return None if is_open else position


def _read_on(noise: TruncatedNoise, found: int, count: int) -> int | None:
    """Return #{x : U < H(x)} if these digits of U decide it."""
    bits = count + 64
    low, high = 0, noise.reach + 1
    while high - low > 1:
        middle = (low + high) // 2
        least, most = _bounds(noise, middle, bits)
        if least >= (found + 1) << 64:
            low = middle
        elif most <= found << 64:
            high = middle
        else:
            return None
    return low


@lru_cache(8)
def _cuts(noise: TruncatedNoise) -> tuple[int, ...]:
    """Return floor(2**digits H(x)) for x = 0 (unused), 1, ..., reach, then zeros.

    They fill 2**b places, one more than the last index a search can ask for.
    """
    size = 1 << (noise.reach + 1).bit_length()
    cuts = [0] * size
    for x in range(1, noise.reach + 1):
        bits = noise.digits + 64
        while True:
            low, high = (y >> (bits - noise.digits) for y in _bounds(noise, x, bits))
            if low == high:
                break
            bits *= 2
        cuts[x] = low
    return tuple(cuts)


def _bounds(noise: TruncatedNoise, x: int, bits: int) -> tuple[int, int]:
    """Return two integers around 2**bits H(x); H(reach + 1) is 0.

    H(x) = 2 (q**x - q**(reach+1)) / (1 + q - 2 q**(reach+1))
    """
    if x > noise.reach:
        return 0, 0
    last, precision = noise.reach + 1, 2 * bits + 64
    power = {n: _power(noise.epsilon, n, precision) for n in (1, x, last)}
    most = 2 * (power[x][1] - power[last][0]) / (1 + power[1][0] - 2 * power[last][1])
    least = 2 * (power[x][0] - power[last][1]) / (1 + power[1][1] - 2 * power[last][0])
    whole = 1 << bits
    return max(0, (least * whole).__floor__()), -((-most * whole).__floor__())


def _fits(epsilon: Fraction, delta: Fraction, reach: int) -> bool:
    """Decide P(X = reach) <= delta; no, where no precision decides."""
    bits = _BITS
    while bits <= 1 << 12:
        low, high = _end_mass(epsilon, reach, reach, bits)
        if high <= delta:
            return True
        if low > delta:
            return False
        bits *= 2
    return False


def _end_mass(
    epsilon: Fraction, reach: int, x: int, bits: int
) -> tuple[Fraction, Fraction]:
    """Return two numbers around P(X = x) = q**x (1 - q) / (1 + q - 2 q**(reach+1))."""
    precision = bits + 64
    (low, high), (end, end_up) = (_power(epsilon, n, precision) for n in (1, reach + 1))
    mass, mass_up = _power(epsilon, x, precision)
    return (
        mass * (1 - high) / (1 + high - 2 * end),
        mass_up * (1 - low) / (1 + low - 2 * end_up),
    )


def _power(epsilon: Fraction, n: int, bits: int) -> tuple[Fraction, Fraction]:
    return exp_down(-n * epsilon, bits=bits), exp_up(-n * epsilon, bits=bits)
