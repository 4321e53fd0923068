"""What the noisy numbers of a step of a plan say: the value and its interval.

It is a function of what is released anyway, so it costs no privacy. The curator calls
it with fresh numbers, verification with those of a report.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import assert_never

from dpql.model.plan import Chosen, PartsOfOne, Share, Step
from dpql.statistics.candidates import Candidates
from dpql.statistics.parts_reading import read_mean, read_ratio, read_share
from dpql.statistics.readout import Reading, read
from dpql.statistics.spread_reading import (
    read_covariance,
    read_deviation,
    read_variance,
)
from dpql.statistics.tails import Tail

Reader = Callable[[Sequence[Fraction]], Reading]


def reader_of(step: Step) -> Reader:
    """Return the function that reads the noisy parts of one cell."""
    if isinstance(step.readout, PartsOfOne):
        return _parts_reader(step, step.readout)
    if isinstance(step.readout, Chosen):
        return _value_reader(step, step.readout)
    readout = step.readout
    half_widths = [part.half_width for part in step.parts]
    return lambda noisy: read(
        readout,
        noisy,
        half_widths,
        lower=step.lower,
        upper=step.upper,
        quantisation=step.quantisation,
    )


def _parts_reader(step: Step, readout: PartsOfOne) -> Reader:
    tail, per_row = tail_of(step), readout.per_row

    def read_parts(noisy: Sequence[Fraction]) -> Reading:
        parts = [int(part) for part in noisy]
        match readout.what:
            case Share.PROPORTION:
                return read_share(parts, tail, step.alpha)
            case Share.MEAN:
                (grid,) = step.grids
                return read_mean(
                    parts, tail, step.alpha, grid=grid, quantisation=step.quantisation
                )
            case Share.VARIANCE:
                (grid,) = step.grids
                return read_variance(
                    parts,
                    tail,
                    step.alpha,
                    per_row=per_row,
                    grid=grid,
                    quantisation=step.quantisation,
                )
            case Share.COVARIANCE:
                first, second = step.grids
                return read_covariance(
                    parts,
                    tail,
                    step.alpha,
                    per_row=per_row,
                    grids=(first, second),
                    quantisation=step.quantisation,
                )
            case Share.DEVIATION:
                (grid,) = step.grids
                found = read_deviation(
                    read_variance(
                        parts,
                        tail,
                        step.alpha,
                        per_row=per_row,
                        grid=grid,
                        quantisation=Fraction(0),
                    ),
                    grid.width,
                )
                return Reading(
                    value=found.value,
                    lower=max(found.lower - step.quantisation, step.lower),
                    upper=min(found.upper + step.quantisation, step.upper),
                )
            case Share.RATIO:
                above, below = step.grids
                # The parts come with the divisor's column first.
                both, one, other, neither = parts
                return read_ratio(
                    (both, other, one, neither),
                    tail,
                    step.alpha,
                    below=below,
                    above=above,
                )
            case _:
                assert_never(readout.what)

    return read_parts


def _value_reader(step: Step, readout: Chosen) -> Reader:
    """Return the function that reads the index of a quantile's candidate."""
    (grid,) = step.grids
    candidates = Candidates(grid=grid, stride=readout.stride)
    off = step.quantisation

    def found(noisy: Sequence[Fraction]) -> Reading:
        (index,) = noisy
        value = candidates.value(int(index))
        return Reading(
            value=value,
            lower=max(value - off, step.lower),
            upper=min(value + off, step.upper),
        )

    return found


def tail_of(step: Step) -> Tail:
    """Return how far the noise of joint parts strays."""
    part = step.parts[0]
    theta = part.epsilon / part.measure.sensitivity
    return Tail.of(theta, rounded=part.measure.scale.denominator != 1)
