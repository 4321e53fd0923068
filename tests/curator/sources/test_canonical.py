"""Stored cells become canonical one by one, whatever column they stand in."""

from __future__ import annotations

import math
from typing import Any

import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tables import FEW, raw_text

from dpql.curator.columns import CanonicalColumn, Content, code_bits
from dpql.curator.sources.canonical import (
    Canonicaliser,
    decoded,
    float_texts,
    stored_type,
    text,
)

KEYS = ("b", "a", "\u00e9", "\ufffd", "17", "-1", "true", "17.5", "inf")
_CODE = CanonicalColumn(name="k", content=Content.CODE, keys=KEYS)
_ID = CanonicalColumn(name="p", content=Content.ID)
_ODD = [
    b"\xff",
    b"a\xc3",
    b"",
    b"\x00",
    "\u00e9".encode(),
    b"\xed\xa0\x80",
    b"x" * 9000,
]
_CELLS = st.lists(
    st.one_of(st.none(), st.sampled_from([b"a", b"b", *_ODD]), st.binary(max_size=20)),
    max_size=40,
)


def _codes(cells: Any, keys: tuple[str, ...] = KEYS) -> list[str | None]:
    column = CanonicalColumn(name="k", content=Content.CODE, keys=keys)
    dtype = {8: pl.UInt8(), 16: pl.UInt16(), 32: pl.UInt32()}[code_bits(len(keys))]
    found = Canonicaliser(column, dtype)(cells)
    assert dtype == found.dtype
    return [None if code is None else keys[code] for code in found]


def _ids(cells: Any) -> list[bytes | None]:
    return Canonicaliser(_ID, pl.Binary())(cells).to_list()


@pytest.mark.property
@given(cells=_CELLS, start=st.integers(0, 20))
@pytest.mark.parametrize(
    "kind", ["string", "large_string", "string_view", "dictionary"]
)
@FEW
def test_texts_are_keys_and_ids_by_their_bytes(
    kind: str, cells: list[bytes | None], start: int
) -> None:
    """Bytes are a key or they are none; nothing else is one, in any slice."""
    keys = {key.encode(): key for key in KEYS}
    held, wanted = raw_text(cells, kind).slice(start), cells[start:]
    twice = pa.chunked_array([held, held], held.type), [*wanted, *wanted]
    series = pl.Series(wanted, dtype=pl.Binary), wanted
    for texts, some in ((held, wanted), twice, series):
        assert [None if c is None else keys.get(c) for c in some] == _codes(texts)
        assert [cell or None for cell in some] == _ids(texts)


@pytest.mark.parametrize("count", [1, 256, 257, 1 << 16, (1 << 16) + 1])
def test_codes_fit_into_their_type(count: int) -> None:
    """The last of many keys has its code, in text, bytes and dictionaries."""
    keys = tuple(f"key {n}" for n in range(count))
    words = [keys[-1], keys[0], "key"]
    wanted = [keys[-1], keys[0], None]
    arrow = pa.array(words)
    for cells in (arrow, arrow.dictionary_encode(), pl.Series(words)):
        assert wanted == _codes(cells, keys)


@pytest.mark.parametrize("far", ["5", "1048576", "9223372036854775807", "99" * 20])
@pytest.mark.parametrize(
    "dtype", [pl.Int8, pl.Int16, pl.Int64, pl.UInt8, pl.UInt64, pl.Int128, pl.Float64]
)
def test_integers_are_keys_by_their_digits(dtype: Any, far: str) -> None:
    """Whatever their type, and however far apart the keys are; others are none."""
    keys = ("3", far, "03", "+4", "4.0", "-0", "\u0664")
    cells = pl.Series([3, 4, 0, None, 127]).cast(dtype)
    assert ["3", None, None, None, None] == _codes(cells, keys)
    limits = {pl.Int64: [2**63 - 1, -(2**63)], pl.UInt64: [2**64 - 1, 2**63 - 1]}
    for cell in limits.get(dtype, []):
        found = _codes(pl.Series([cell], dtype=dtype), keys)
        assert [far if str(cell) == far else None] == found


@pytest.mark.parametrize(
    ("cells", "keys"),
    [
        (pl.Series([True, False, None]), ["true", None, None]),
        (pl.Series([17.0, 17.5, -1.0, 0.0]), ["17", "17.5", "-1", None]),
        (pl.Series([math.inf, -math.inf, math.nan]), ["inf", None, None]),
        (pl.Series(["a", "17", "A"], dtype=pl.Categorical), ["a", "17", None]),
        (pl.Series(["b", None], dtype=pl.Enum(["z", "b"])), ["b", None]),
        (pl.Series([None, None], dtype=pl.Null), [None, None]),
    ],
    ids=lambda value: str(value.dtype) if isinstance(value, pl.Series) else "",
)
def test_cells_of_other_types_are_keys_by_their_texts(
    cells: pl.Series, keys: list[str | None]
) -> None:
    """Truth values, floats, words of polars and nothing at all."""
    assert keys == _codes(cells)


