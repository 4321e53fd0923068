"""Numbers of few bits: their order, and the least of them that passes a test."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpql.statistics.short_numbers import BITS, index_above, least, short

FAR = 1 << (BITS + 5)


def test_short_numbers_rise_without_gaps_of_index() -> None:
    """Each is larger than the one before, and has no more than 36 bits."""
    for start in (0, (1 << BITS) - 3, FAR - 2, 3 * FAR):
        found = [short(index) for index in range(start, start + 6)]
        assert found == sorted(set(found))
        for number in found:
            low = number & -number if number else 1
            assert (number // low).bit_length() <= BITS
    assert [0, 1, 2] == [short(index) for index in range(3)]


@given(st.integers(0, 1 << 90))
def test_the_index_is_that_of_the_least_number_not_below(number: int) -> None:
    """Rounding up is by less than one part in 2**35, and short numbers stay."""
    index = index_above(number)
    assert short(index) >= number
    assert index == 0 or short(index - 1) < number
    assert index == index_above(short(index))


@pytest.mark.parametrize("edge", [1, 2, 77, 4095, FAR - 1, FAR])
@pytest.mark.parametrize("guess", [-5, 0, 1, 76, 77, 78, 5000, FAR, 2 * FAR])
def test_any_guess_finds_the_same(edge: int, guess: int) -> None:
    """The least that passes does not depend on where the search begins."""
    asked = []

    def passes(index: int, *, expected: bool) -> bool:
        asked.append((index, expected))
        return index >= edge

    assert edge == least(passes, 0, FAR, guess)
    assert len(asked) < 80
    assert all(0 < index < FAR for index, _ in asked)


def test_a_right_guess_costs_two_tests() -> None:
    """The guess passes, the one below it does not; each is what was expected."""
    asked = []

    def passes(index: int, *, expected: bool) -> bool:
        asked.append((index, expected))
        return index >= 500

    assert 500 == least(passes, 0, FAR, 500)
    assert [(500, True), (499, False)] == asked
