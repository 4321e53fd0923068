"""Plots as SVG: a value and its interval on the axis of its statistic.

Coordinates are whole numbers, computed exactly. A plot holds no text.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from dpql.reports.predicate import CellValue, StatisticRecord

WIDTH = 1000
_HEIGHT = 20
_MIDDLE = 10


@dataclass(frozen=True, slots=True)
class Axis:
    """The range of numbers that a plot shows."""

    lower: Fraction
    upper: Fraction

    def coordinate(self, x: Fraction) -> int:
        """Return the coordinate of a number."""
        share = (x - self.lower) / (self.upper - self.lower)
        return round(min(max(share, Fraction(0)), Fraction(1)) * WIDTH)


def axis_of(statistic: StatisticRecord) -> Axis:
    """Return an axis that holds every interval, with a margin at both ends."""
    lower = min(value.lower for value in statistic.values)
    upper = max(value.upper for value in statistic.values)
    span = upper - lower
    margin = span / 20 if len(statistic.values) > 1 else span
    margin = margin or max(abs(lower), Fraction(1))
    if lower >= 0 and lower - margin < 0:
        return Axis(Fraction(0), upper + margin)
    return Axis(lower - margin, upper + margin)


def interval_plot(axis: Axis, value: CellValue) -> str:
    """Return the plot of one value: a bar for the interval, a tick for the value."""
    low, high = axis.coordinate(value.lower), axis.coordinate(value.upper)
    tick = axis.coordinate(value.value)
    width = max(high - low, 1)
    return (
        f'<svg class="plot" viewBox="0 0 {WIDTH} {_HEIGHT}" '
        'preserveAspectRatio="none" aria-hidden="true" focusable="false">'
        f'<line class="rail" x1="0" x2="{WIDTH}" y1="{_MIDDLE}" y2="{_MIDDLE}"/>'
        f'<rect class="interval" x="{low}" y="6" width="{width}" height="8"/>'
        f'<line class="tick" x1="{tick}" x2="{tick}" y1="2" y2="18"/></svg>'
    )


def budget_plot(cap: Fraction, before: Fraction, after: Fraction) -> str:
    """Return the plot of a budget: spent before, spent by this release, left."""
    axis = Axis(Fraction(0), cap)
    first, second = axis.coordinate(before), axis.coordinate(after)
    width = max(second - first, 1)
    return (
        f'<svg class="budget" viewBox="0 0 {WIDTH} {_HEIGHT}" '
        'preserveAspectRatio="none" aria-hidden="true" focusable="false">'
        f'<rect class="left" x="0" y="4" width="{WIDTH}" height="12"/>'
        f'<rect class="before" x="0" y="4" width="{first}" height="12"/>'
        f'<rect class="now" x="{first}" y="4" width="{width}" height="12"/></svg>'
    )
