"""Many draws at once are the single draws, lane for lane."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import gmpy2
import numpy as np
import pytest
from numpy.typing import NDArray

from dpql.mechanisms import MECHANISMS, Query, geometric, snapping, vector
from dpql.mechanisms.bits import CHUNK
from dpql.testing import Tape
from tests.mechanisms.noises import calibrated

RANGE = {"lower": -50, "upper": 4050}
SPECIAL = [
    sign * (1 << bits) + near
    for bits in (31, 53, 61, 62, 63, 64)
    for sign in (-1, 1)
    for near in (-1, 0, 1)
]


class Rows:
    """Lanes written in the rows of a matrix of bytes; bits are asked in whole bytes."""

    def __init__(self, rows: NDArray[np.uint8]) -> None:
        self._rows = rows
        self.longest = 0

    def read(self, lanes: Sequence[int], start: int, stop: int) -> bytes:
        """Return whole bytes of each lane, right-aligned as the protocol wants."""
        assert start % 8 == 0
        self.longest = max(self.longest, stop)
        cut = self._rows[np.asarray(lanes), start // 8 : -(-stop // 8)]
        spare = -(stop - start) % 8
        if not spare:
            return cut.tobytes()
        return b"".join(
            (int.from_bytes(row.tobytes(), "big") >> spare).to_bytes(len(row), "big")
            for row in cut
        )

    def lane(self, index: int) -> Any:
        """Return one row as a source of one lane."""
        return Rows(self._rows[index : index + 1])


def _noise(name: str, amount: Fraction, sensitivity: int = 1) -> Any:
    query = Query(
        sensitivity=Fraction(sensitivity),
        lower=Fraction(0),
        upper=Fraction(4000),
        lattice=Fraction(1),
    )
    return calibrated(name, query, amount)


@pytest.mark.stats
@pytest.mark.parametrize("name", MECHANISMS)
def test_a_million_lanes(name: str) -> None:
    """On 10**6 random lanes, over scales 1 to 10**9, both ways agree everywhere."""
    mechanism = MECHANISMS[name]
    generator = np.random.default_rng(20261116)
    epsilons = [Fraction(1), Fraction(3, 10), Fraction(1, 10**3), Fraction(1, 10**9)]
    each = 250_000
    for epsilon in epsilons:
        noise = _noise(name, epsilon)
        size = mechanism.width(noise) // 8 + 24
        rows = Rows(generator.integers(0, 256, (each, size), np.uint8))
        values = generator.integers(-50, 4050, each)
        many = mechanism.perturb_many(noise, values, rows, **RANGE)
        single = [
            mechanism.perturb(noise, value, rows.lane(i))
            for i, value in enumerate(values.tolist())
        ]
        assert single == many.tolist()


def _uniform_at(target: Fraction, scale: Fraction, bits: int) -> int:
    """Return the first ``bits`` digits of U with scale * -ln(U) == target."""
    with gmpy2.context(precision=bits + 80):
        exponent = -target / scale
        ratio = gmpy2.mpfr(gmpy2.mpq(exponent.numerator, exponent.denominator))
        return int(gmpy2.floor(gmpy2.exp(ratio) * gmpy2.exp2(bits)))


def _near(scale: Fraction, boundary: Fraction, width: int, rank: int) -> int:
    """Return digits that land within 2**-40 to 2**-60 of a boundary, on either side."""
    offset = Fraction((-1) ** rank, 1 << (40 + rank % 21))
    return _uniform_at(boundary + offset, scale, width)


@pytest.mark.parametrize("negative", [False, True])
@pytest.mark.parametrize("inverse", [1, 20, 1000, 10**6, 10**9])
def test_geometric_lanes_near_a_boundary(inverse: int, *, negative: bool) -> None:
    """Lanes within 2**-40 of an integer are settled as the exact sampler settles."""
    noise = _noise("geometric", Fraction(1, inverse))
    digits = geometric.width(noise) - 1
    scale = 1 / noise.theta
    beta = Fraction(*map(int, noise.kit.beta.as_integer_ratio()))
    lanes, expected = [], []
    for rank in range(300):
        boundary = 1 + rank * inverse // 60 - beta
        if boundary <= 0:
            boundary += 1
        lane = _near(scale, boundary, digits, rank)
        if negative:
            lane ^= (1 << digits) - 1
            lane |= 1 << digits
        lanes.append(lane << 160)
        tape = Tape([lanes[-1]], width=digits + 161)
        expected.append(geometric.perturb(noise, 7, tape))
    tape = Tape(lanes, width=digits + 161)
    values = np.full(len(lanes), 7)
    many = geometric.perturb_many(noise, values, tape, **RANGE)
    assert expected == many.tolist()


@pytest.mark.parametrize("epsilon", ["1", "0.3", "0.7", "1.000001", "0.05"])
def test_snapping_lanes_near_a_boundary(epsilon: str) -> None:
    """Lanes within 2**-40 of a half grid step are settled as the exact sampler does."""
    noise = _noise("snapping", Fraction(epsilon), sensitivity=3)
    digits = snapping.width(noise) - 1
    scale = noise.lambda_prime / noise.Lambda_prime
    lanes, expected, values = [], [], []
    for rank in range(600):
        value = 1000 + 37 * rank % 2000
        f = (value - noise.shift) / noise.sensitivity / noise.Lambda_prime
        boundary = (1 + rank % 9) - (f + Fraction(1, 2)) % 1
        lane = _near(scale, boundary, digits, rank)
        lanes.append(lane << 160)
        values.append(value)
        tape = Tape([lanes[-1]], width=digits + 161)
        expected.append(snapping.perturb(noise, value, tape))
    tape = Tape(lanes, width=digits + 161)
    many = snapping.perturb_many(noise, values, tape, **RANGE)
    assert expected == many.tolist()


@pytest.mark.parametrize("name", MECHANISMS)
def test_numbers_beyond_int64(name: str) -> None:
    """Values, lattices and noise larger than a machine word are exact Python ints."""
    mechanism = MECHANISMS[name]
    query = Query(
        sensitivity=Fraction(1 << 31),
        lower=Fraction(-(10**30)),
        upper=Fraction(10**30),
        lattice=Fraction(1),
    )
    noise = calibrated(name, query, Fraction(1, 10**12))
    rows = Rows(np.random.default_rng(3).integers(0, 256, (50, 90), np.uint8))
    values = [10**29 + i for i in range(50)]
    many = mechanism.perturb_many(noise, values, rows, lower=-(10**30), upper=10**30)
    single = [mechanism.perturb(noise, v, rows.lane(i)) for i, v in enumerate(values)]
    assert single == many.tolist()
    assert all(isinstance(step, int) for step in many.tolist())


@pytest.mark.parametrize("name", MECHANISMS)
@pytest.mark.parametrize("epsilon", ["10", "1/3", "1/100", "1/100000"])
@pytest.mark.parametrize(
    ("sensitivity", "rows"),
    [
        (1, 1 << 62),
        (2_000_000, 10**6),
        (2**35, 2**29),
        (2**45, 2**19),
        (2**62, 2**10),
        (4_000_000_000_000, 10**9),
        (3 * 7 * 11 * 2**40, 2**40),
    ],
)
def test_ranges_of_any_width(
    name: str, epsilon: str, sensitivity: int, rows: int
) -> None:
    """Totals at the ends of narrow and wide ranges get what single draws give them.

    Sums and squares of floats, counts of 2**62 rows, lattices that are no integers.
    """
    mechanism = MECHANISMS[name]
    for lower in (0, -rows * sensitivity):
        upper = rows * sensitivity + lower // 2
        query = Query(
            sensitivity=Fraction(sensitivity),
            lower=Fraction(lower),
            upper=Fraction(upper),
            lattice=Fraction(1),
        )
        noise = calibrated(name, query, Fraction(epsilon))
        ends = [lower, lower + 1, upper - 1, upper, 0, sensitivity]
        values = [x for x in (*ends, *SPECIAL) if lower <= x <= upper] * 4
        width = mechanism.width(noise) + 400
        generator = np.random.default_rng(rows)
        lanes = [generator.bytes(width // 8) for _ in values]
        many = mechanism.perturb_many(
            noise, values, Tape(lanes), lower=lower, upper=upper
        )
        single = [
            mechanism.perturb(noise, value, Tape([lane]))
            for value, lane in zip(values, lanes, strict=True)
        ]
        assert single == many.tolist()


@pytest.mark.parametrize("name", MECHANISMS)
@pytest.mark.parametrize("count", [0, 1, 2, CHUNK, CHUNK + 1])
def test_any_number_of_draws(name: str, count: int) -> None:
    """No draw, one draw and a chunk more or less are no special cases."""
    mechanism = MECHANISMS[name]
    noise = _noise(name, Fraction(1, 2))
    rows = np.random.default_rng(count).integers(0, 256, (count, 60), np.uint8)
    values = np.arange(count) % 4000
    many = mechanism.perturb_many(noise, values, Rows(rows), **RANGE)
    assert count == len(many)
    single = [
        mechanism.perturb(noise, int(v), Rows(rows).lane(i))
        for i, v in enumerate(values[:100])
    ]
    assert single == many[:100].tolist()


def test_logarithm_of_numpy_is_within_4_ulp() -> None:
    """The assumption of the fast path holds on this machine, with room to spare."""
    generator = np.random.default_rng(7)
    words = generator.integers(1, 1 << 63, 20_000) >> generator.integers(0, 62, 20_000)
    points = words.astype(np.float64) + 0.5
    logarithms = np.log(points)
    exact = gmpy2.context(precision=120)
    worst = 0.0
    for point, logarithm in zip(points.tolist(), logarithms.tolist(), strict=True):
        error = abs(exact.sub(exact.log(point), logarithm))
        worst = max(worst, float(error / np.spacing(abs(logarithm))))
    assert worst <= 4


@pytest.mark.parametrize("scale", [1, 20, 2**14 + 1, 10**9 + 7, 2**38])
@pytest.mark.parametrize("offset", ["0", "0.3", "0.6931"])
def test_doubles_stay_within_half_the_radius(scale: int, offset: str) -> None:
    """What doubles say is nearer to the truth than half of what the proof allows."""
    shift = float(offset) * scale - 0.5
    settler = vector.Settler(float(scale), shift)
    generator = np.random.default_rng(scale)
    words = generator.integers(1, 1 << 63, 4_000) >> generator.integers(0, 62, 4_000)
    edges = [1, 2, 3, (1 << 63) - 1, 1 << 62, (1 << 62) - 1, 1 << 53, (1 << 53) + 1]
    words = np.concatenate([words, np.array(edges)])
    found = settler.estimated(np.abs(words.astype(np.float64) + 0.5)).tolist()
    exact = gmpy2.context(precision=200)
    top = exact.mul(63, exact.log(2))
    for word, estimate in zip(words.tolist(), found, strict=True):
        depth = exact.sub(top, exact.log(exact.add(word, 0.5)))
        truth = exact.add(exact.mul(scale, depth), shift)
        assert abs(exact.sub(truth, estimate)) <= (scale + 1) * 2.0**-44


def test_a_wrong_radius_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """With no radius, lanes near a boundary go wrong: the tests above can fail."""
    monkeypatch.setattr(vector, "_RADIUS", -1.0)
    with pytest.raises(AssertionError):
        test_geometric_lanes_near_a_boundary(10**9, negative=True)
    with pytest.raises(AssertionError):
        test_snapping_lanes_near_a_boundary("0.7")
