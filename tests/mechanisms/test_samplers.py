"""The samplers against an oracle that knows nothing of their arithmetic.

mpmath evaluates the definitions with 120 digits on lanes built to land very near to a
boundary, where a wrong rounding, a lost digit or a wrong margin would show.
"""

from __future__ import annotations

from fractions import Fraction

import mpmath
import numpy as np
import pytest

from dpql.mechanisms import Query, geometric, snapping
from dpql.mechanisms.geometric import GeometricNoise
from dpql.mechanisms.snapping import SnappingNoise
from dpql.testing import SeededBits, Tape

DIGITS = 120
GAMMA = Fraction(1, 10**9)


def _real(x: Fraction) -> mpmath.mpf:
    return mpmath.mpf(x.numerator) / x.denominator


def _tape(digits: int, width: int, more: int) -> Tape:
    """Return a lane with sign bit 0, these digits, and then 1000..., ``more`` bits."""
    return Tape([(digits << more) | (1 << (more - 1))], width=1 + width + more)


@pytest.mark.parametrize("theta", ["1", "1/20", "7/3", "1/1000000", "1/1000000000000"])
def test_geometric_floor(theta: str) -> None:
    """The magnitude is floor(-ln(U)/theta + beta), within 2**-90 of an integer."""
    exact = Fraction(theta)
    noise = GeometricNoise(
        sensitivity=Fraction(1), lattice=Fraction(1), rounded=False, epsilon=exact
    )
    width = geometric.width(noise) - 1
    more = 3 * width
    with mpmath.workdps(DIGITS):
        step = _real(exact)
        beta = mpmath.log(2 / (1 + mpmath.exp(-step))) / step
        for rank in range(120):
            whole = 1 + rank * max(1, int(1 / exact)) // 10
            near = whole + mpmath.mpf((-1) ** rank) / 2 ** (20 + rank % 71)
            uniform = mpmath.exp(-(near - beta) * step)
            digits = int(mpmath.floor(uniform * 2**width))
            if not 0 < digits < 2**width:
                continue
            middle = (digits + mpmath.mpf(1) / 2) / mpmath.mpf(2) ** width
            expected = int(mpmath.floor(-mpmath.log(middle) / step + beta))
            tape = _tape(digits, width, more)
            assert expected == geometric.perturb(noise, 0, tape)


def test_geometric_reads_on() -> None:
    """A lane that one request leaves open is read on, and settled by what follows."""
    noise = GeometricNoise(
        sensitivity=Fraction(1),
        lattice=Fraction(1),
        rounded=False,
        epsilon=Fraction(1, 7),
        guard=9,
    )
    width = geometric.width(noise) - 1
    more = 6 * width
    again = 0
    with mpmath.workdps(DIGITS):
        step = mpmath.mpf(1) / 7
        beta = mpmath.log(2 / (1 + mpmath.exp(-step))) / step
        for digits in range(1, 2**width):
            tape = _tape(digits, width, more)
            middle = (digits + mpmath.mpf(1) / 2) / 2**width
            expected = int(mpmath.floor(-mpmath.log(middle) / step + beta))
            assert expected == geometric.perturb(noise, 0, tape)
            again += tape.consumed[0] > width + 1
    assert 10 < again < 2**width // 4


def _snapping(epsilon: str, upper: int = 4000) -> SnappingNoise:
    query = Query(sensitivity=Fraction(3), lower=Fraction(0), upper=Fraction(upper))
    return snapping.calibrate(query, Fraction(epsilon), gamma=GAMMA)


def _rounded(x: mpmath.mpf, precision: int) -> Fraction:
    """Round to nearest even with so many bits, by integers."""
    sign, magnitude, exponent, _ = x._mpf_
    mantissa = int(magnitude) * (-1) ** sign
    exact = Fraction(mantissa) * Fraction(2) ** exponent
    size = abs(mantissa).bit_length() + exponent
    return round(exact / Fraction(2) ** (size - precision)) * Fraction(2) ** (
        size - precision
    )


@pytest.mark.parametrize("epsilon", ["1", "0.3", "1.000001", "0.01"])
def test_snapping_definition(epsilon: str) -> None:
    """A step is what the five lines of the definition give, near half grid steps."""
    noise = _snapping(epsilon)
    m = noise.precision + 1
    width = snapping.width(noise) - 1
    grid = noise.Lambda_prime
    with mpmath.workdps(DIGITS):
        for rank in range(150):
            value = 500 + 17 * rank
            f = (value - noise.shift) / noise.sensitivity
            target = ((f / grid).__floor__() + 1 + rank % 5 + Fraction(1, 2)) * grid
            near = target + Fraction((-1) ** rank, 1 << (20 + rank % 90)) - f
            uniform = mpmath.exp(-_real(near) / _real(noise.lambda_prime))
            digits = int(mpmath.floor(uniform * 2**width))
            kept = digits >> max(0, digits.bit_length() - m - 1)
            fraction_bits = width - max(0, digits.bit_length() - m - 1)
            logarithm = _rounded(mpmath.log(mpmath.mpf(kept) / 2**fraction_bits), m - 1)
            exact = (f - noise.lambda_prime * logarithm) / grid + Fraction(1, 2)
            expected = exact.__floor__()
            tape = Tape([digits], width=width + 1)
            assert expected == snapping.perturb(noise, value, tape)


