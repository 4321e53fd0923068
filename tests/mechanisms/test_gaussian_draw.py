"""Draws of discrete Gaussian noise: the vectors, boundaries, and the law of many."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from gaussian_noises import noise_of
from golden import cases

from dpql.mechanisms import gaussian, gaussian_vector
from dpql.mechanisms.gaussian import perturb, perturb_many
from dpql.mechanisms.gaussian_draw import most_drawn, settled
from dpql.mechanisms.gaussian_tail import tail_of
from dpql.testing import SeededBits, Tape, TapeError, chi_square

Case = dict[str, Any]
RANGE = {"lower": -50, "upper": 4050}
SQUARES = ["1/50", "3/10", "1", "25", "4095", "4096", "4097", "1000003/7", "1e12"]
WIDE = 63 * 6 + 1


def _both(noise: gaussian.GaussianNoise, lanes: list[int], width: int) -> list[int]:
    """Return the steps of the lanes, drawn singly; all at once must give the same."""
    values = list(range(len(lanes)))
    single = [
        perturb(noise, value, Tape([lane], width=width)) - value
        for value, lane in zip(values, lanes, strict=True)
    ]
    tape = Tape(lanes, width=width)
    many = perturb_many(noise, values, tape, lower=0, upper=len(lanes))
    assert single == [int(x) - v for x, v in zip(many.tolist(), values, strict=True)]
    return single


@pytest.mark.golden
@pytest.mark.parametrize("case", cases("delta/gaussian_draw"))
def test_draw_vectors(case: Case) -> None:
    """The step of every lane; one whose bits leave it open asks for more."""
    lane, noise = case["input"]["lane"], noise_of(case["input"]["sigma2"])
    tape = Tape([int(lane, 2)], width=len(lane))
    if case["expect"]["step"] is None:
        with pytest.raises(TapeError, match=f"lane of {len(lane)} bits"):
            perturb(noise, 0, tape)
    else:
        assert case["expect"]["step"] == perturb(noise, 0, tape)
        assert [case["expect"]["step"]] == _both(noise, [int(lane, 2)], len(lane))


@pytest.mark.parametrize("sigma2", SQUARES)
def test_many_lanes_are_single_lanes(sigma2: str) -> None:
    """On random lanes both ways agree, signs and open lanes included."""
    noise = noise_of(Fraction(sigma2))
    generator = np.random.default_rng(8)
    lanes = [int.from_bytes(generator.bytes(56), "big") for _ in range(400)]
    found = _both(noise, lanes, 448)
    assert {-1, 1} <= {int(np.sign(x)) for x in found} or sigma2 == "1/50"


@pytest.mark.stats
@pytest.mark.parametrize("sigma2", ["25", "10000", "1e12", "1e18"])
def test_a_million_lanes(sigma2: str) -> None:
    """On 250,000 lanes each both ways agree everywhere."""
    noise, count = noise_of(Fraction(sigma2)), 250_000
    many = perturb_many(
        noise, np.zeros(count, np.int64), SeededBits(sigma2), lower=0, upper=1
    )
    seeded = SeededBits(sigma2)
    single = [perturb(noise, 0, seeded.lane(i)) for i in range(count)]
    assert single == many.tolist()


def _near(sigma2: Fraction, x: int, rank: int, width: int) -> int:
    """Return digits within 2**-40 to 2**-100 of H(x), on either side."""
    low, _ = tail_of(sigma2).bounds(x, width)
    offset = (-1) ** rank * (1 << (width - 40 - rank % 61))
    return min(max(low + offset, 0), (1 << width) - 1)


@pytest.mark.parametrize("negative", [False, True])
@pytest.mark.parametrize("sigma2", SQUARES[1:])
def test_lanes_near_a_boundary(sigma2: str, *, negative: bool) -> None:
    """Within 2**-40 of H(x) a lane falls on the side where its digits are."""
    square, width = Fraction(sigma2), WIDE - 1
    noise, lanes, expected = noise_of(square), [], []
    size = max(1, int(float(square) ** 0.5))
    for rank in range(40):
        x = 1 + rank * size // 10
        digits = _near(square, x, rank, width)
        low, high = tail_of(square).bounds(x, width)
        if digits < low:
            expected.append(x <= settled(tail_of(square), digits, width))  # type: ignore[operator]
        elif digits > high:
            expected.append(x > settled(tail_of(square), digits, width))  # type: ignore[operator]
        if negative:
            digits = 1 << width | (digits ^ ((1 << width) - 1))
        lanes.append(digits)
    assert all(expected)
    found = _both(noise, lanes, WIDE)
    for rank, step in enumerate(found):
        x = 1 + rank * size // 10
        magnitude = -step if negative else step
        assert magnitude >= x if rank % 2 else magnitude < x or magnitude == x - 1


def test_later_digits_are_complemented_under_a_negative_sign() -> None:
    """A lane and its complement give opposite steps, however far they are read."""
    square = Fraction(25)
    low, _ = tail_of(square).bounds(4, WIDE - 1)
    for offset in (1, -1, 1 << 200, -(1 << 200)):
        lane = low + offset
        other = lane ^ ((1 << WIDE) - 1)
        up, down = _both(noise_of(square), [lane, other], WIDE)
        assert up == -down != 0


def test_no_first_digit_at_all() -> None:
    """M = 0 is open, and the digits that follow decide."""
    for sigma2 in ("25", "4096", "1e12"):
        noise = noise_of(Fraction(sigma2))
        lane = 1 << (WIDE - 64 - 40)
        (step,) = _both(noise, [lane], WIDE)
        low, high = tail_of(noise.sigma2).bounds(step, 300)
        assert low << (WIDE - 1) > lane << 300
        low, high = tail_of(noise.sigma2).bounds(step + 1, 300)
        assert high << (WIDE - 1) <= (lane << 300) + (1 << 300)


def test_no_bit_is_read_twice() -> None:
    """A lane within 2**-100 of a boundary reads on in stretches, each bit once."""
    noise = noise_of(25)
    low, _ = tail_of(Fraction(25)).bounds(3, WIDE - 1)
    tape = Tape([low - (1 << 250)], width=WIDE)
    perturb(noise, 0, tape)
    assert tape.consumed[0] in (64 + 63, 64 + 2 * 63)


@pytest.mark.parametrize("sigma2", ["1e26", "1e40"])
def test_noise_that_no_double_settles(sigma2: str) -> None:
    """Very large noise is drawn exactly, lane by lane, in Python's integers."""
    noise = noise_of(Fraction(sigma2))
    lanes = [
        int.from_bytes(np.random.default_rng(i).bytes(56), "big") for i in range(9)
    ]
    found = _both(noise, lanes, 448)
    spread = float(Fraction(sigma2)) ** 0.5
    assert all(0 < abs(x) < 8 * spread for x in found)


