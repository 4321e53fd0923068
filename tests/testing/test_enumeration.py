"""Enumeration finds the law of toy mechanisms exactly."""

from fractions import Fraction

import pytest

from dpql.mechanisms.bits import Bits, read_one
from dpql.testing import TapeError, enumerate_outcomes


class Coins:
    """Value plus the number of ones among ``noise`` coins, asked for one by one."""

    def perturb(self, noise: int, value: int, bits: Bits) -> int:
        """Return value + Binomial(noise, 1/2)."""
        return value + sum(read_one(bits, i, i + 1) for i in range(noise))


class Third:
    """Bernoulli(1/3) by rejection: an endless mechanism with a known law."""

    def perturb(self, noise: int, value: int, bits: Bits) -> int:
        """Return value + 1 with probability 1/3, reading ``noise`` = 2 bits a time."""
        start = 0
        while True:
            pair = read_one(bits, start, start + noise)
            if pair:
                return value + (pair == 1)
            start += noise


class Wide:
    """One wide request, and a second one for a rare answer."""

    def perturb(self, noise: int, value: int, bits: Bits) -> int:
        """Return the answer, or -1 - the second answer."""
        first = read_one(bits, 0, noise)
        return value + (first or -1 - read_one(bits, noise, noise + 2))


def test_binomial_law() -> None:
    """Six coins give the binomial law with nothing left over."""
    masses, unresolved = enumerate_outcomes(Coins(), 6, 10, 6)
    assert unresolved == 0
    assert {
        10 + i: Fraction(c, 64) for i, c in enumerate((1, 6, 15, 20, 15, 6, 1))
    } == (masses)


def test_rejection_law_and_what_is_cut_off() -> None:
    """Each two bits resolve 3/4 of the rest, one third of it to the one side."""
    masses, unresolved = enumerate_outcomes(Third(), 2, 0, 20)
    left = Fraction(1, 4) ** 10
    assert left == unresolved
    assert {0: (1 - left) * 2 / 3, 1: (1 - left) / 3} == masses


def test_follow_up_requests() -> None:
    """A rare second request splits the mass of its path."""
    masses, unresolved = enumerate_outcomes(Wide(), 13, 0, 15)
    assert unresolved == 0
    assert len(masses) == (1 << 13) - 1 + 4
    assert masses[5] == Fraction(1, 1 << 13)
    assert [masses[-1 - i] for i in range(4)] == [Fraction(1, 1 << 15)] * 4
    masses, unresolved = enumerate_outcomes(Wide(), 13, 0, 14)
    assert unresolved == Fraction(1, 1 << 13)


def test_request_beyond_the_depth_resolves_nothing() -> None:
    """A first request wider than the depth leaves all mass unresolved."""
    assert tuple(enumerate_outcomes(Wide(), 13, 0, 12)) == ({}, Fraction(1))


def test_no_coins_at_all() -> None:
    """A constant mechanism has one outcome of mass 1."""
    assert tuple(enumerate_outcomes(Coins(), 0, 3, 4)) == ({3: Fraction(1)}, 0)


def test_wrong_law_is_seen() -> None:
    """A planted fault, one answer of 2**10 moved, changes the law found."""

    class Moved(Wide):
        def perturb(self, noise: int, value: int, bits: Bits) -> int:
            step = super().perturb(noise, value, bits)
            return 6 if step == 5 else step

    assert enumerate_outcomes(Wide(), 10, 0, 12) != enumerate_outcomes(
        Moved(), 10, 0, 12
    )


def test_out_of_order_and_many_lanes_are_refused() -> None:
    """Enumeration serves one lane whose bits are read in order."""

    class Twice:
        def perturb(self, noise: int, value: int, bits: Bits) -> int:
            return read_one(bits, 0, 2) + read_one(bits, 1, 3) + value + noise

    class Many:
        def perturb(self, noise: int, value: int, bits: Bits) -> int:
            return len(bits.read(range(2), 0, 2)) + value + noise

    for broken in (Twice(), Many()):
        with pytest.raises(TapeError, match="one lane in order"):
            enumerate_outcomes(broken, 0, 0, 8)
