"""Plots as SVG: a value and its interval on the axis of its statistic.

Counts are bars from zero, all else is an interval with a tick.

Coordinates are whole numbers, computed exactly. A plot holds no text.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from dpql.model.many_values import ManyValues
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
    kinds = ManyValues.of(statistic.values).kinds
    lower = min(value.lower for value in kinds)
    upper = max(value.upper for value in kinds)
    span = upper - lower
    margin = span / 20 if len(statistic.values) > 1 else span
    margin = margin or max(abs(lower), Fraction(1))
    if lower >= 0 and lower - margin < 0:
        return Axis(Fraction(0), upper + margin)
    return Axis(lower - margin, upper + margin)


def axis_from_zero(statistic: StatisticRecord) -> Axis:
    """Return an axis from 0 that holds every interval, for values of 0 and more."""
    upper = max(value.upper for value in ManyValues.of(statistic.values).kinds)
    return Axis(Fraction(0), upper if upper > 0 else Fraction(1))


def bar_plot(axis: Axis, value: CellValue) -> str:
    """Return the plot of a count: a bar from zero, and a line for the interval."""
    low, high = axis.coordinate(value.lower), axis.coordinate(value.upper)
    width = max(axis.coordinate(value.value), 1)
    return (
        f'<svg class="plot" viewBox="0 0 {WIDTH} {_HEIGHT}" '
        'preserveAspectRatio="none" aria-hidden="true" focusable="false">'
        f'<rect class="bar" x="0" y="3" width="{width}" height="14"/>'
        f'<line class="whisker" x1="{low}" x2="{high}" y1="{_MIDDLE}" y2="{_MIDDLE}"/>'
        f'<line class="whisker" x1="{low}" x2="{low}" y1="6" y2="14"/>'
        f'<line class="whisker" x1="{high}" x2="{high}" y1="6" y2="14"/></svg>'
    )


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
