"""From noisy parts to values: intervals that hold, errors that are worst."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import pytest
from exact_parts import evaluate
from hypothesis import given
from hypothesis import strategies as st

from dpql.model.plan import Affine, CentredMean, CentredVariance, Measure, Term
from dpql.statistics.readout import affine_reader, read, worst_error

F = Fraction
STEPS = 4
MEAN = CentredMean(middle=F(0), scale=F(1), steps=STEPS)
VARIANCE = CentredVariance(scale=F(1), steps=STEPS)
NOTHING = F(0)


def test_a_measure_is_clamped_into_its_range() -> None:
    """More rows than declared cannot leave the range, and terms multiply."""
    measure = Measure(
        scale=Fraction(1),
        name="squares",
        terms=(
            Term(coefficient=3, moments=("uu",)),
            Term(coefficient=-1, moments=("u", "u")),
        ),
        sensitivity=1,
        lower=0,
        upper=20,
        l0=1,
    )
    assert evaluate(measure, {"u": 3, "uu": 5}) == 6
    assert evaluate(measure, {"u": 0, "uu": 50}) == 20
    assert evaluate(measure, {"u": 9, "uu": 1}) == 0


def test_an_affine_value_has_its_half_width() -> None:
    """The value is offset + scale * part; its interval has the grid's error too."""
    found = read(
        Affine(offset=F(10), scale=F(1, 2)),
        [F(8)],
        [F(4)],
        lower=F(0),
        upper=F(100),
        quantisation=F(1, 4),
    )
    assert (found.value, found.lower, found.upper) == (14, F(47, 4), F(65, 4))


NUMBERS = st.fractions(F(-9), F(9), max_denominator=60)
SIZES = st.fractions(F(0), F(9), max_denominator=60)


@given(
    st.tuples(NUMBERS, NUMBERS),
    st.tuples(SIZES, SIZES, SIZES, SIZES),
    st.lists(NUMBERS, min_size=1),
)
def test_many_affine_values_are_read_as_one_is(
    numbers: tuple[F, F], sizes: tuple[F, F, F, F], noisy: list[F]
) -> None:
    """In whole numbers, and exactly."""
    (offset, lower), (scale, half, off, span) = numbers, sizes
    readout = Affine(offset=offset, scale=scale)
    ends = {"lower": lower, "upper": lower + span, "quantisation": off}
    found = affine_reader(readout, half, **ends)
    expected = [read(readout, [x], [half], **ends) for x in noisy]
    assert expected == [found([x]) for x in noisy]


def test_values_and_intervals_stay_in_the_public_range() -> None:
    """Noise beyond the range is clamped, the interval with it."""
    found = read(
        Affine(offset=F(0), scale=F(1)),
        [F(99)],
        [F(4)],
        lower=F(0),
        upper=F(50),
        quantisation=NOTHING,
    )
    assert (found.value, found.lower, found.upper) == (50, 50, 50)


noisy = st.integers(-40, 40).map(Fraction)
width = st.integers(0, 9).map(Fraction)


@given(st.tuples(noisy, noisy, noisy), st.tuples(width, width, width))
def test_the_value_is_in_its_interval(
    parts: tuple[Fraction, ...], widths: tuple[Fraction, ...]
) -> None:
    """Point estimate and box agree, whatever the noise did."""
    for readout, count, lower, upper in (
        (MEAN, 2, F(-STEPS), F(STEPS)),
        (VARIANCE, 3, NOTHING, F(STEPS**2)),
    ):
        found = read(
            readout,
            parts[:count],
            widths[:count],
            lower=lower,
            upper=upper,
            quantisation=NOTHING,
        )
        assert lower <= found.lower <= found.value <= found.upper <= upper


def shifts(widths: tuple[int, ...]) -> list[tuple[int, ...]]:
    """Return every noise on the corners, edges and the middle of the box."""
    return list(product(*({-w, 0, w} for w in widths)))


@pytest.mark.heavy
@pytest.mark.parametrize("widths", [(0, 3, 5), (2, 0, 9), (3, 6, 20), (9, 30, 90)])
def test_boxes_hold_the_truth_and_errors_are_bounded(widths: tuple[int, ...]) -> None:
    """Truths of up to 8 rows, all corners of noise: covered and within."""
    half = [F(w) for w in widths]
    for rows in (1, 3, 8):
        for total in range(-STEPS * rows, STEPS * rows + 1, max(1, rows // 2)):
            least = -(-(total**2) // rows)
            for squares in {least, (least + STEPS**2 * rows) // 2, STEPS**2 * rows}:
                check(rows, total, squares, half)


def check(rows: int, total: int, squares: int, half: list[Fraction]) -> None:
    """Check one truth under all noises of the box."""
    mean = F(total, rows)
    variance = F(squares, rows) - mean**2
    for noise in shifts(tuple(int(w) for w in half)):
        seen = [F(rows + noise[0]), F(total + noise[1]), F(squares + noise[2])]
        for readout, count, truth, lower, upper in (
            (MEAN, 2, mean, F(-STEPS), F(STEPS)),
            (VARIANCE, 3, variance, NOTHING, F(STEPS**2)),
        ):
            found = read(
                readout,
                seen[:count],
                half[:count],
                lower=lower,
                upper=upper,
                quantisation=NOTHING,
            )
            assert found.lower <= truth <= found.upper
            error = worst_error(
                readout,
                half[:count],
                rows=rows,
                span=upper - lower,
                quantisation=NOTHING,
            )
            assert error is not None
            assert abs(found.value - truth) <= error


def test_the_worst_error_of_a_mean_is_attained() -> None:
    """S = Q (C - a_c) - a_s with the noise at its corner reaches the bound."""
    rows, count, total = 20, F(2), F(5)
    truth = F(STEPS) * (rows - count) - total
    found = read(
        MEAN,
        [rows - count, truth + total],
        [count, total],
        lower=F(-STEPS),
        upper=F(STEPS),
        quantisation=NOTHING,
    )
    error = worst_error(
        MEAN, [count, total], rows=rows, span=F(8), quantisation=NOTHING
    )
    assert found.value - truth / rows == error


def test_a_ratio_of_unknown_count_has_no_worst_error() -> None:
    """Without a lower bound on the rows nothing can be promised."""
    for readout, count in ((MEAN, 2), (VARIANCE, 3)):
        found = worst_error(
            readout, [F(1)] * count, rows=None, span=F(9), quantisation=NOTHING
        )
        assert found is None


def test_no_error_exceeds_the_range() -> None:
    """The public range and the grid's error bound what is stated."""
    affine = Affine(offset=F(0), scale=F(2))
    assert worst_error(affine, [F(3)], rows=None, span=F(9), quantisation=F(1)) == 7
    assert worst_error(affine, [F(9)], rows=None, span=F(9), quantisation=F(1)) == 9


def test_the_worst_error_of_a_variance_is_its_formula() -> None:
    """A count that is off moves the squares' mean by steps squared, too."""
    error = worst_error(
        CentredVariance(scale=F(1, 2), steps=10),
        [F(1), F(2), F(3)],
        rows=100,
        span=F(1000),
        quantisation=F(1, 8),
    )
    first, second = F(2 + 10, 100), F(3 + 100, 100)
    assert error == F(1, 4) * (second + first * (20 - first)) + F(1, 8)
