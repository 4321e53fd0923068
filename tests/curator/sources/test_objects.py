"""Python objects count cell by cell, by one rule, and none can raise.

The rule is that of docs/reference/data.md; it is written here a second time.
"""

from __future__ import annotations

import datetime as dt
import math
from decimal import Decimal
from typing import Any

import numpy as np
import oracle
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tables import FEW, ID, REAL, WHOLE, Rows, category, declare, ordered, rows

from dpql.curator.sources import open_source
from dpql.errors import RunFault
from dpql.model.spec import NumberColumn

_KEYS = ("a", "17", "17.5", "true", "north", "100000000000000000000")
DATA = declare(whole=WHOLE, real=REAL, word=category(*_KEYS), person=ID)
NAMES = ("whole", "real", "word", "person")


class Strange:
    """An object that fails whatever it is asked."""

    def _fail(self, *_: object) -> Any:
        raise RuntimeError

    __str__ = __float__ = __int__ = __index__ = __bool__ = __len__ = _fail
    __iter__ = __array__ = __hash__ = __eq__ = item = _fail  # type: ignore[assignment]


class _Text(str):
    """A text that fails whatever it is asked."""

    __slots__ = ()

    def _fail(self, *_: object) -> Any:
        raise RuntimeError

    __str__ = __hash__ = __eq__ = encode = _fail  # type: ignore[assignment]


class _Strangers(type):
    """A class of classes that fails whatever it is asked."""

    def _fail(cls, *_: object) -> Any:
        raise RuntimeError

    __hash__ = __eq__ = __subclasscheck__ = __instancecheck__ = _fail  # type: ignore[assignment]


class _Stranger(metaclass=_Strangers):
    """An object of such a class."""


NOTHING: list[Any] = [
    [1],
    {"a": 1},
    (17,),
    dt.date(2020, 1, 1),
    dt.timedelta(17),
    pd.Timestamp("2020-01-01"),
    pd.Timedelta(17),
    pd.NA,
    pd.NaT,
    17j,
    object(),
    Strange(),
    _Stranger(),
    np.datetime64("2020-01-01", "ns"),
    np.timedelta64(17, "ns"),
    np.array([17, 18]),
    np.void(b"17"),
    None,
    float("nan"),
    Decimal("NaN"),
    Decimal("sNaN"),
]
"""Cells that are neither numbers nor words."""

_PLAIN = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-5, 120),
    st.sampled_from([2**53 + 1, 2**63, -(2**63) - 1, 10**20, 10**400]),
    st.floats(),
    st.floats(-60, 160),
    st.sampled_from(
        [*_KEYS, "", " 1", "nan", "1e400", "0x1", "\x00", "17.0", "\u00e9"]
    ),
    st.text(st.characters(exclude_categories=["Cs"]), max_size=3),
    st.sampled_from(["17", "17.5", "12.34", "1E+3", "0E-5", "-0", "1E-20"]).map(
        Decimal
    ),
    st.binary(max_size=3),
)
_CELLS = st.one_of(
    _PLAIN,
    st.sampled_from(range(len(NOTHING))).map(NOTHING.__getitem__),
    st.sampled_from(
        [np.int64(17), np.float32(0.5), np.True_, np.str_("a"), np.float64(2.5)]
    ),
)


def _plain(cell: Any) -> Any:
    """Return what an object stands for, None if it is nothing."""
    if isinstance(cell, np.generic) and cell.dtype.kind in "iufbU":
        cell = cell.item()
    kinds = {id(kind) for kind in (bool, int, float, str, bytes, Decimal)}
    if id(type(cell)) not in kinds or str(cell).lower() in ("nan", "snan"):
        return cell if type(cell) is str else None
    return cell


def _number(name: str, cell: Any) -> Any:
    column = DATA.column(name)
    assert isinstance(column, NumberColumn)
    return oracle.number(column, None if isinstance(cell, bytes) else cell)


def _word(cell: Any) -> str | None:
    found = None if isinstance(cell, bytes | Decimal) else oracle.words(cell)
    return found if found in _KEYS else None


