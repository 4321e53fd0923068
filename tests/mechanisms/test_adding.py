"""Noise and values meet as integers, whatever their size."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpql.mechanisms.adding import Floor, clipped, python_integers

SIZES = st.sampled_from([2**7, 2**31, 2**53, 2**61, 2**62, 2**63, 2**64, 2**100])


@st.composite
def _sums(draw: st.DrawFn) -> tuple[Floor, list[int], list[int], int, int]:
    """Return a floor, values, noise, and how far either may go."""
    gain, base, divisor = (draw(st.integers(1, draw(SIZES))) for _ in range(3))
    weight = draw(st.sampled_from([1, divisor]))
    floor = Floor(gain=gain, base=base, weight=weight, divisor=divisor)
    reach, most = draw(SIZES), draw(st.sampled_from([2**16, 2**50]))
    values = [-reach, reach, 0, *draw(st.lists(st.integers(-reach, reach)))]
    noise = [draw(st.integers(-most, most)) for _ in values]
    return floor, values, noise, reach, most


@given(_sums())
def test_floors_are_exact(
    sums: tuple[Floor, list[int], list[int], int, int],
) -> None:
    """Machine integers and Python's give the floor of the fraction."""
    floor, values, noise, reach, most = sums
    expected = [
        Fraction(
            floor.gain * value + floor.base + floor.weight * drawn, floor.divisor
        ).__floor__()
        for value, drawn in zip(values, noise, strict=True)
    ]
    for drawn in (np.array(noise, np.int64), python_integers(noise)):
        steps = floor.of(values, drawn, most=most, lower=-reach, upper=reach)
        assert expected == steps.tolist()
        assert {int} == set(map(type, steps.tolist()))


@pytest.mark.parametrize("upper", [2**61 - 2**50, 2**62, 2**63 - 1, 2**64, 2**90])
def test_the_range_decides_the_integers(upper: int) -> None:
    """Two values of one range are added in integers of one kind, whatever they are."""
    floor = Floor(gain=1, base=0, weight=1, divisor=1)
    noise = np.array([5, -5])
    kinds = {
        floor.of([value, 0], noise, most=8, lower=0, upper=upper).dtype
        for value in (0, 1, 2**31, 2**60, upper)
        if value <= upper
    }
    assert {np.dtype(np.int64 if upper < 2**62 - 9 else object)} == kinds


@pytest.mark.parametrize("edge", [3, 2**61, 2**63, 2**80])
def test_steps_end_at_the_edge(edge: int) -> None:
    """No step is beyond the edge, and the others stay; int64 are below 2**62."""
    small = [-(2**62) + 1, -4, -3, 0, 3, 4, 2**62 - 1]
    large = [-(2**90), *small, 2**90]
    expected = [max(-edge, min(step, edge)) for step in large]
    assert expected == clipped(python_integers(large), edge).tolist()
    assert expected[1:-1] == clipped(np.array(small), edge).tolist()
