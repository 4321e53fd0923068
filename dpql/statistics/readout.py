"""From noisy whole numbers to the released value, its interval and its worst error.

Everything here is a function of what is released anyway, so it costs no privacy.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import assert_never

from dpql.exact import common_denominator
from dpql.model.plan import (
    Affine,
    CentredMean,
    CentredVariance,
)

BoxReadout = Affine | CentredMean | CentredVariance
"""Readouts whose interval is that of all values in the box noisy ± half-widths."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """A value and the interval that holds the true one with probability 1 - alpha."""

    value: Fraction
    lower: Fraction
    upper: Fraction


def read(
    readout: BoxReadout,
    noisy: Sequence[Fraction],
    half_widths: Sequence[Fraction],
    *,
    lower: Fraction,
    upper: Fraction,
    quantisation: Fraction,
) -> Reading:
    """Return value and interval, both clamped into the public range.

    The interval of a ratio is that of all ratios in the box noisy ± half_widths.
    Source: MATH 4, mean and variance under add/remove.
    """
    point, low, high = _box(readout, noisy, half_widths)
    return Reading(
        value=min(max(point, lower), upper),
        lower=min(max(low - quantisation, lower), upper),
        upper=min(max(high + quantisation, lower), upper),
    )


def affine_reader(
    readout: Affine,
    half_width: Fraction,
    *,
    lower: Fraction,
    upper: Fraction,
    quantisation: Fraction,
) -> Callable[[Sequence[Fraction]], Reading]:
    """Return `read` of an affine readout, for many values.

    It computes in whole numbers, of which a common denominator makes one.
    """
    reach = readout.scale * half_width + quantisation
    constants = (readout.offset, readout.scale, reach, lower, upper)
    bottom = common_denominator(constants)
    offset, scale, off, low, high = (int(x * bottom) for x in constants)

    def found(noisy: Sequence[Fraction]) -> Reading:
        top, per = noisy[0].numerator, noisy[0].denominator
        point = offset * per + scale * top

        def clamped(number: int) -> Fraction:
            if number >= high * per:
                return upper
            return lower if number <= low * per else Fraction(number, bottom * per)

        return Reading(
            value=clamped(point),
            lower=clamped(point - off * per),
            upper=clamped(point + off * per),
        )

    return found


def worst_error(
    readout: BoxReadout,
    half_widths: Sequence[Fraction],
    *,
    rows: int | None,
    span: Fraction,
    quantisation: Fraction,
) -> Fraction | None:
    """Return the most that value and truth differ while every part keeps its width.

        affine      scale * a
        mean        scale * (a_sum + steps * a_count) / rows
        variance    scale^2 * (e2 + e1 (2 steps - e1)),
                    e1 = (a_sum + steps a_count) / rows, at most steps,
                    e2 = (a_squares + steps^2 a_count) / rows

    and quantisation on top, never above the public range's ``span``. ``rows`` is a
    lower bound on the private count of a ratio; without it the answer is None.

    For a ratio r = s / c with |r| <= R, estimated by s~ / max(1, c~) and clamped to
    [-R, R]: let x be the clamped estimate. Where x > r >= 0, s >= x (c - a_c) - a_s, so
    x - r <= (x a_c + a_s) / c <= (R a_c + a_s) / c; the other cases are alike.
    """
    match readout:
        case Affine():
            error = readout.scale * half_widths[0]
        case CentredMean():
            if rows is None:
                return None
            count, total = half_widths
            error = readout.scale * (total + readout.steps * count) / rows
        case CentredVariance():
            if rows is None:
                return None
            count, total, squares = half_widths
            steps = readout.steps
            first = min((total + steps * count) / rows, Fraction(steps))
            second = (squares + steps**2 * count) / rows
            error = readout.scale**2 * (second + first * (2 * steps - first))
        case _:
            assert_never(readout)
    return min(error + quantisation, span)


def _box(
    readout: BoxReadout, noisy: Sequence[Fraction], half_widths: Sequence[Fraction]
) -> tuple[Fraction, Fraction, Fraction]:
    match readout:
        case Affine():
            point = readout.offset + readout.scale * noisy[0]
            reach = readout.scale * half_widths[0]
            return point, point - reach, point + reach
        case CentredMean():
            mean = _ratio(
                noisy, half_widths, 1, bottom=-readout.steps, top=readout.steps
            )
            point, low, high = (readout.middle + readout.scale * m for m in mean)
            return point, low, high
        case CentredVariance():
            top = readout.steps**2
            ratio, low, high = _ratio(
                noisy, half_widths, 1, bottom=-readout.steps, top=readout.steps
            )
            square, square_low, square_high = _ratio(
                noisy, half_widths, 2, bottom=0, top=top
            )
            least = Fraction(0) if low <= 0 <= high else min(low**2, high**2)
            most = max(low**2, high**2)
            ends = (square - ratio**2, square_low - most, square_high - least)
            point, low, high = (
                readout.scale**2 * min(max(v, Fraction(0)), Fraction(top)) for v in ends
            )
            return point, low, high
        case _:
            assert_never(readout)


def _ratio(
    noisy: Sequence[Fraction],
    half_widths: Sequence[Fraction],
    which: int,
    *,
    bottom: int,
    top: int,
) -> tuple[Fraction, Fraction, Fraction]:
    """Return part over count, and the least and largest such ratio in the box."""
    one = Fraction(1)
    few = max(one, noisy[0] - half_widths[0])
    many = max(one, noisy[0] + half_widths[0])
    low = noisy[which] - half_widths[which]
    high = noisy[which] + half_widths[which]
    ends = (
        noisy[which] / max(one, noisy[0]),
        low / (many if low > 0 else few),
        high / (few if high > 0 else many),
    )
    point, least, most = (
        min(max(end, Fraction(bottom)), Fraction(top)) for end in ends
    )
    return point, least, most