def _person(cell: Any) -> bytes | None:
    match cell:
        case None | bytes():
            return cell or None
        case bool():
            return b"true" if cell else b"false"
        case float() if cell.is_integer() and abs(cell) < 2**127:
            return b"%d" % int(cell)
        case float():
            return str(pl.Series([cell]).cast(pl.String)[0]).encode()
        case Decimal():
            found = format(cell, "f")
            found = found.rstrip("0").rstrip(".") if "." in found else found
            return b"0" if not cell else found.encode()
    return str(cell).encode() or None


def _expected(cells: list[Any]) -> Rows:
    plain = [_plain(cell) for cell in cells]
    numbers = [(_number("whole", c), _number("real", c)) for c in plain]
    words = [(_word(cell), _person(cell)) for cell in plain]
    return ordered([a + b for a, b in zip(numbers, words, strict=True)])


def _array(cells: list[Any]) -> Any:
    found = np.empty(len(cells), object)
    for index, cell in enumerate(cells):
        found[index] = cell
    return found


def _kinds(cells: list[Any]) -> list[Any]:
    """Return the cells as columns of Python, numpy and pandas."""
    series = pd.Series(_array(cells), dtype=object)
    return [
        dict.fromkeys(NAMES, cells),
        dict.fromkeys(NAMES, _array(cells)),
        dict.fromkeys(NAMES, series),
        pd.DataFrame(dict.fromkeys(NAMES, series)),
    ]


@pytest.mark.property
@given(cells=st.lists(_CELLS, max_size=9))
@FEW
def test_objects_count_as_the_rule_says(cells: list[Any]) -> None:
    """Mixed objects count cell by cell, whatever stands beside them."""
    for kind in _kinds(cells):
        assert _expected(cells) == rows(kind, DATA)


@pytest.mark.parametrize("index", range(len(NOTHING)))
def test_what_is_no_value_is_null(index: int) -> None:
    """Lists, dates and strangers count as None does, and change no other cell."""
    cells = [17, NOTHING[index], "a"]
    nothing: tuple[None, ...] = (None,) * 4
    wanted = [(17, 17.0, "17", b"17"), nothing, (None, None, "a", b"a")]
    for kind in _kinds(cells):
        assert ordered(wanted) == rows(kind, DATA)


def test_objects_of_other_classes_count_as_what_they_hold() -> None:
    """No method of theirs is called."""
    assert [(17, 17.0, "17", b"17")] == rows(
        {name: [_Text("17")] for name in NAMES}, DATA
    )


def test_very_long_integers_are_numbers_and_nothing_else() -> None:
    """Python would refuse to print them; they lie beyond all bounds, on their side."""
    cells = [10**2000, -(10**2000)]
    inf = float("inf")
    wanted = [(2**62, inf, None, None), (-(2**62), -inf, None, None)]
    assert ordered(wanted) == rows(dict.fromkeys(NAMES, cells), DATA)


@pytest.mark.parametrize(
    "number", ["1E+999999", "1E-999999", "-1E+999999", "1E+1001", "1.5E-1500"]
)
def test_very_long_decimals_take_no_time(number: str) -> None:
    """As ids they have an exponent, so that different ones differ."""
    data = declare(person=ID)
    other = (
        Decimal(number) * 2 if "1.5" in number else Decimal(number.replace("1", "2", 1))
    )
    (one,), (two,) = rows({"person": [Decimal(number), other]}, data)
    assert one != two
    assert len(one) < 20


def test_lone_surrogates_are_ids_of_their_own() -> None:
    """Text may hold what UTF-8 cannot; it is no key and no number."""
    texts = ["\ud800", "\udfff", "M\udcfcller", "M\udce4ller", "M\ufffdller"]
    found = rows(dict.fromkeys(NAMES, texts), DATA)
    wanted = [(None, None, None, t.encode("utf-8", "surrogatepass")) for t in texts]
    assert ordered(wanted) == found


def test_masked_cells_are_null() -> None:
    """What a masked array hides does not count, whatever its type is."""
    for cells in ([50, 2], [50.5, 2], ["x", "2"], ["\ud800", 2]):
        dtype = object if cells[0] in ("x", "\ud800") else None
        masked = np.ma.array(cells, mask=[True, False], dtype=dtype)
        wanted = ordered([(None,), (2,)])
        assert wanted == rows({"whole": masked}, declare(whole=WHOLE))


