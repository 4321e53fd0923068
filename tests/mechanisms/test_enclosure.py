"""What the proof of the geometric draw assumes, bound by bound and not by outcomes."""

from __future__ import annotations

from fractions import Fraction

import gmpy2
import mpmath
import pytest

from dpql.mechanisms import geometric
from dpql.mechanisms.geometric import GeometricNoise
from dpql.mechanisms.geometric_draw import Kit, _lifted_magnitude, enclosure
from dpql.mechanisms.logarithm import ERROR, Logarithm
from dpql.testing import Tape

THETAS = [Fraction(t) for t in ("1000", "8", "1", "7/30", "1/1000003")] + [
    Fraction(1, 2**34 + 1),
    Fraction(3, 2**71),
]


def _noise(theta: Fraction, guard: int = 72) -> GeometricNoise:
    one = Fraction(1)
    return GeometricNoise(
        sensitivity=one, lattice=one, rounded=False, epsilon=theta, guard=guard
    )


def _beta(theta: mpmath.mpf) -> mpmath.mpf:
    return mpmath.log(2 / (1 + mpmath.exp(-theta))) / theta


@pytest.mark.parametrize("fraction_bits", [104, 164, 300, 1000])
def test_worst_arguments(fraction_bits: int) -> None:
    """Where z is largest, m just above (1 - (j + 1)/1024)/c: no random m gets there."""
    fixed, digits = Logarithm(fraction_bits), fraction_bits - 22
    with mpmath.workprec(fraction_bits + 200):
        for head, c in enumerate(map(int, fixed._reciprocals)):
            low, high = (k << (digits - 6) for k in (head + 32, head + 33))
            edges = [
                ((1024 - j) << (digits + 12)) // (1024 * c) + 1 for j in (1, 16, 30, 31)
            ]
            for mantissa in (low, high - 1, *edges):
                if not low <= mantissa < high:
                    continue
                found = fixed.fall(gmpy2.mpz(mantissa), digits)
                exact = -mpmath.log(mpmath.mpf(mantissa) / mpmath.mpf(2) ** digits)
                assert 0 <= exact * mpmath.mpf(2) ** fraction_bits - int(found) < ERROR


@pytest.mark.parametrize("theta", THETAS)
@pytest.mark.parametrize("reads", [1, 2, 4])
def test_slack_and_reach(theta: Fraction, reads: int) -> None:
    """The middle is off by less than the slack; reach 2**shift covers all of U.

    So is every bound of the proof tried by itself: the outcomes of draws would stay
    right if one of them were a little too small, since others are a little too large.
    """
    noise = _noise(theta)
    kit = noise.kit if reads == 1 else Kit(noise, reads * noise.kit.digits)
    size = kit.digits
    ends = [1 << k for k in range(0, size, 7)]
    trials = [d for e in ends for d in (e, 2 * e - 1)] + [(1 << size) - 1]
    with mpmath.workprec(2 * kit.fraction_bits + 4000):
        unit = mpmath.mpf(2) ** kit.fraction_bits
        step = mpmath.mpf(theta.numerator) / theta.denominator
        fixed = kit.lift + _beta(step)
        for d in trials:
            shift = size + 2 - d.bit_length()
            fall = kit.logarithm.fall(gmpy2.mpz(2 * d + 1) << shift, size + 3)
            near = kit.base + kit.slack
            near += (kit.logarithm.ln2 * shift + fall) * kit.scale
            middle = (d + mpmath.mpf(0.5)) / mpmath.mpf(2) ** size
            missing = (fixed - mpmath.log(middle) / step) * unit - int(near)
            assert -1 < missing < int(kit.slack)
            need = unit / step * mpmath.log1p(mpmath.mpf(1) / (2 * d))
            radius = int(kit.reach << shift)
            assert need <= radius < 2 * need * (1 + mpmath.mpf(1) / d)
            assert int(kit.slack) < need / 4096


@pytest.mark.parametrize("theta", THETAS)
@pytest.mark.parametrize("reads", [1, 2, 4])
def test_the_enclosure_holds_both_ends(theta: Fraction, reads: int) -> None:
    """U may be anything from d to d + 1; at powers of two the bounds have no room."""
    noise = _noise(theta)
    kit = noise.kit if reads == 1 else Kit(noise, reads * noise.kit.digits)
    with mpmath.workprec(2 * kit.fraction_bits + 4000):
        unit = mpmath.mpf(2) ** kit.fraction_bits
        step = mpmath.mpf(theta.numerator) / theta.denominator
        for d in (1, 2, 3, *(1 << k for k in range(3, kit.digits, 5))):
            least, most = enclosure(kit, d)
            ends = [
                (kit.lift + _beta(step) - mpmath.log(end / _unit(kit)) / step) * unit
                for end in (d + mpmath.mpf(1), mpmath.mpf(d))
            ]
            assert int(least) <= ends[0] < ends[1] <= int(most)
            assert int(most - least) < 2 * (ends[1] - ends[0])


def _unit(kit: Kit) -> mpmath.mpf:
    """Return what the digits are divided by to give U."""
    return mpmath.mpf(2) ** kit.digits


@pytest.mark.parametrize("theta", [*THETAS, Fraction(10**6)])
def test_no_digit_settles_nothing(theta: Fraction) -> None:
    """Digits that are all zero leave the magnitude without a bound, for any theta."""
    for guard in (5, 72):
        assert _lifted_magnitude(_noise(theta, guard).kit, 0) is None


@pytest.mark.parametrize("theta", THETAS[1:])
@pytest.mark.parametrize("negative", [0, 1])
def test_boundaries_three_reads_deep(theta: Fraction, negative: int) -> None:
    """U within 2**-bits of a threshold, bits from under one read to over three."""
    noise = _noise(theta)
    first = noise.kit.digits
    total = 6 * first
    with mpmath.workprec(2 * total):
        step = mpmath.mpf(theta.numerator) / theta.denominator
        for rank, bits in enumerate(range(first - 6, 3 * first + 20, 17)):
            whole = 1 + rank * (int(1 / theta) + 1) // 4
            uniform = mpmath.exp(-(whole - _beta(step)) * step)
            for side in (-1, 1):
                digits = int(uniform * mpmath.mpf(2) ** total)
                digits += side << (total - bits)
                if not 0 < digits < 1 << total:
                    continue
                read, rest = divmod(digits, 1 << (total - first))
                read ^= noise.kit.mask * negative
                lane = (negative << first | read) << (total - first) | rest
                expected = whole - (side > 0)
                if negative:
                    expected = -expected
                tape = Tape([lane], width=total + 1)
                assert expected == geometric.perturb(noise, 0, tape)
                tape = Tape([lane], width=total + 1)
                many = geometric.perturb_many(noise, [0], tape, lower=0, upper=9)
                assert [expected] == many.tolist()
