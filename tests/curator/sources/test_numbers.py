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
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tables import FEW, Rows, declare, ordered, rows

from dpql.curator.sources.numbers import number_expression

HUGE = 2**53 + 1


def _declared(kind: str, lower: int, upper: int, more: str = "") -> str:
    return f"{{type: {kind}, bounds: [{lower}, {upper}], {more}nulls: {{as: {lower}}}}}"


COLUMNS = {
    "whole": "{type: integer, bounds: [0, 9], nulls: drop}",
    "real": "{type: decimal, bounds: [0, 9], step: 0.01, nulls: drop}",
}
DATA = declare(**COLUMNS)


def _expected(number: Fraction | float) -> Rows:
    """Return the cells of one row, all cells of which hold the number."""
    return [(_nearest(number), _double(number))]


def _nearest(number: Fraction | float) -> int:
    """Return the nearest integer, ties up, or that of 2^62 on its side."""
    if isinstance(number, float) and math.isinf(number):
        return 2**62 if number > 0 else -(2**62)
    nearest = math.floor(Fraction(number) + Fraction(1, 2))
    return min(max(nearest, -(2**62)), 2**62)


def _double(number: Fraction | float) -> float:
    try:
        return float(number) + 0.0
    except OverflowError:
        return math.inf if number > 0 else -math.inf


# How a number can be stored.


def _read(frame: Any) -> Rows:
    return rows(frame, DATA)


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
    for index, text in enumerate(_texts(number)):
        yield f"text {text}", _series(text, pl.String)
        for suffix, quoted in (("csv", text), ("tsv", f'"{text}"')):
            mark = "," if suffix == "csv" else "\t"
            path = folder / f"{index}.{suffix}"
            lines = mark.join(COLUMNS), mark.join([quoted] * len(COLUMNS))
            path.write_text("\n".join(lines), "utf-8")
            yield f"{suffix} {text}", path
    for index, text in enumerate([*_json_numbers(number), json.dumps(f"{number:f}")]):
        members = ", ".join(f'"{name}": {text}' for name in COLUMNS)
        for before in ("", '"z": {}, '):
            path = folder / f"{index}{len(before)}.ndjson"
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
@settings(FEW, max_examples=10)
@pytest.mark.property
def test_a_cell_is_one_number_however_it_is_stored(
    number: Decimal, tmp_path: Path
) -> None:
    """Every storage that can hold a number gives the integers of the exact one."""
    expected = _expected(Fraction(number))
    for name, frame in chain(
        _text_files(number, tmp_path), _decimals(number, tmp_path), _binary(number)
    ):
        assert (name, expected) == (name, _read(frame))


@given(number=st.floats(allow_nan=False))
@example(number=0.49999999999999994)
@example(number=-0.49999999999999994)
@example(number=2.0**52 + 1)
@example(number=math.inf)
@example(number=-math.inf)
@example(number=1e308)
@FEW
@pytest.mark.property
def test_a_double_is_rounded_to_the_nearest_integer(number: float) -> None:
    """Doubles are taken for what they are exactly; infinities lie on their side."""
    exact = number if math.isinf(number) else Fraction(number)
    expected = _expected(exact)
    assert expected == _read(pl.DataFrame(_row(number)))
    assert expected == _read(_row(number))
    written = number if math.isinf(number) else Fraction(repr(number))
    assert _expected(written) == _read(_row(repr(number)))


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
    assert expected == _read(_row(text))
    row = ",".join([text] * len(COLUMNS))
    (tmp_path / "a.csv").write_text(f"{','.join(COLUMNS)}\n{row}\n")
    assert expected == _read(tmp_path / "a.csv")


@pytest.mark.parametrize(
    "text",
    ["", " 1", "1 ", "1_000", "0x10", "1,5", "n/a", "\u0661", "e5", "--1", "1e", "."],
)
def test_what_is_no_number_is_null(text: str) -> None:
    """Neither spaces nor separators are overlooked."""
    assert [(None, None)] == _read(_row(text))


def test_numbers_of_several_files_stay_exact(tmp_path: Path) -> None:
    """Decimals, integers, doubles and texts of one table are what they were apart."""
    cells = [
        pl.Series([HUGE]),
        pl.Series([Decimal(HUGE)], dtype=pl.Decimal(38, 5)),
        pl.Series([f"{HUGE}.0"]),
        pl.Series([HUGE], dtype=pl.UInt64),
        pl.Series([2.0**53]),
    ]
    for number, cell in enumerate(cells):
        frame = pl.DataFrame(dict.fromkeys(COLUMNS, cell))
        frame.write_parquet(tmp_path / f"{number}.parquet")
    both = 4 * _expected(Fraction(HUGE)) + _expected(Fraction(2**53))
    assert ordered(both) == _read(tmp_path)


@given(number=st.integers(2**53, 2**64 - 1))
@FEW
@pytest.mark.property
def test_a_larger_integer_never_counts_less(number: int) -> None:
    """Whatever the type, cells are moved to the side on which they lie."""
    for dtype in _integer_types(number):
        cells = pl.Series([number], dtype=dtype)
        found = _read(pl.DataFrame(dict.fromkeys(COLUMNS, cells)))
        assert _expected(Fraction(number)) == found


def test_words_of_a_dictionary_have_no_expression_of_numbers() -> None:
    """They are read as texts; polars would refuse to cast them."""
    for dtype in (pl.Categorical(), pl.Enum(["1"]), pl.String(), pl.Binary()):
        assert number_expression("x", dtype, whole=True) is None
        assert number_expression("x", dtype, whole=False) is None
