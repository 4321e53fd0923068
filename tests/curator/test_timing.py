"""Does the time of a draw tell the noise? A joint audit of release and time.

2 * 10**5 draws, noise scale 20, inputs 20 apart, so the claimed epsilon is 1. The lower
bound on epsilon that release and time prove together must not exceed the claim; it does
so by chance at most once in 10**4 runs (confidence 0.9999).
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from dpql.curator.entropy import SystemBits
from dpql.mechanisms import MECHANISMS, Query, geometric
from dpql.mechanisms.bits import Bits, read_one
from dpql.testing import epsilon_lower_bound

pytestmark = pytest.mark.stats

CALLS = 200_000
CONFIDENCE = 0.9999
QUERY = Query(
    sensitivity=Fraction(20),
    lower=Fraction(0),
    upper=Fraction(1000),
    lattice=Fraction(1),
)


def _observed(
    perturb: Callable[[Any, int, Bits], int], noise: Any
) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Return rows (release, nanoseconds) for 500 and for 520.

    The order of the inputs is random: in strict turns the state of the processor would
    tell the sides apart, whatever the sampler does.
    """
    bits = SystemBits()
    clock = time.perf_counter_ns
    values = np.repeat([500, 520], CALLS // 2)
    np.random.default_rng().shuffle(values)
    steps, times = [], []
    gc.disable()
    try:
        for value in values.tolist():
            start = clock()
            step = perturb(noise, value, bits)
            times.append(clock() - start)
            steps.append(step)
    finally:
        gc.enable()
    rows = np.column_stack([steps, times])
    return rows[values == 500], rows[values == 520]


def _coin_loop(noise: Any, value: int, bits: Bits) -> int:
    """Draw the geometric noise by tossing coins until one fails: a planted leak."""
    threshold = int(2**32 * 0.951229424500714)
    sign = read_one(bits, 0, 1)
    count = 0
    while read_one(bits, 1, 33) < threshold:
        count += 1
    del noise
    return value + (count if sign else -count)


def _lattice(scale: int) -> Query:
    """Return the query on a lattice on which the scale of the noise is this."""
    return replace(QUERY, lattice=Fraction(20, scale))


@pytest.mark.parametrize(
    ("name", "scale"),
    [
        ("snapping", 20),
        ("geometric", 1),
        ("geometric", 20),
        ("geometric", 1000),
        ("geometric", 10**6),
    ],
)
def test_time_does_not_tell_the_noise(name: str, scale: int) -> None:
    """Release and time together prove no more than the claimed epsilon.

    The scale decides how many bits a lane has and how numbers fall into words, and
    each of these has told the noise once.
    """
    mechanism = MECHANISMS[name]
    noise = mechanism.calibrate(_lattice(scale), Fraction(1), gamma=Fraction(1, 10**9))
    first, second = _observed(mechanism.perturb, noise)
    bound = epsilon_lower_bound(first, second, confidence=CONFIDENCE)
    assert bound.epsilon <= mechanism.loss(noise)
    released = epsilon_lower_bound(first[:, 0], second[:, 0], confidence=CONFIDENCE)
    assert released.epsilon >= Fraction(1, 2), "the audit has lost its power"


def test_a_coin_loop_is_flagged() -> None:
    """A sampler that runs as long as its noise is large is convicted by its time."""
    noise = geometric.calibrate(QUERY, Fraction(1), gamma=Fraction(1))
    first, second = _observed(_coin_loop, noise)
    bound = epsilon_lower_bound(first, second, confidence=CONFIDENCE)
    assert bound.epsilon > Fraction(3, 2)