@pytest.mark.property
@given(st.lists(st.floats(), max_size=20), st.sampled_from([pl.Float64, pl.Float32]))
def test_floats_have_texts_of_their_own(cells: list[float], dtype: Any) -> None:
    """Whole ones those of integers, the others the shortest that is nearest."""
    series = pl.Series(cells, dtype=pl.Float64).cast(dtype)
    for cell, found in zip(series, float_texts(series), strict=True):
        if math.isnan(cell):
            assert found is None
        elif cell.is_integer() and abs(cell) < 2**127:
            assert str(int(cell)) == found
        else:
            assert cell == pl.Series([found]).cast(pl.Float64).cast(dtype)[0]


@pytest.mark.parametrize("size", [1, 4095, 4096, 4097, 10_000])
def test_bytes_become_text_a_few_cells_at_a_time(size: int) -> None:
    """A broken cell is null; the others stay, wherever it stands."""
    good: list[bytes | None] = [b"\xc3\xa9", None, b"a"] * size
    for broken in (0, size, 3 * size - 1):
        cells = [*good]
        cells[broken] = b"a\xff"
        wanted = [text(cell) for cell in cells]
        assert wanted[broken] is None
        assert wanted == decoded(pl.Series(cells, dtype=pl.Binary)).to_list()


_TIMES = (Content.DATE, Content.TIME)
_NUMBERS = tuple(x for x in Content if x not in (Content.CODE, Content.ID))


@pytest.mark.parametrize("content", Content)
@pytest.mark.parametrize(
    ("dtype", "contents"),
    [
        (pa.string(), tuple(Content)),
        (pa.large_string(), tuple(Content)),
        (pa.string_view(), tuple(Content)),
        (pa.dictionary(pa.int8(), pa.string()), tuple(Content)),
        (pa.int8(), tuple(Content)),
        (pa.uint64(), tuple(Content)),
        (pa.float16(), tuple(Content)),
        (pa.bool_(), tuple(Content)),
        (pa.null(), tuple(Content)),
        (pa.decimal128(9, 2), (*_NUMBERS, Content.ID)),
        (pa.decimal128(9, -2), _NUMBERS),
        (pa.decimal256(9, 2), _NUMBERS),
        (pa.binary(), (Content.ID,)),
        (pa.binary(3), (Content.ID,)),
        (pa.binary_view(), (Content.ID,)),
        (pa.date32(), _TIMES),
        (pa.date64(), _TIMES),
        (pa.timestamp("s"), _TIMES),
        (pa.timestamp("ns", "+01:00"), _TIMES),
        (pa.time32("s"), ()),
        (pa.duration("s"), ()),
        (pa.list_(pa.int8()), ()),
        (pa.dictionary(pa.int8(), pa.date32()), _TIMES),
    ],
    ids=str,
)
def test_types_of_arrow_hold_some_contents(
    dtype: Any, contents: tuple[Content, ...], content: Content
) -> None:
    """A type that holds none is told by its name."""
    assert (content in contents) is not isinstance(stored_type(dtype, content), str)


_CODES = (Content.CODE, Content.NUMERIC_CODE)
_STORED = [
    pa.array(["1", "2", "x", "", None, "01"], pa.string()),
    pa.array(["1", "2", "x", "", None, "01"]).dictionary_encode(),
    pa.array([b"1", b"\xff", None], pa.binary()).view(pa.string()),
    pa.array([1, 2, 3, None, -(2**63)], pa.int64()),
    pa.array([1.0, 2.0, 2.5, math.nan, math.inf, None], pa.float64()),
    pa.array([1.0, 1.5, math.nan, None], pa.float32()),
    pa.array([True, False, None], pa.bool_()),
    pa.nulls(3),
]


@pytest.mark.parametrize("content", _CODES)
@pytest.mark.parametrize("cells", _STORED, ids=lambda cells: str(cells.type))
def test_others_are_all_that_is_no_key(cells: Any, content: Content) -> None:
    """Whatever is null stays so, and NaN is; every key keeps its code."""
    keys = ("1", "2")
    plain = CanonicalColumn(name="k", content=content, keys=keys)
    wide = CanonicalColumn(name="k", content=content, keys=keys, others=True)
    codes = Canonicaliser(plain, pl.UInt8())(cells).to_list()
    found = Canonicaliser(wide, pl.UInt8())(cells).to_list()
    readable = cells.view(pa.binary()) if _is_text(cells) else cells
    nulls = [str(cell) in ("None", "nan") for cell in readable.to_pylist()]
    for null, code, other in zip(nulls, codes, found, strict=True):
        expected = code if code is not None or null else 2
        assert expected == other
    assert 3 == wide.codes
    assert "and others" in str(wide)


def _is_text(cells: Any) -> bool:
    """Tell whether Python may be unable to read the cells."""
    return bool(pa.types.is_string(cells.type))
