"""What the noisy numbers of a step of a plan say: the value and its interval.

It is a function of what is released anyway, so it costs no privacy. The curator calls
it with fresh numbers, verification with those of a report.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import partial
from typing import assert_never

from dpql.model import format3
from dpql.model.plan import VERSION, Affine, Chosen, Grid, PartsOfOne, Share, Step
from dpql.statistics.candidates import Candidates
from dpql.statistics.inversion import NOW, Keeps, Method
from dpql.statistics.normal_inversion import NORMAL
from dpql.statistics.normal_tails import NormalTail
from dpql.statistics.parts_reading import (
    SHARE,
    ratio_family,
    read_mean,
    read_ratio,
    read_share,
)
from dpql.statistics.readout import Reading, affine_reader, read
from dpql.statistics.spread_reading import (
    Spread,
    read_covariance,
    read_deviation,
    read_variance,
)
from dpql.statistics.tails import Tail

Reader = Callable[[Sequence[Fraction]], Reading]


def reader_of(step: Step, *, version: int = VERSION) -> Reader:
    """Return the function that reads the noisy parts of one cell.

    ``version`` is the plan's format: before the fourth, intervals had other ends.
    """
    if isinstance(step.readout, PartsOfOne):
        return _parts_reader(step, step.readout, _method(step, version))
    if isinstance(step.readout, Chosen):
        return _value_reader(step, step.readout)
    readout = step.readout
    half_widths = [part.half_width for part in step.parts]
    if step.search is not None:
        # Keys without counts have no number that noise could move.
        half_widths = [step.accuracy or Fraction(0)]
    if isinstance(readout, Affine):
        return affine_reader(
            readout,
            half_widths[0],
            lower=step.lower,
            upper=step.upper,
            quantisation=step.quantisation,
        )
    return lambda noisy: read(
        readout,
        noisy,
        half_widths,
        lower=step.lower,
        upper=step.upper,
        quantisation=step.quantisation,
    )


def _method(step: Step, version: int) -> Method:
    if step.parts[0].epsilon is None:
        return NORMAL
    if version > format3.LAST:
        return NOW
    # Only releases of an older dpql need it.
    from dpql.statistics.format3 import FORMAT3

    return FORMAT3


def _parts_reader(step: Step, readout: PartsOfOne, method: Method) -> Reader:
    tail, alpha = tail_of(step), step.alpha
    read: Callable[[Sequence[int]], Reading]
    match readout.what:
        case Share.PROPORTION:
            read = partial(read_share, share=method.inversion(SHARE, tail, alpha))
        case Share.MEAN:
            (grid,) = step.grids
            read = partial(
                read_mean,
                share=method.inversion(SHARE, tail, alpha),
                grid=grid,
                quantisation=step.quantisation,
            )
        case Share.VARIANCE:
            (grid,) = step.grids
            read = partial(
                read_variance,
                spread=Spread(tail, alpha, method),
                per_row=readout.per_row,
                grid=grid,
                quantisation=step.quantisation,
            )
        case Share.COVARIANCE:
            first, second = step.grids
            read = partial(
                read_covariance,
                spread=Spread(tail, alpha, method),
                per_row=readout.per_row,
                grids=(first, second),
                quantisation=step.quantisation,
            )
        case Share.DEVIATION:
            read = _deviation_reader(step, readout.per_row, Spread(tail, alpha, method))
        case Share.RATIO:
            above, below = step.grids
            read = _ratio_reader(
                method.inversion(ratio_family(below, above), tail, alpha), below, above
            )
        case _:
            assert_never(readout.what)
    return lambda noisy: read([int(part) for part in noisy])


def _deviation_reader(
    step: Step, per_row: Fraction, spread: Spread
) -> Callable[[Sequence[int]], Reading]:
    (grid,) = step.grids

    def found(parts: Sequence[int]) -> Reading:
        variance = read_variance(
            parts, spread, per_row=per_row, grid=grid, quantisation=Fraction(0)
        )
        root = read_deviation(variance, grid.width)
        return Reading(
            value=root.value,
            lower=max(root.lower - step.quantisation, step.lower),
            upper=min(root.upper + step.quantisation, step.upper),
        )

    return found


def _ratio_reader(
    ratio: Keeps, below: Grid, above: Grid
) -> Callable[[Sequence[int]], Reading]:
    def found(parts: Sequence[int]) -> Reading:
        # The parts come with the divisor's column first.
        both, one, other, neither = parts
        return read_ratio((both, other, one, neither), ratio, below=below, above=above)

    return found


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


def tail_of(step: Step) -> Tail | NormalTail:
    """Return how far the noise of joint parts strays."""
    part = step.parts[0]
    rounded = part.measure.scale.denominator != 1
    if part.epsilon is None:
        assert part.rho is not None, "noise that is not pure has a rho"
        assert part.measure.squared is not None, "and hides a change in squares"
        sigma2 = part.measure.squared / (2 * part.rho)
        return NormalTail.of(sigma2, rounded=rounded)
    return Tail.of(part.epsilon / part.measure.sensitivity, rounded=rounded)
