"""How many private keys are shown, on average, at equal (epsilon, delta): no sampling.

The expected number is a sum over keys of the chance to be shown, which every side knows
exactly. Beside dpql stand the optimum of a key by itself (Desfontaines, Voss, Gipson,
Mandayam 2022, theorem 3, in its closed form) and OpenDP's thresholds of Laplace and
of Gaussian noise, whichever shows more. `peers_delta.py` writes the table.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any

import mpmath
import opendp.prelude as dp

from dpql import load
from dpql.mechanisms import SEARCHES
from dpql.mechanisms.gaussian_tail import tail_of
from dpql.model.plan import Search
from dpql.model.spec import PrivateColumn
from dpql.planner import plan

Case = tuple[Fraction, Fraction]
Sizes = Mapping[int, int]
"""How many keys have so many units."""

Chance = Callable[[int], float | Fraction]
"""How likely a key of so many units is shown."""

LAWS: dict[str, Sizes] = {
    "Zipf: 100,000 units by rank": Counter(
        100_000 // rank for rank in range(1, 100_001)
    ),
    "even: 100 keys each of 1 to 1,000 units": dict.fromkeys(range(1, 1_001), 100),
    "one big: a million units, and 10,000 keys of 1 to 10": {
        1_000_000: 1,
        **dict.fromkeys(range(1, 11), 1_000),
    },
}
GROUPS = (1, 10, 100)
_BITS = 320

SPEC = """\
dpql: 1
release: keys
purpose: Keys beside those of others.
data:
  source: rows
  rows: {{at_most: 100_000_000}}
  columns:
    p: {{type: id}}
    g: {{type: category, keys: [a]}}
privacy:
  unit: p
  contributes: {{rows: 1, groups: {groups}}}
  epsilon: {epsilon}
  delta: {delta:e}
statistics:
  it: {{count: units, by: [g], spend: {{share: 1}}}}
