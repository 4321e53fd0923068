"""A cell means one number, however it is stored.

The oracle is exact: a cell is a fraction. A cell of an integer column is the integer
nearest to it, ties up; that of any other column is the double nearest to it.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from decimal import Decimal
from fractions import Fraction
from functools import cache
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import reference_engine as reference
from curator_frames import RELAXED
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from spec_text import make_spec

from dpql.curator.engines import engine_named
from dpql.model.plan import Plan
from dpql.model.spec import NumberColumn
from dpql.planner import plan

SALT = b"s" * 32
HUGE = 2**53 + 1


def _declared(kind: str, lower: int, upper: int, more: str = "") -> str:
    return f"{{type: {kind}, bounds: [{lower}, {upper}], {more}nulls: {{as: {lower}}}}}"


COLUMNS = {
    "near": _declared("integer", HUGE - 9, HUGE + 9),
    "even": _declared("integer", -4, 8, "step: 4, "),
    "far": _declared("integer", -(2**60), 2**60),
    "edge": _declared("integer", 2**60 - 9, 2**60),
    "cents": _declared("decimal", 0, 20000, "step: 0.01, "),
    "odd": _declared("decimal", HUGE, HUGE + 2, "step: 1, "),
    "any": _declared("float", -(10**19), 10**19),
}
CONDITIONS = {
    "above": f"near > {HUGE}",
    "same": f"far == {HUGE}",
    "beyond": f"far >= {2**61}",
    "past": f"far > {2**62}",
    "at": f"far == {2**62}",
    "out": f"far < {2**64}",
    "half": "even >= 0.5",
    "cent": "cents > 0.07",
}


@cache
def number_plan() -> Plan:
    """Return a plan that sums columns of every kind, and compares them."""
    share = "{share: 1}"
    sums = {f"sum_{name}": {"sum": name, "spend": share} for name in COLUMNS}
    counts = {
        name: {"count": "rows", "where": where, "spend": share}
        for name, where in CONDITIONS.items()
    }
    return plan(make_spec(COLUMNS, sums | counts, epsilon="20"))


def _sums(frame: Any) -> dict[str, int]:
    decided, engine = number_plan(), engine_named("polars")
    assert engine is not None
    opened = engine.open_frame(frame, decided.spec.data)
    found = engine.add_up(decided, opened, salt=SALT, tick=None)
    return {
        step.name: moments["u" if step.grids else "n"][0]
        for step, moments in zip(decided.steps, found.moments, strict=True)
    }


def _expected(number: Fraction | float) -> dict[str, int]:
    """Return the sums of one row, all cells of which hold the number."""
    decided = number_plan()
    whole = _nearest(number)
    expected: dict[str, int] = {}
    for step in decided.steps:
        if not step.grids:
            continue
        (grid,) = step.grids
        column = decided.spec.data.column(grid.column)
        assert isinstance(column, NumberColumn)
        held = whole if reference.is_whole(column) else number
        expected[step.name] = _steps(column, held, grid.steps)
    double = _double(number)
    return expected | {
        "above": int(whole > HUGE),
        "same": int(whole == HUGE),
        "beyond": int(whole >= 2**61),
        "past": 0,
        "at": int(whole == 2**62),
        "out": 1,
        "half": int(whole >= 1),
        "cent": int(double > 0.07),
    }


def _nearest(number: Fraction | float) -> int:
    """Return the nearest integer, ties up, or that of 2^62 on its side."""
    if isinstance(number, float) and math.isinf(number):
        return 2**62 if number > 0 else -(2**62)
    nearest = math.floor(Fraction(number) + Fraction(1, 2))
    return min(max(nearest, -(2**62)), 2**62)


def _double(number: Fraction | float) -> float:
    try:
        return float(number)
    except OverflowError:
        return math.inf if number > 0 else -math.inf


def _steps(column: NumberColumn, number: Fraction | float, steps: int) -> int:
    width = column.upper - column.lower
    if reference.is_whole(column) and steps * (column.step or 0) == width:
        inside = min(max(Fraction(number), column.lower), column.upper)
        return math.floor((inside - column.lower) / width * steps + Fraction(1, 2))
    lower, upper = float(column.lower), float(column.upper)
    inside_ = max(min(_double(number), upper), lower)
    found = math.floor((inside_ - lower) * float(steps / width) + 0.5)
    return min(max(found, 0), steps)


# How a number can be stored.


def _texts(number: Decimal) -> list[str]:
    plain = f"{number:f}"
    longer = plain + ("0" if "." in plain else ".0")
    sign, digits = ("-", plain[1:]) if plain[0] == "-" else ("", plain)
    return [plain, longer, f"{longer}e0", f"{number:e}", f"{sign}000{digits}"]


def _json_numbers(number: Decimal) -> list[str]:
    return _texts(number)[:4]


def _integer_types(number: int) -> list[Any]:
    return [
        dtype
        for dtype, lower, upper in (
            (pl.Int8, -(2**7), 2**7),
            (pl.UInt8, 0, 2**8),
            (pl.Int32, -(2**31), 2**31),
            (pl.UInt32, 0, 2**32),
            (pl.Int64, -(2**63), 2**63),
            (pl.UInt64, 0, 2**64),
            (pl.Int128, -(2**127), 2**127),
            (pl.UInt128, 0, 2**128),
        )
        if lower <= number < upper
    ]


def _row(cell: Any) -> dict[str, list[Any]]:
    return {name: [cell] for name in COLUMNS}


def _series(cell: Any, dtype: Any) -> pl.DataFrame:
    return pl.DataFrame(_row(cell), schema=dict.fromkeys(COLUMNS, dtype))


def _text_files(number: Decimal, folder: Path) -> Iterator[tuple[str, Any]]:
    for place, text in enumerate(_texts(number)):
        yield f"text {text}", _series(text, pl.String)
        for suffix, quoted in (("csv", text), ("tsv", f'"{text}"')):
            mark = "," if suffix == "csv" else "\t"
            path = folder / f"{place}.{suffix}"
            lines = mark.join(COLUMNS), mark.join([quoted] * len(COLUMNS))
            path.write_text("\n".join(lines), "utf-8")
            yield f"{suffix} {text}", path
    for place, text in enumerate([*_json_numbers(number), json.dumps(f"{number:f}")]):
        members = ", ".join(f'"{name}": {text}' for name in COLUMNS)
        for before in ("", '"z": {}, '):
            path = folder / f"{place}{len(before)}.ndjson"
            path.write_text(f"{{{before}{members}}}\n", "utf-8")
            yield f"json {before}{text}", path


def _decimals(number: Decimal, folder: Path) -> Iterator[tuple[str, Any]]:
    scale = max(-int(number.as_tuple().exponent), 0)
    for more in (0, 3, 17):
        kind = pa.decimal128(38, min(scale + more, 38))
        try:
            cells = pa.array([number], kind)
        except pa.ArrowInvalid:
            continue
        table = pa.table(dict.fromkeys(COLUMNS, cells))
        yield f"arrow {kind}", table
        yield f"polars {kind}", pl.from_arrow(table)
        pq.write_table(table, folder / f"{more}.parquet")
        yield f"parquet {kind}", folder / f"{more}.parquet"
    wide = pa.array([number], pa.decimal256(76, scale))
    yield "decimal256", pa.table(dict.fromkeys(COLUMNS, wide))
    yield "object", _row(number)
    yield "pandas", pd.DataFrame(_row(number), dtype=object)


def _binary(number: Decimal) -> Iterator[tuple[str, Any]]:
    if number == int(number):
        yield "int", _row(int(number))
        for dtype in _integer_types(int(number)):
            yield str(dtype), _series(int(number), dtype)
    double = float(number)
    if Fraction(number) == Fraction(double):
        yield "double", _series(double, pl.Float64)
        yield "numpy", dict.fromkeys(COLUMNS, np.array([double]))
        if float(np.float32(double)) == double:
            yield "single", _series(double, pl.Float32)


_NEAR = [0, HUGE, 2**52, 2**53, 2**59, 2**60, 2**61, 2**62, 2**63, 2**64, 10**20]
NUMBERS = st.one_of(
    st.builds(
        lambda base, off, sign: Decimal(sign * (base + off)),
        st.sampled_from(_NEAR),
        st.integers(-9, 9),
        st.sampled_from([1, -1]),
    ),
    st.builds(
        lambda base, off, sign: Decimal(sign * base) + Decimal(off).scaleb(-2),
        st.sampled_from([0, HUGE, 2**52]),
        st.integers(-999, 999),
        st.sampled_from([1, -1]),
    ),
    st.decimals(-20_001, 20_001, places=3),
    st.integers(-(2**70), 2**70).map(Decimal),
)


@given(number=NUMBERS)
@example(number=Decimal(9007199254740993))
@example(number=Decimal("9007199254740993.5"))
@example(number=Decimal("4503599627370497.5"))
@example(number=Decimal(4503599627370497))
@example(number=Decimal("0.49999999999999999999"))
@example(number=Decimal("-0.50000000000000000001"))
@example(number=Decimal("0.5"))
@example(number=Decimal("-2.5"))
@example(number=Decimal("0.075"))
@example(number=Decimal(2**60 - 1))
@example(number=Decimal(2**63))
@example(number=Decimal(-(2**63) - 1))
@example(number=Decimal(2**64))
@example(number=Decimal(2**62 - 1))
@example(number=Decimal(2**62))
@example(number=Decimal("1234567890123456789.12345678901234567"))
@settings(RELAXED, max_examples=10)
@pytest.mark.property
def test_a_cell_is_one_number_however_it_is_stored(
    number: Decimal, tmp_path: Path
) -> None:
    """Every storage that can hold a number gives the integers of the exact one."""
    expected = _expected(Fraction(number))
    for name, frame in chain(
        _text_files(number, tmp_path), _decimals(number, tmp_path), _binary(number)
    ):
        assert (name, expected) == (name, _sums(frame))


@given(number=st.floats(allow_nan=False))
@example(number=0.49999999999999994)
@example(number=-0.49999999999999994)
@example(number=2.0**52 + 1)
@example(number=math.inf)
@example(number=-math.inf)
@example(number=1e308)
@RELAXED
@pytest.mark.property
def test_a_double_is_rounded_to_the_nearest_integer(number: float) -> None:
    """Doubles are taken for what they are exactly; infinities lie on their side."""
    exact = number if math.isinf(number) else Fraction(number)
    expected = _expected(exact)
    assert expected == _sums(pl.DataFrame(_row(number)))
    assert expected == _sums(_row(number))
    assert expected == _sums(_row(repr(number)))


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("1e400", math.inf),
        ("-1e400", -math.inf),
        ("9" * 400, math.inf),
        ("inf", math.inf),
        ("1e99999999999999999999", math.inf),
        ("0." + "0" * 400 + "1", Fraction(1, 10**401)),
        ("1e-400", Fraction(1, 10**400)),
        ("0.5" + "0" * 5_000 + "1", Fraction(1, 2) + Fraction(1, 10**5002)),
        ("-0.5" + "0" * 5_000 + "1", -Fraction(1, 2) - Fraction(1, 10**5002)),
        ("0.4" + "9" * 5_000, Fraction(1, 2) - Fraction(1, 10**5001)),
        ("9007199254740993." + "0" * 5_000, Fraction(HUGE)),
        ("90071992547409930" + "0" * 4_000 + "e-4001", Fraction(HUGE)),
    ],
    ids=lambda value: value[:12] if isinstance(value, str) else "",
)
def test_long_and_huge_texts_are_the_numbers_they_spell(
    text: str, number: Fraction | float, tmp_path: Path
) -> None:
    """However many digits a text has, it is rounded once, and nothing fails."""
    expected = _expected(number)
    assert expected == _sums(_row(text))
    row = ",".join([text] * len(COLUMNS))
    (tmp_path / "a.csv").write_text(f"{','.join(COLUMNS)}\n{row}\n")
    assert expected == _sums(tmp_path / "a.csv")


def test_numbers_of_several_files_stay_exact(tmp_path: Path) -> None:
    """Decimals, integers, doubles and texts of one table are what they were apart."""
    names = list(COLUMNS)
    cells = [
        pl.Series([HUGE]),
        pl.Series([Decimal(HUGE)], dtype=pl.Decimal(38, 5)),
        pl.Series([f"{HUGE}.0"]),
        pl.Series([HUGE], dtype=pl.UInt64),
        pl.Series([2.0**53]),
    ]
    for place, cell in enumerate(cells):
        frame = pl.DataFrame(dict.fromkeys(names, cell))
        frame.write_parquet(tmp_path / f"{place}.parquet")
    one, other = _expected(Fraction(HUGE)), _expected(Fraction(2**53))
    expected = {name: 4 * one[name] + other[name] for name in one}
    assert expected == _sums(tmp_path)


@given(number=st.integers(2**53, 2**64))
@RELAXED
@pytest.mark.property
def test_a_larger_integer_never_counts_less(number: int) -> None:
    """Whatever the type, cells are clamped on the side on which they lie."""
    assume(number < 2**64)
    names = list(COLUMNS)
    for dtype in _integer_types(number):
        if number + 1 < 2**63 or dtype != pl.Int64:
            cells = pl.Series([number], dtype=dtype)
            found = _sums(pl.DataFrame(dict.fromkeys(names, cells)))
            assert found == _expected(Fraction(number))