@pytest.mark.property
@given(
    numbers=st.lists(st.floats(), min_size=1, max_size=9),
    small=st.lists(st.floats(width=32), min_size=1, max_size=9),
)
@FEW
def test_different_floats_are_different_ids(
    numbers: list[float], small: list[float]
) -> None:
    """Doubles and singles have texts of their own; NaN belongs to nobody."""
    data = declare(person=ID)
    for cells, dtype in ((numbers, np.float64), (small, np.float32)):
        distinct = {cell for cell in cells if not math.isnan(cell)}
        array = np.array(cells, dtype)
        for frame in ({"person": array}, pd.DataFrame({"person": array})):
            found = {id_ for (id_,) in rows(frame, data) if id_ is not None}
            assert len(distinct) == len(found)


_PANDAS: list[Any] = [
    pd.Series([1, None, 3], dtype="Int64"),
    pd.Series([1, None, 3], dtype="object"),
    pd.Series(["1", None, "3"], dtype="str"),
    pd.Series(["1", None, "3"], dtype="string[python]"),
    pd.Series(["1", None, "3"], dtype="string[pyarrow]"),
    pd.Series([1, None, 3], dtype="Float64"),
    pd.Series([1, None, 3]),
    pd.Series([1, None, 3], dtype="category"),
    pd.Series(["1", None, 3], dtype="object").astype("category"),
    pd.Series(["1", None, "3"], dtype="string[pyarrow]").astype("category"),
    pd.Series(pd.arrays.SparseArray([1.0, float("nan"), 3.0])),
    pd.Series([1, None, 3], dtype="int8[pyarrow]"),
    pd.Series([1, float("nan"), 3], dtype="float16"),
]


@pytest.mark.parametrize("cells", _PANDAS, ids=lambda cells: str(cells.dtype))
def test_types_of_pandas_hold_the_same_cells(cells: Any) -> None:
    """One, nothing and three, however they are stored."""
    data = declare(whole=WHOLE, word=category("1", "3"), person=ID)
    frame = pd.DataFrame(dict.fromkeys(("whole", "word", "person"), cells))
    wanted = ordered([(1, "1", b"1"), (None, None, None), (3, "3", b"3")])
    assert wanted == rows(frame, data)
    assert wanted == rows(dict(frame.items()), data)


@pytest.mark.parametrize(
    "cells",
    [
        pd.Series(pd.to_datetime(["2020-01-01"])),
        pd.Series(pd.to_datetime(["2020-01-01"], utc=True)),
        pd.Series(pd.to_timedelta([1])),
        pd.Series([1j]),
        pd.Series(pd.period_range("2020", periods=1)),
        pd.Series(pd.interval_range(0, 1)),
        pd.Series(pd.to_datetime(["2020-01-01"])).astype("category"),
        pd.Series(pd.to_datetime(["2020-01-01"])).astype("timestamp[ns][pyarrow]"),
        pd.Series([[1]], dtype=pd.ArrowDtype(pa.list_(pa.int64()))),
    ],
    ids=lambda cells: str(cells.dtype),
)
def test_other_types_of_pandas_are_refused_by_name(cells: Any) -> None:
    """Dates and lists hold no cells of any form; unused, they may be there."""
    good = pd.DataFrame({name: [17] for name in NAMES})
    assert [(17, 17.0, "17", b"17")] == rows(good.assign(unused=cells), DATA)
    for name in NAMES:
        with pytest.raises(RunFault, match=f"DPQL504 column `{name}` is of type"):
            open_source(good.assign(**{name: cells}), DATA)


def test_types_that_could_join_two_ids_are_refused() -> None:
    """Numbers wider than a double lose digits, and text of fixed width its zeros."""
    for cells in (np.array([1, 2], np.longdouble), np.array([b"1", b"2"])):
        with pytest.raises(RunFault, match="DPQL504 column `person`"):
            open_source({"person": cells}, declare(person=ID))
