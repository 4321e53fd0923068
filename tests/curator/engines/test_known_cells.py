"""What follows from cells that may be unknown, and integers against doubles."""

from __future__ import annotations

import itertools
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from oracle_expressions import HOLDS

from dpql.curator.engines.known_cells import (
    affine,
    band,
    both,
    combined,
    compared,
    flags,
    held,
    kleene_and,
    or_missing,
    within,
)
from dpql.curator.grid import Interval
from dpql.model.expression import Operator

_TRUTHS = (True, False, None)
_WHOLE = [0, 1, -1, 2**53, 2**53 + 1, -(2**53) - 1, 2**62, -(2**62), 2**62 - 1, 3]
_REAL = [0.0, -0.0, 0.5, -0.5, 2.0**53, 2.0**53 + 2, -(2.0**53), 2.0**62, -(2.0**62)]
_REAL += [2.0**63, -(2.0**63), 1e300, float("inf"), float("-inf"), 1.0, 2.999999999]


def _cells(truths: list[bool | None]) -> Any:
    known = np.array([one is not None for one in truths])
    return np.array([bool(one) for one in truths]), None if known.all() else known


def test_kleene() -> None:
    """All nine cases of `and`, also where everything is known."""
    pairs = list(itertools.product(_TRUTHS, _TRUTHS))
    left, right = (list(one) for one in zip(*pairs, strict=True))
    true, known = kleene_and(_cells(left), _cells(right))
    expected = [
        False if False in pair else None if None in pair else True for pair in pairs
    ]
    found = zip(true.tolist(), known.tolist(), strict=True)  # type: ignore[union-attr]
    assert expected == [one if held else None for one, held in found]
    assert (None, [True, False]) == (
        kleene_and(_cells([True, True]), _cells([True, False]))[1],
        kleene_and(_cells([True, True]), _cells([True, False]))[0].tolist(),
    )


@pytest.mark.parametrize("operator", Operator)
def test_integers_and_doubles_are_compared_exactly(operator: Operator) -> None:
    """Beyond 2^53 as well, on either side, and against infinities."""
    pairs = list(itertools.product(_WHOLE, _REAL))
    whole = np.array([one for one, _ in pairs], np.int64)
    real = np.array([other for _, other in pairs])

    def exact(number: float) -> Any:
        return number if np.isinf(number) else Fraction(number)

    expected = [HOLDS[operator](Fraction(a), exact(b)) for a, b in pairs]
    assert expected == compared(whole, operator, real).tolist()
    expected = [HOLDS[operator](exact(b), Fraction(a)) for a, b in pairs]
    assert expected == compared(real, operator, whole).tolist()
    assert compared(whole, operator, whole)[0] == HOLDS[operator](1, 1)


def test_bands_and_intervals() -> None:
    """Outside all bands nothing is known; an interval may have no end."""
    numbers = np.array([-1, 0, 1, 4, 5, 9, 10])
    codes, known = band(numbers, (0, 1, 5), 9, None)
    assert ([0, 0, 1, 1, 2, 2, 0], [False, *[True] * 5, False]) == (
        codes.tolist(),
        known.tolist(),  # type: ignore[union-attr]
    )
    assert [True] * 7 == within(numbers, Interval(lower=None, upper=None)).tolist()
    assert [1, 4] == numbers[within(numbers, Interval(lower=1, upper=4))].tolist()


def test_flags() -> None:
    """None is everywhere, and a fill makes everything known."""
    some = np.array([True, False])
    assert both(None, None) is None
    assert some.tolist() == both(some, None).tolist()  # type: ignore[union-attr]
    assert [True, False] == both(some, np.array([True, True])).tolist()  # type: ignore[union-attr]
    assert [True, True] == flags(None, some).tolist()
    assert ([True, True], None) == (
        or_missing(some, some, missing=True)[0].tolist(),
        None,
    )
    assert or_missing(some, some, missing=None)[1] is some
    assert [3, 1] == affine(np.array([1, 0]), 2, 1).tolist()


def test_results_take_the_place_of_numbers_that_nobody_holds() -> None:
    """What is held for later stays as it is, on either side."""
    spare, (kept, _) = np.array([5, 6]), held((np.array([1, 2]), None))
    assert [4, 4] == combined(np.subtract, spare, kept).tolist()
    assert ([4, 4], [1, 2]) == (spare.tolist(), kept.tolist())
    assert [-3, -2] == combined(np.subtract, kept, spare).tolist()
    assert ([-3, -2], [1, 2]) == (spare.tolist(), kept.tolist())
    assert [2, 4] == combined(np.add, kept, kept).tolist()
    assert [3, 5] == affine(kept, 2, 1).tolist()
    assert [1, 2] == kept.tolist()