@pytest.mark.parametrize("beyond", [1, 10, 10**6])
def test_snapping_clamps_first(beyond: int) -> None:
    """A value beyond the clamp is drawn as the clamp itself, one by one and at once."""
    noise = _snapping("1")
    reach = noise.sensitivity * noise.B
    generator = np.random.default_rng(beyond)
    lanes = [int.from_bytes(generator.bytes(60), "big") for _ in range(200)]
    for sign in (1, -1):
        edge = noise.shift + sign * reach
        outside = (edge + sign * beyond).__floor__()
        at_edge = [
            snapping.perturb(noise, edge, Tape([lane], width=480)) for lane in lanes
        ]
        single = [
            snapping.perturb(noise, outside, Tape([lane], width=480)) for lane in lanes
        ]
        many = snapping.perturb_many(
            noise,
            [outside] * 200,
            Tape(lanes, width=480),
            lower=-abs(outside),
            upper=abs(outside),
        )
        assert at_edge == single == many.tolist()


@pytest.mark.parametrize("size", [2**31, 2**53, 2**54, 2**60, 2**61, 2**64, 2**90])
@pytest.mark.parametrize("mechanism", [geometric, snapping])
def test_large_values_keep_their_last_digit(mechanism: object, size: int) -> None:
    """Many draws at once add noise to the value, not to its nearest double."""
    query = Query(
        sensitivity=Fraction(1),
        lower=Fraction(-4 * size),
        upper=Fraction(4 * size),
        lattice=Fraction(1),
    )
    noise = mechanism.calibrate(query, Fraction(9), gamma=GAMMA)  # type: ignore[attr-defined]
    generator = np.random.default_rng(5)
    lanes = [int.from_bytes(generator.bytes(60), "big") for _ in range(300)]
    values = [size + 127 + i for i in range(300)]
    many = mechanism.perturb_many(  # type: ignore[attr-defined]
        noise, values, Tape(lanes, width=480), lower=-4 * size, upper=4 * size
    )
    single = [
        mechanism.perturb(noise, value, Tape([lane], width=480))  # type: ignore[attr-defined]
        for value, lane in zip(values, lanes, strict=True)
    ]
    assert single == many.tolist()


@pytest.mark.parametrize("mechanism", [geometric, snapping])
@pytest.mark.parametrize(
    "dtype", ["int8", "int16", "int32", "int64", "uint8", "uint32", "uint64", "object"]
)
def test_any_whole_numbers(mechanism: object, dtype: str) -> None:
    """Arrays of other integers are widened before anything is multiplied."""
    largest = np.iinfo(dtype).max if dtype != "object" else 2**70
    query = Query(
        sensitivity=Fraction(7),
        lower=Fraction(-(2**71)),
        upper=Fraction(2**71),
        lattice=Fraction(7, 3),
    )
    noise = mechanism.calibrate(query, Fraction(1, 3), gamma=GAMMA)  # type: ignore[attr-defined]
    generator = np.random.default_rng(6)
    lanes = [int.from_bytes(generator.bytes(90), "big") for _ in range(100)]
    values = [largest - i for i in range(100)]
    array = np.array(values, dtype)
    many = mechanism.perturb_many(  # type: ignore[attr-defined]
        noise, array, Tape(lanes, width=720), lower=-(2**71), upper=2**71
    )
    for given in (list(array), values):
        single = [
            mechanism.perturb(noise, value, Tape([lane], width=720))  # type: ignore[attr-defined]
            for value, lane in zip(given, lanes, strict=True)
        ]
        assert single == many.tolist()


@pytest.mark.parametrize("values", [[0.5], [Fraction(1, 2)], np.array([1.0])])
@pytest.mark.parametrize("upper", [1000, 10**30])
def test_fractions_at_once_are_refused(values: object, upper: int) -> None:
    """What is not a whole number is refused, never truncated."""
    noise = _snapping("1", upper)
    with pytest.raises(TypeError, match="whole numbers"):
        snapping.perturb_many(
            noise,
            values,  # type: ignore[arg-type]
            SeededBits(1),
            lower=0,
            upper=upper,
        )


@pytest.mark.parametrize(
    ("value", "step"), [("1/2", 1), ("-1/2", 0), ("3/2", 2), ("-3/2", -1), ("5", 5)]
)
def test_ties_of_the_lattice_go_up(value: str, step: int) -> None:
    """A value halfway between two lattice steps goes to the upper one."""
    noise = GeometricNoise(
        sensitivity=Fraction(1), lattice=Fraction(1), rounded=True, epsilon=Fraction(1)
    )
    assert step == geometric.nearest(noise, Fraction(value))
