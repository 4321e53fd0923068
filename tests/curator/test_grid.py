"""Every cell has its steps within 0 and the last, and every fill the nearest ones."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from functools import cache
from typing import Any

import polars as pl
import pytest
from exact_sums import exact_sums
from hypothesis import example, given
from hypothesis import strategies as st
from spec_text import make_spec

from dpql.curator import derived, grid
from dpql.curator.noise import totals
from dpql.model.plan import Plan
from dpql.model.spec import FillNulls, NumberColumn, NumberType
from dpql.planner import plan

HUGE = 2**53 + 1
"""No double: its neighbours are 2^53 and 2^53 + 2."""

KINDS = ["float", "decimal"]


@cache
def _plan(kind: str, lower: str, upper: str, fill: str, step: str = "") -> Plan:
    column = (
        f"{{type: {kind}, bounds: [{lower}, {upper}], {step}nulls: {{as: {fill}}}}}"
    )
    statistics = {
        "total": {"sum": "x", "spend": "{share: 1}"},
        "average": {"mean": "x", "spend": "{share: 1}"},
        "spread": {"variance": "x", "spend": "{share: 1}"},
    }
    return plan(make_spec({"x": column}, statistics, epsilon="3"))


def _moments(decided: Plan, cells: Any) -> Any:
    return exact_sums(decided, {"x": cells}).moments


def _worst(decided: Plan, cell: Any) -> Fraction:
    """Return the largest change by one row, as a multiple of the declared one."""
    with_row, without = _moments(decided, [cell]), _moments(decided, [])
    return max(
        Fraction(abs(one - other), part.measure.sensitivity * part.measure.l0)
        for step, a, b in zip(decided.steps, with_row, without, strict=True)
        for part in step.parts
        for one, other in zip(
            totals(part.measure, a, step.cells),
            totals(part.measure, b, step.cells),
            strict=True,
        )
    )


CELLS = [HUGE - 1, HUGE, HUGE + 1, HUGE + 2, HUGE + 3, 2**63, math.inf, -math.inf, None]


def _huge(kind: str) -> Plan:
    step = "step: 1, " if kind == "decimal" else ""
    return _plan(kind, str(HUGE), str(HUGE + 2), str(HUGE), step)


@pytest.mark.parametrize("kind", KINDS)
def test_bounds_that_are_no_doubles_are_kept(kind: str) -> None:
    """The width between the nearest doubles is twice the declared one; no row is."""
    for cell in CELLS:
        assert _worst(_huge(kind), cell) <= 1


@pytest.mark.parametrize("kind", KINDS)
def test_a_planted_overshoot_is_seen(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The measuring can fail: without the last clamp the change is the double."""
    honest = grid.quantiser

    def planted(
        column: NumberColumn, steps: int, *, floors: bool = False
    ) -> grid.Quantiser:
        found = honest(column, steps, floors=floors)
        assert isinstance(found, grid.RealQuantiser)
        assert found.overshoots
        return replace(found, overshoots=False)

    monkeypatch.setattr(derived, "quantiser", planted)
    assert 2 <= max(_worst(_huge(kind), cell) for cell in CELLS)


BOUNDS = st.one_of(
    st.fractions(-(10**4), 10**4, max_denominator=1000),
    st.integers(-(2**60), 2**60).map(Fraction),
    st.integers(-40, 40).map(lambda power: Fraction(2) ** power / 3),
    st.just(Fraction(HUGE)),
)


@given(
    lower=BOUNDS,
    width=st.one_of(
        st.integers(1, 9).map(Fraction), st.fractions(Fraction(1, 10**6), 10**6)
    ),
    steps=st.one_of(st.integers(1, 99), st.integers(0, 46).map(lambda q: 1 << q)),
    share=st.fractions(0, 1, max_denominator=64),
)
@example(lower=Fraction(HUGE), width=Fraction(2), steps=2, share=Fraction(1, 4))
@example(lower=Fraction(1, 3), width=Fraction(1, 3), steps=1 << 46, share=Fraction(1))
@pytest.mark.property
def test_no_quantiser_leaves_its_steps(
    lower: Fraction, width: Fraction, steps: int, share: Fraction
) -> None:
    """What is not clamped at the end lies within 0..steps by itself, and fills do."""
    column = NumberColumn(
        name="x",
        type=NumberType.FLOAT,
        lower=lower,
        upper=lower + width,
        step=None,
        unit=None,
        nulls=FillNulls(value=lower + share * width),
    )
    found = grid.quantiser(column, steps)
    assert isinstance(found, grid.RealQuantiser)
    top = math.floor((found.upper - found.lower) * found.scale + grid.HALF)
    assert found.overshoots or 0 <= top <= steps
    assert math.floor(share * steps + Fraction(1, 2)) == found.fill


@pytest.mark.parametrize(
    ("fill", "steps"),
    [("0", 0), ("1", 0), ("2", 1), ("3", 1), ("4", 1), ("5", 1), ("6", 2), ("8", 2)],
)
@pytest.mark.parametrize("kind", ["integer", "decimal"])
def test_fills_are_rounded_to_the_nearest_step_ties_up(
    kind: str, fill: str, steps: int
) -> None:
    """A missing cell counts as a cell that holds the fill, also halfway."""
    decided = _plan(kind, "0", "8", fill, "step: 4, ")
    missing, there = _moments(decided, [None]), _moments(decided, [int(fill)])
    assert steps == missing[0]["u"][0] == there[0]["u"][0]
    assert [dict(one) for one in there] == [dict(one) for one in missing]


@pytest.mark.heavy
def test_fills_of_floats_are_rounded_to_the_nearest_step() -> None:
    """On a grid of doubles a missing cell counts as a cell that holds the fill."""
    for fill in ("0", "0.1", "0.25", "0.3333333", "0.9999999", "1"):
        decided = _plan("float", "0", "1", fill)
        missing, there = _moments(decided, [None]), _moments(decided, [float(fill)])
        assert [dict(one) for one in there] == [dict(one) for one in missing]


def test_a_frame_of_nothing_but_nulls_holds_the_fill() -> None:
    """Whatever the type of the column is."""
    decided = _plan("decimal", "0", "8", "2", "step: 4, ")
    for dtype in (pl.Null, pl.Float64, pl.Int8, pl.String, pl.Decimal(9, 2)):
        cells = pl.Series([None, None], dtype=dtype)
        assert [2] == list(_moments(decided, cells)[0]["u"])