@pytest.mark.stats
@pytest.mark.parametrize("sigma2", ["3/10", "25", "3000", "5000", "1000000"])
def test_draws_follow_the_law(sigma2: str) -> None:
    """10**6 draws pass against the exact law, and sigma 2% off fails either way."""
    square, count = Fraction(sigma2), 1_000_000
    noise = noise_of(square)
    drawn = perturb_many(
        noise, np.zeros(count, np.int64), SeededBits("law"), lower=0, upper=1
    )
    width = max(1, int(float(square) ** 0.5) // 8)
    observed = Counter((drawn // width).tolist())

    def law(at: Fraction) -> dict[int, Fraction]:
        reach = int(6 * float(at) ** 0.5) // width + 2
        bits, tail = 128, tail_of(at)

        def beyond(x: int) -> Fraction:
            """Return P(X >= x)."""
            if x > 0:
                return Fraction(tail.bounds(x, bits)[0], 2 << bits)
            return 1 - beyond(1 - x)

        return {
            cell: beyond(cell * width) - beyond((cell + 1) * width)
            for cell in range(-reach, reach)
        }

    assert chi_square(observed, law(square), false_alarm=1e-9).passed
    for factor in (Fraction(98, 100), Fraction(102, 100)):
        wrong = law(square * factor**2)
        assert not chi_square(observed, wrong, false_alarm=1e-9).passed


def test_a_wrong_radius_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """With no radius, lanes near a boundary go wrong: the tests above can fail."""
    monkeypatch.setattr(gaussian_vector, "_RADIUS", -1.0)
    monkeypatch.setattr(gaussian_vector, "_UNREAD", -10.0)
    with pytest.raises(AssertionError):
        test_lanes_near_a_boundary("1e12", negative=False)


def test_most_is_out_of_reach() -> None:
    """The size that sums allow for exceeds 500 sigmas."""
    for sigma2 in ("1/50", "1", "4096", "1e18"):
        square = Fraction(sigma2)
        assert most_drawn(square) ** 2 >= 500**2 * square