"""


def searched(case: Case, groups: int, *, counts: bool) -> Search:
    """Return how dpql finds keys with the whole budget."""
    text = SPEC.format(groups=groups, epsilon=float(case[0]), delta=float(case[1]))
    spec = load(text)
    columns = (spec.data.columns[0], PrivateColumn(name="g"))
    asked = spec.statistics
    if not counts:
        asked = tuple(replace(one, kind="keys") for one in asked)
    spec = replace(spec, data=replace(spec.data, columns=columns), statistics=asked)
    (step,) = plan(spec).steps
    assert step.search is not None
    return step.search


def expected(sizes: Sizes, chance: Chance) -> float:
    """Return how many keys are shown on average."""
    return math.fsum(keys * float(chance(units)) for units, keys in sizes.items())


def dpql(case: Case, groups: int, *, counts: bool) -> tuple[str, Chance]:
    """Return the mechanism that the plan takes, and the chance of a key."""
    search = searched(case, groups, counts=counts)
    finder = SEARCHES[search.noise.mechanism]
    noise = finder.restore(dict(search.noise.parameters))
    return search.noise.mechanism, lambda units: finder.chance(noise, units)


def optimum(case: Case, groups: int) -> Chance:
    """Return the most that a key may be shown at its part of epsilon and delta."""
    mpmath.mp.dps = 60
    epsilon, delta = (mpmath.mpf(x.numerator) / x.denominator for x in case)
    e, d = epsilon / groups, 1 - (1 - delta) ** (mpmath.mpf(1) / groups)
    rise = mpmath.exp(e)
    turn = 1 + int(mpmath.floor(mpmath.log((rise + 2 * d - 1) / (d * (rise + 1))) / e))

    def early(n: int) -> mpmath.mpf:
        return d * (mpmath.exp(n * e) - 1) / (rise - 1)

    def chance(n: int) -> float:
        if n <= turn:
            return float(min(mpmath.mpf(1), early(n)))
        fall = mpmath.exp(-(n - turn) * e)
        late = (1 - fall) * (1 + d / (rise - 1)) + fall * early(turn)
        return float(min(mpmath.mpf(1), late))

    return chance


def opendp(case: Case, groups: int, sizes: Sizes, *, as_stated: bool) -> float:
    """Return what OpenDP shows: the better of its two kinds of noise.

    Its thresholds are one too low for the delta that they state: a key of one unit is
    shown with P(X >= threshold - 1), and stated is P(X >= threshold)
    (opendp/opendp#2922). Unless they are taken ``as_stated``, they are one higher.
    """
    higher = 0 if as_stated else 1
    return max(
        expected(sizes, made(case, groups, higher)) for made in (_laplace, _gaussian)
    )


def _laplace(case: Case, groups: int, higher: int) -> Chance:
    epsilon, delta = map(float, case)
    scale = groups / epsilon
    keys, metric = _keys("i64"), dp.l01inf_distance(dp.absolute_distance(T="i64"))

    def fits(least: int) -> bool:
        made = dp.m.make_laplace_threshold(keys, metric, scale, least)
        loss, fails = made.map((groups, groups, 1))
        return loss <= epsilon * (1 + 1e-9) and fails <= delta

    tau, q = _least(fits) + higher, math.exp(-1 / scale)

    def chance(units: int) -> float:
        m = tau - units
        if m > 0:
            return q**m / (1 + q)
        return 1 - q ** (1 - m) / (1 + q)

    return chance


def _gaussian(case: Case, groups: int, higher: int) -> Chance:
    epsilon, delta = case
    scale = opendp_scale(groups**0.5, (epsilon, delta / 2))
    keys, metric = _keys("f64"), dp.l02inf_distance(dp.absolute_distance(T="f64"))

    def fits(least: int) -> bool:
        made = dp.m.make_gaussian_threshold(keys, metric, scale, float(least))
        return made.map((groups, groups**0.5, 1.0))[1] <= float(delta / 2)

    tail, tau = tail_of(Fraction(scale) ** 2), _least(fits) + higher

    def chance(units: int) -> float:
        m = tau - units
        if m > 0:
            return float(Fraction(tail.bounds(m, _BITS)[1], 2 << _BITS))
        return 1 - float(Fraction(tail.bounds(1 - m, _BITS)[0], 2 << _BITS))

    return chance


def opendp_scale(change: float, case: Case) -> float:
    """Return the scale that OpenDP finds for a change in l2."""
    epsilon, delta = map(float, case)
    space = dp.vector_domain(dp.atom_domain(T="i64")), dp.l2_distance(T=float)

    def release(scale: float) -> Any:
        made = dp.c.make_zCDP_to_approxDP(space >> dp.m.then_gaussian(scale))
        return dp.c.make_fix_delta(made, delta)

    found = dp.binary_search_param(
        release, d_in=change, d_out=(epsilon, delta), T=float
    )
    return float(found)


def _keys(number: str) -> Any:
    counts = {"T": number} if number == "i64" else {"T": number, "nan": False}
    return dp.map_domain(dp.atom_domain(T=str), dp.atom_domain(**counts))


def _least(fits: Callable[[int], bool]) -> int:
    low, high = 1, 2
    while not fits(high):
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if fits(middle) else (middle, high)
    return high


HEADS = (
    "keys",
    "epsilon, delta",
    "of a unit",
    "alone, by",
    "dpql",
    "optimum of each",
    "ratio",
    "with counts, by",
    "dpql",
    "OpenDP",
    "OpenDP as it states",
)


def rows(cases: tuple[Case, ...]) -> list[tuple[str, ...]]:
    """Return the lines of the table."""
    found = []
    for case in cases:
        for groups in GROUPS:
            name, alone = dpql(case, groups, counts=False)
            counting, counted = dpql(case, groups, counts=True)
            best = optimum(case, groups)
            for law, sizes in LAWS.items():
                mine, most = expected(sizes, alone), expected(sizes, best)
                others = [
                    opendp(case, groups, sizes, as_stated=stated)
                    for stated in (False, True)
                ]
                found.append(
                    (
                        law,
                        f"{float(case[0]):g}, {float(case[1]):g}",
                        f"{groups}",
                        name,
                        f"{mine:,.1f}",
                        f"{most:,.1f}",
                        f"{mine / most:.4f}",
                        counting,
                        f"{expected(sizes, counted):,.1f}",
                        *(f"{other:,.1f}" for other in others),
                    )
                )
    return found


if __name__ == "__main__":
    dp.enable_features("contrib")
    for each in rows(((Fraction(1), Fraction(1, 10**6)),)):
        print(" | ".join(each))
