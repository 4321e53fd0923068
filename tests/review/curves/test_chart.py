"""Curves as SVG: every point inside the axes, lines named apart."""

from __future__ import annotations

import re
from fractions import Fraction

from dpql.review.curves.chart import Chart
from dpql.review.curves.points import Curve


def curve(*points: tuple[int, int], mechanism: str = "geometric") -> Curve:
    """Return a curve of errors against epsilons."""
    return Curve(
        name="total <b>",
        mechanism=mechanism,
        unit=None,
        rows=None,
        points=tuple((Fraction(x), Fraction(y)) for x, y in points),
    )


def test_the_axes_hold_every_point() -> None:
    """Epsilon grows to the right, the error upwards."""
    drawn = curve((1, 1000), (10, 100), (100, 1))
    chart = Chart.around([drawn])
    xs = [chart.x(epsilon) for epsilon, _ in drawn.points]
    ys = [chart.y(error) for _, error in drawn.points]
    assert xs == sorted(xs)
    assert ys == sorted(ys)
    assert all(0 <= x <= 400 for x in xs)
    assert all(0 <= y <= 236 for y in ys)


def test_an_error_of_nothing_has_no_tick() -> None:
    """It has no logarithm: its line leaves at the bottom, below all others."""
    drawn = curve((1, 5), (2, 0))
    chart = Chart.around([drawn])
    assert chart.y(Fraction(0)) > chart.y(Fraction(5))
    assert "± 0<" not in chart.svg((drawn,), "geometric", Fraction(1))


def test_numbers_beyond_a_double_are_drawn() -> None:
    """A quotient of huge integers does not overflow."""
    huge = Curve(
        name="n",
        mechanism="geometric",
        unit=None,
        rows=None,
        points=((Fraction(1), Fraction(10) ** 400), (Fraction(2), Fraction(1))),
    )
    chart = Chart.around([huge])
    assert 0 <= chart.y(Fraction(10) ** 400) <= 236


def test_names_at_the_ends_of_lines_keep_apart() -> None:
    """Two lines that end at one point have their names one below the other."""
    both = (curve((1, 9), (2, 5)), curve((1, 8), (2, 5), mechanism="snapping"))
    text = Chart.around(both).svg(both, "geometric", Fraction(1))
    positions = [
        float(y) for y in re.findall(r'class="name[^"]*" x="[^"]*" y="([^"]*)"', text)
    ]
    assert 2 == len(positions)
    assert abs(positions[0] - positions[1]) >= 15
    assert "total &lt;b&gt;" in text
