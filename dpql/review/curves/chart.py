"""Curves as SVG, on logarithmic axes; floats here place ink and nothing else."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from html import escape
from math import ceil, floor, log10  # noqa: TID251  places on paper, no promise

from dpql.diagnostics import shown
from dpql.model.figures import decimal
from dpql.review.curves.points import Curve

_WIDTH, _HEIGHT = 400, 236
_LEFT, _RIGHT, _TOP, _BOTTOM = 56, 84, 12, 40
_FEW = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Chart:
    """Two axes that hold all points of some curves."""

    left: float
    right: float
    low: float
    high: float

    @classmethod
    def around(cls, curves: Iterable[Curve]) -> Chart:
        """Return the axes that hold the curves."""
        points = [point for curve in curves for point in curve.points]
        xs = [_log(epsilon) for epsilon, _ in points] or [0.0]
        # An error of 0 has no place on this axis: its line leaves at the bottom.
        ys = [_log(error) for _, error in points if error > 0] or [0.0]
        return cls(left=min(xs), right=max(xs), low=min(ys) - 0.05, high=max(ys) + 0.05)

    def x(self, epsilon: Fraction) -> float:
        """Return how far to the right an epsilon stands."""
        part = (_log(epsilon) - self.left) / ((self.right - self.left) or 1)
        return round(_LEFT + part * (_WIDTH - _LEFT - _RIGHT), 1)

    def y(self, error: Fraction) -> float:
        """Return how far down an error stands."""
        level = _log(error) if error > 0 else self.low
        part = (self.high - level) / (self.high - self.low)
        return round(_TOP + part * (_HEIGHT - _TOP - _BOTTOM), 1)

    def svg(
        self,
        curves: tuple[Curve, ...],
        chosen: str,
        epsilon: Fraction,
        *,
        sign: str = "ε",
    ) -> str:
        """Return the drawing, with a mark at what the plan spends."""
        against = "epsilon" if sign == "ε" else "rho"
        title = f"Error against {against} for {shown(curves[0].name)}"
        mark = next(
            (self.x(e), self.y(error))
            for curve in curves
            if curve.mechanism == chosen
            for e, error in curve.points
            if e == epsilon
        )
        before = "" if curves[0].keys else "± "
        body = [*self._vertical(sign), *self._horizontal(before)]
        body += [
            self._line(curve, chosen=curve.mechanism == chosen) for curve in curves
        ]
        body += self._names(curves, chosen)
        x, y = mark
        body += [
            f'<path class="guide" d="M{x} {_TOP}V{_HEIGHT - _BOTTOM}"/>',
            f'<circle class="mark" cx="{x}" cy="{y}" r="5"/>',
        ]
        return (
            f'<svg viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" '
            f'aria-label="{escape(title)}">{"".join(body)}</svg>'
        )

    def _vertical(self, sign: str) -> list[str]:
        bottom = _HEIGHT - _BOTTOM
        lines = []
        for tick in _ticks(self.left, self.right):
            x = self.x(tick)
            lines.append(
                f'<line class="grid" x1="{x}" x2="{x}" y1="{_TOP}" y2="{bottom}"/>'
                f'<text x="{x}" y="{bottom + 16}" text-anchor="middle">'
                f"{_short(tick)}</text>"
            )
        middle = (_LEFT + _WIDTH - _RIGHT) / 2
        lines.append(
            f'<text class="axis" x="{middle}" y="{_HEIGHT - 5}" text-anchor="middle">'
            f"{sign} of this statistic</text>"
        )
        return lines

    def _horizontal(self, before: str) -> list[str]:
        return [
            f'<line class="grid" x1="{_LEFT}" x2="{_WIDTH - _RIGHT}" '
            f'y1="{self.y(tick)}" y2="{self.y(tick)}"/>'
            f'<text x="{_LEFT - 6}" y="{self.y(tick) + 4}" text-anchor="end">'
            f"{before}{_short(tick)}</text>"
            for tick in _ticks(self.low, self.high)
        ]

    def _line(self, curve: Curve, *, chosen: bool) -> str:
        path = " ".join(f"{self.x(e)},{self.y(error)}" for e, error in curve.points)
        return f'<polyline class="{"chosen" if chosen else "other"}" points="{path}"/>'

    def _names(self, curves: tuple[Curve, ...], chosen: str) -> list[str]:
        """Name each line at its end, one above the other if the ends are close."""
        ends = sorted(
            (self.y(curve.points[-1][1]), curve.mechanism) for curve in curves
        )
        names, above = [], float("-inf")
        for y, name in ends:
            above = max(y, above + 15)
            kind = "name" if name == chosen else "name faint"
            names.append(
                f'<text class="{kind}" x="{_WIDTH - _RIGHT + 7}" y="{above + 4}">'
                f"{escape(name.partition('_')[0])}</text>"
            )
        return names


def _log(number: Fraction) -> float:
    # A quotient of huge integers can overflow a float; their logarithms cannot.
    return log10(number.numerator) - log10(number.denominator)


def _ticks(low: float, high: float) -> list[Fraction]:
    decades = range(floor(low), ceil(high) + 1)
    for steps in ((1, 2, 5), (1, 3), (1,)):
        found = [
            step * Fraction(10) ** decade
            for decade in decades
            for step in steps
            if low <= _log(step * Fraction(10) ** decade) <= high
        ]
        if len(found) <= _FEW + 2:
            return found
    return found[:: max(1, len(found) // _FEW)]


def _short(number: Fraction) -> str:
    for power, letter in ((9, "G"), (6, "M"), (3, "k")):
        if number >= 10**power:
            return f"{decimal(number / 10**power, 3)}{letter}"
    return decimal(number, 3)
