"""Grids: lossless where they can be, fine enough elsewhere, never overflowing."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st
from spec_text import make_spec

from dpql.curator.grid import WHOLE_LIMIT
from dpql.errors import PlanFault
from dpql.model.limits import LARGEST_WHOLE
from dpql.model.spec import DropNulls, NumberColumn, NumberType
from dpql.planner import plan
from dpql.planner.grids import choose_grid, is_countable

LIMIT = 2**63


def column(
    lower: object, upper: object, step: object = None, kind: str = "float"
) -> NumberColumn:
    """Return a number column."""
    return NumberColumn(
        name="x",
        type=NumberType(kind),
        lower=Fraction(lower),  # type: ignore[call-overload]
        upper=Fraction(upper),  # type: ignore[call-overload]
        step=None if step is None else Fraction(step),  # type: ignore[call-overload]
        unit=None,
        nulls=DropNulls(),
    )


def test_integers_lose_nothing() -> None:
    """An integer column is counted in its own steps."""
    grid = choose_grid(
        column(16, 100, 1, "integer"), power=2, rows=10**6, epsilon=Fraction(1)
    )
    assert (grid.steps, grid.error) == (84, 0)


def test_decimals_lose_nothing() -> None:
    """A decimal column is counted in its own steps."""
    grid = choose_grid(
        column(0, 20_000, "0.01", "decimal"), power=1, rows=10**6, epsilon=Fraction(1)
    )
    assert (grid.steps, grid.error) == (2_000_000, 0)


def test_a_decimal_that_doubles_cannot_hold_counts_its_error() -> None:
    """Steps far below the resolution of a double are not called lossless."""
    far = column(10**15, 10**15 + 100, "0.01", "decimal")
    grid = choose_grid(far, power=1, rows=10, epsilon=Fraction(1))
    assert grid.steps == 10_000
    assert grid.error > Fraction(1, 2)


@pytest.mark.parametrize(
    ("power", "rows", "epsilon", "bits"),
    [
        (1, 1, "0.5", 20),
        (1, 1000, "1", 30),
        (1, 10**9, "1", 46),
        (2, 1000, "1", 30),
        (2, 10**6, "1", 31),
        (1, 2**41 - 1, "1", 44),
        (2, 2**40, "1", 22),
    ],
)
def test_floats_get_a_binary_grid(
    power: int, rows: int, epsilon: str, bits: int
) -> None:
    """20 + ceil log2 max(1, n epsilon), within 46 or 31 bits, fewer for huge rows."""
    grid = choose_grid(column(0, 1), power=power, rows=rows, epsilon=Fraction(epsilon))
    assert grid.steps == 2**bits
    assert grid.error == Fraction(1, 2) + Fraction(2) ** (bits - 50)


def test_bounds_that_are_no_doubles_cost_a_little() -> None:
    """The error grows by 2**(q-52) max(|a|, |b|) / w."""
    grid = choose_grid(column("0.1", "1.1"), power=1, rows=1, epsilon=Fraction(1))
    plain = Fraction(1, 2) + Fraction(2) ** -30
    assert grid.error == plain + Fraction(2) ** -32 * Fraction("1.1")


def test_integers_too_wide_for_a_product_are_coarsened() -> None:
    """No product of more than 31 bits each is planned."""
    wide = column(0, 2**40, 1, "integer")
    grid = choose_grid(wide, power=2, rows=10**6, epsilon=Fraction(1))
    assert grid.steps == 2**31
    assert grid.error > Fraction(1, 2)


@given(
    power=st.sampled_from([1, 2]),
    rows=st.integers(1, 2**42),
    width=st.integers(1, 2**50),
    kind=st.sampled_from(["integer", "float"]),
)
def test_products_and_sums_of_half_words_fit_63_bits(
    power: int, rows: int, width: int, kind: str
) -> None:
    """The finest grid keeps a product below 2**63, and fewer steps for many rows."""
    step = 1 if kind == "integer" else None
    x = column(0, width, step, kind)
    grid = choose_grid(x, power=power, rows=rows, epsilon=Fraction(1))
    assert grid.steps**power < LIMIT
    half = ((grid.steps - 1).bit_length() + 1) // 2
    assert 2 ** (half * power) * rows <= LIMIT


@pytest.mark.parametrize(
    ("lower", "upper", "step", "kind", "countable"),
    [
        (-(2**60), 2**60, 1, "integer", True),
        (2 * 10**18, 2 * 10**18 + 100, 1, "integer", False),
        (-(2**60) - 1, 0, 1, "integer", False),
        (0, 2**60 + 1, 1, "integer", False),
        (0, "1e-300", None, "float", False),
        (0, "1e-290", None, "float", True),
        ("-1.7e308", "1.7e308", None, "float", False),
        ("-4e306", "4e306", None, "float", True),
        (0, "9e308", None, "float", False),
        ("1e300", "1.000001e300", None, "float", True),
        (0, "1e-300", "1e-303", "decimal", False),
        (0, 20_000, "0.01", "decimal", True),
    ],
)
@pytest.mark.parametrize("statistic", ["sum", "histogram"])
def test_columns_that_cannot_be_counted_are_refused(
    lower: object,
    upper: object,
    step: object,
    kind: str,
    statistic: str,
    *,
    countable: bool,
) -> None:
    """No promise is made about numbers that 64 bits or doubles cannot hold."""
    assert is_countable(column(lower, upper, step, kind)) is countable
    grain = "" if step is None else f", step: {step}"
    declared = f"{{type: {kind}, bounds: [{lower}, {upper}]{grain}, nulls: drop}}"
    entry = {statistic: "x", "spend": "{share: 1}"}
    if statistic == "histogram":
        entry["bins"] = f"[{lower}, {upper}]"
    spec = make_spec({"x": declared}, {"q": entry})
    if countable:
        plan(spec)
        return
    with pytest.raises(PlanFault) as caught:
        plan(spec)
    (fault,) = caught.value.diagnostics
    assert (fault.code, fault.span is None) == ("DPQL432", False)


def test_planner_and_curator_agree_on_the_largest_integer() -> None:
    """What the planner calls exact, the engines count in whole numbers."""
    assert LARGEST_WHOLE == WHOLE_LIMIT
