r"""Different ids are different units, in every format, whatever bytes they are.

The oracle is the rule of docs/reference/data.md: a text id is its bytes, less one pair
of quotes in csv; a number is its decimal digits; an empty id belongs to nobody. Every
id is given several rows, of which one counts, so the count of rows before noise is the
number of units.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Callable, Sequence
from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import quote

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from curator_frames import RELAXED
from hypothesis import example, given, settings
from hypothesis import strategies as st
from spec_text import make_spec

from dpql.curator.engines import engine_named, polars_csv
from dpql.curator.engines.polars_columns import Kind
from dpql.errors import RunFault
from dpql.model.plan import Plan
from dpql.planner import plan

SALT = b"s" * 32
UMLAUTS = [b"M\xfcller", b"M\xe4ller", b"M\xc3\xbcller", "M\ufffdller".encode()]
NASTY = [
    *UMLAUTS,
    b"\xff",
    b"\xfe",
    b"\xc3",
    b"\xe2\x82",
    b"\xed\xa0\x80",
    b"\xed\xb0\x80",
    b"\xf4\x90\x80\x80",
    b"\xc0\x80",
    b"\xef\xbf\xbd",
    b"\x00",
    b"a\x00",
    b"a",
    b"A",
    b" a",
    b"a ",
    b"5",
    b'5"',
    b'"5',
    b"05",
    b"5.0",
    b"+5",
    b"5e0",
    b'"',
    b"'",
    b"e\xcc\x81",
    b"\xc3\xa9",
    b"null",
    b"NaN",
    b"nan",
    b"true",
    b"\xef\xbb\xbfa",
    b"\\",
    b"\\u00fc",
    b"x" * 12,
    b"x" * 13,
    b"x" * 13 + b"\xff",
]
"""Ids that some reader somewhere takes for another."""

BYTES = st.lists(
    st.one_of(
        st.sampled_from(NASTY),
        st.binary(max_size=6),
        st.binary(min_size=10, max_size=20),
        st.text(max_size=4).map(lambda text: text.encode("utf-8", "surrogatepass")),
    ),
    min_size=1,
    max_size=12,
)


@cache
def unit_plan() -> Plan:
    """Return a plan that counts one row of every person."""
    return plan(
        make_spec(
            {
                "person": "{type: id}",
                "x": "{type: integer, bounds: [0, 1], nulls: {as: 0}}",
            },
            {
                "units": {"count": "rows", "spend": "{share: 1}"},
                "total": {"sum": "x", "spend": "{share: 1}"},
            },
            unit="person",
            contributes="{rows: 1, groups: 1}",
        )
    )


def units(frame: Any) -> int:
    """Return how many units the engine tells apart."""
    decided, engine = unit_plan(), engine_named("polars")
    assert engine is not None
    opened = engine.open_frame(frame, decided.spec.data)
    found = engine.add_up(decided, opened, salt=SALT, tick=None)
    (count,), (total,) = found.moments[0]["n"], found.moments[1]["u"]
    assert total == count, "every row has the value one"
    return count


def _twice(ids: Sequence[Any]) -> list[Any]:
    return [*ids, *ids[::-1], *ids[:1]]


def _distinct(ids: Sequence[bytes]) -> int:
    return len({id_ for id_ in ids if id_})


# Formats. Each takes ids as bytes, and says how many units there are.


def _separated(ids: Sequence[bytes], path: Path, mark: bytes) -> tuple[Any, int]:
    """Write cells as they are, without those that would be several cells or rows."""
    cells = [
        cell.replace(b"\n", b"~").replace(mark, b"!").rstrip(b"\r") for cell in ids
    ]
    lines = [b"1" + mark + cell for cell in _twice(cells)]
    path.write_bytes(b"\n".join([b"x" + mark + b"person", *lines]))
    return path, _distinct([_unquoted(cell) for cell in cells])


def _unquoted(cell: bytes) -> bytes:
    paired = len(cell) > 1 and cell[:1] == cell[-1:] == b'"'
    return cell[1:-1] if paired else cell


_CONTROLS = {bytes([i]): b"\\u%04x" % i for i in (*range(32), 34, 92)}


def _json_bytes(ids: Sequence[bytes], path: Path) -> tuple[Any, int]:
    """Write bytes into strings as they are, but for what must be escaped."""
    lines = [
        b'{"x": 1, "person": "%s"}'
        % b"".join(
            _CONTROLS.get(id_[i : i + 1], id_[i : i + 1]) for i in range(len(id_))
        )
        for id_ in _twice(ids)
    ]
    path.write_bytes(b"\n".join(lines))
    return path, _distinct(ids)


def _json_text(ids: Sequence[bytes], path: Path) -> tuple[Any, int]:
    """Write text with escapes, lone surrogates among them."""
    texts = [id_.decode("utf-8", "surrogateescape") for id_ in ids]
    rows = [{"person": text, "x": 1} for text in _twice(texts)]
    path.write_text("\n".join(map(json.dumps, rows)))
    return path, len({text for text in texts if text})


def _table(ids: Sequence[bytes], kind: Any) -> pa.Table:
    """Return Arrow text, or bytes, that hold any bytes."""
    cells = _twice(ids)
    words = pa.array(cells, pa.binary())
    match str(kind):
        case "string":
            words = words.view(kind)
        case "large_string":
            words = pa.array(cells, pa.large_binary()).view(kind)
        case "string_view":
            words = pa.array(cells, pa.binary_view()).view(kind)
        case "dictionary":
            listed = words.dictionary_encode()
            words = pa.DictionaryArray.from_arrays(
                listed.indices, listed.dictionary.view(pa.string())
            )
        case _:
            words = pa.array(cells, kind)
    return pa.table({"x": pa.array([1] * len(cells)), "person": words})


ARROW: list[Any] = [
    pa.string(),
    pa.large_string(),
    pa.string_view(),
    "dictionary",
    pa.binary(),
    pa.large_binary(),
    pa.binary_view(),
]


def _parquet(table: pa.Table, folder: Path, **options: Any) -> Path:
    pq.write_table(table, folder / "rows.parquet", **options)
    return folder / "rows.parquet"


def _ipc(table: pa.Table, folder: Path) -> Path:
    with pa.ipc.new_file(folder / "rows.arrow", table.schema) as file:
        file.write(table)
    return folder / "rows.arrow"


@given(ids=BYTES)
@example(ids=UMLAUTS)
@example(ids=[b"5", b'5"', b'"5', b'"5"', b'""5""', b'""', b'"'])
@example(ids=NASTY)
@RELAXED
@pytest.mark.property
@pytest.mark.parametrize("suffix", ["csv", "tsv"])
def test_cells_of_text_files_are_ids_by_their_bytes(
    suffix: str, ids: list[bytes], tmp_path: Path
) -> None:
    """One pair of quotes is stripped, and nothing else of any byte."""
    mark = {"csv": b",", "tsv": b"\t"}[suffix]
    frame, expected = _separated(ids, tmp_path / f"rows.{suffix}", mark)
    assert expected == units(frame)


@given(ids=BYTES)
@example(ids=UMLAUTS)
@example(ids=NASTY)
@RELAXED
@pytest.mark.property
@pytest.mark.parametrize("write", [_json_bytes, _json_text])
def test_strings_of_json_are_ids_by_their_bytes(
    write: Callable[..., tuple[Any, int]], ids: list[bytes], tmp_path: Path
) -> None:
    """Broken bytes stay as they are, and lone surrogates stay apart."""
    frame, expected = write(ids, tmp_path / "rows.ndjson")
    assert expected == units(frame)


@given(ids=BYTES)
@example(ids=UMLAUTS)
@example(ids=NASTY)
@settings(RELAXED, max_examples=20)
@pytest.mark.property
@pytest.mark.parametrize("kind", ARROW, ids=str)
def test_texts_and_bytes_of_arrow_are_ids_by_their_bytes(
    kind: Any, ids: list[bytes], tmp_path: Path
) -> None:
    """Tables, streams, Parquet and IPC files, pandas and mappings tell ids apart."""
    table, expected = _table(ids, kind), _distinct(ids)
    assert expected == units(table)
    assert expected == units(_parquet(table, tmp_path))
    assert expected == units(_parquet(table, tmp_path, use_dictionary=False))
    assert expected == units(_ipc(table, tmp_path))
    assert expected == units(table.to_pandas(types_mapper=pd.ArrowDtype))
    assert expected == units({"person": table["person"], "x": [1] * len(table)})


@given(ids=BYTES)
@example(ids=UMLAUTS)
@example(ids=NASTY)
@RELAXED
@pytest.mark.property
def test_objects_are_ids_by_their_bytes(ids: list[bytes]) -> None:
    """Text with lone surrogates and bytes stay apart, in Python, numpy and pandas."""
    texts = [id_.decode("utf-8", "surrogateescape") for id_ in ids]
    expected = len({text for text in texts if text})
    cells, ones = _twice(texts), [1] * len(_twice(texts))
    held = np.array(cells, object)
    assert expected == units({"person": cells, "x": ones})
    assert expected == units({"person": held, "x": np.array(ones)})
    assert expected == units(pd.DataFrame({"person": held, "x": ones}, dtype=object))
    raw = _twice(ids)
    assert _distinct(ids) == units({"person": raw, "x": ones})
    assert _distinct(ids) == units(pl.DataFrame({"person": raw, "x": ones}))


@given(texts=st.lists(st.text(max_size=5), min_size=1, max_size=12))
@example(texts=["é", "e\u0301", "\ufffd", "É", "\u00a0", "\u2028", "a\x00", "a"])
@settings(RELAXED, max_examples=20)
@pytest.mark.property
def test_proper_text_is_an_id_by_its_bytes(texts: list[str], tmp_path: Path) -> None:
    """What polars, DuckDB and pandas write and hold is told apart in each of them."""
    expected = len({text for text in texts if text})
    frame = pl.DataFrame({"person": _twice(texts), "x": 1})
    frame.write_parquet(tmp_path / "polars.parquet")
    frame.write_ipc(tmp_path / "polars.arrow")
    frame.write_ndjson(tmp_path / "polars.ndjson")
    relation = duckdb.from_arrow(frame.to_arrow())
    relation.write_parquet(str(tmp_path / "duckdb.parquet"))
    for kind in (
        frame,
        frame.lazy(),
        frame.with_columns(pl.col("person").cast(pl.Categorical)),
        relation,
        frame.to_pandas(),
        frame.to_pandas().astype({"person": "category"}),
        *sorted(tmp_path.glob("*")),
    ):
        assert expected == units(kind)


@pytest.mark.parametrize("suffix", ["csv", "ndjson", "parquet", "arrow"])
def test_values_of_folders_are_ids_by_their_bytes(suffix: str, tmp_path: Path) -> None:
    """Names of folders that are no UTF-8 differ, and none is an id if it is empty."""
    frame = pl.DataFrame({"x": [1, 1, 1]})
    write: dict[str, Callable[[Path], Any]] = {
        "csv": frame.write_csv,
        "ndjson": frame.write_ndjson,
        "parquet": frame.write_parquet,
        "arrow": frame.write_ipc,
    }
    names = ["M%FCller", "M%E4ller", "M\udcfcllerin", "M\udce4llerin", '"5"', "5", ""]
    for name in [*names, "__HIVE_DEFAULT_PARTITION__"]:
        folder = tmp_path / f"person={name}"
        folder.mkdir()
        path = Path("rows").with_suffix(f".{suffix}")
        write[suffix](tmp_path / path)
        (tmp_path / path).rename(folder / path)
    assert 6 == units(tmp_path)


# Numbers.


def _number_kinds(numbers: Sequence[int], folder: Path) -> list[Any]:
    """Return whole numbers below 100 in every type that holds them."""
    cells = _twice(numbers)
    ones = [1] * len(cells)
    frame = pl.DataFrame({"person": cells, "x": ones})
    text = frame.with_columns(pl.col("person").cast(pl.String))
    frame.write_csv(folder / "rows.csv")
    text.write_csv(folder / "quoted.csv", quote_style="always")
    frame.write_ndjson(folder / "rows.ndjson")
    text.write_ndjson(folder / "text.ndjson")
    kinds = [
        frame.with_columns(pl.col("person").cast(dtype))
        for dtype in (
            pl.Int8,
            pl.UInt8,
            pl.Int16,
            pl.UInt32,
            pl.UInt64,
            pl.Int128,
            pl.Float32,
            pl.Float64,
            pl.Decimal(10, 0),
            pl.Decimal(10, 3),
            pl.String,
            pl.Binary,
        )
    ]
    for place, kind in enumerate(kinds):
        kind.write_parquet(folder / f"{place}.parquet")
    return [
        *kinds,
        *sorted(folder.glob("*")),
        {"person": [Decimal(c) for c in cells], "x": ones},
        {"person": np.array(cells, np.float16), "x": ones},
        pd.DataFrame({"person": pd.array(cells, "Int64"), "x": ones}),
    ]


@given(
    numbers=st.lists(st.integers(0, 99), min_size=1, max_size=8),
)
@settings(RELAXED, max_examples=10)
@pytest.mark.property
def test_whole_numbers_are_ids_by_their_digits(
    numbers: list[int], tmp_path: Path
) -> None:
    """However they are stored; and in files of several types they are one unit."""
    for kind in _number_kinds(numbers, tmp_path):
        assert len(set(numbers)) == units(kind)
    assert len(set(numbers)) == units(str(tmp_path / "*.parquet"))
    assert len(set(numbers)) == units(str(tmp_path / "*.csv"))
    assert len(set(numbers)) == units(str(tmp_path / "*.ndjson"))


_WIDE = [0, 1, -1, 2**53, 2**53 + 1, 2**63 - 1, -(2**63), 2**64 - 1, 2**63, 10**20]


def test_large_integers_stay_apart(tmp_path: Path) -> None:
    """Beyond 2^53, 2^63 and 2^64, also where files of several widths meet."""
    small = [n for n in _WIDE if abs(n) < 2**63]
    positive = [n for n in _WIDE if 0 <= n < 2**64]
    for place, (cells, dtype) in enumerate(
        [(small, pl.Int64), (positive, pl.UInt64), (_WIDE, pl.Int128)]
    ):
        person = pl.Series("person", _twice(cells), dtype)
        frame = pl.DataFrame({"person": person, "x": 1})
        assert len(cells) == units(frame)
        frame.write_parquet(tmp_path / f"{place}.parquet")
    assert len(_WIDE) == units(tmp_path)
    (tmp_path / "texts").mkdir()
    frame.write_csv(tmp_path / "texts" / "rows.csv")
    assert len(_WIDE) == units(tmp_path / "texts")
    assert len(_WIDE) == units({"person": _twice(_WIDE), "x": [1] * len(_twice(_WIDE))})


@given(
    numbers=st.lists(st.floats(), min_size=1, max_size=12),
    small=st.lists(st.floats(width=32), min_size=1, max_size=12),
)
@example(
    numbers=[0.1, math.nextafter(0.1, 1), 1e22, 1e23, 1e300, 2.0**63, 2.0**64, 5e-324],
    small=[0.0, 1.401298464324817e-45],
)
@RELAXED
@pytest.mark.property
def test_different_floats_are_different_ids(
    numbers: list[float], small: list[float]
) -> None:
    """Doubles and singles are spelt so that each is another; NaN belongs to nobody."""
    for cells, dtype in ((numbers, pl.Float64), (small, pl.Float32)):
        expected = len({cell for cell in cells if not math.isnan(cell)})
        frame = pl.DataFrame({"person": _twice(cells)}, schema={"person": dtype})
        assert expected == units(frame.with_columns(x=pl.lit(1)))
        assert expected == units(frame.with_columns(x=pl.lit(1)).to_pandas())


def test_integers_with_gaps_in_pandas_are_the_integers_they_were() -> None:
    """Where pandas makes floats of integers, ids are spelt as integers again."""
    gaps = pd.Series([17, None, 18, 17])
    assert "float64" == str(gaps.dtype)
    assert 2 == units(pd.DataFrame({"person": gaps, "x": 1}))


def test_floats_and_integers_of_several_files_are_one_unit(tmp_path: Path) -> None:
    """17 and 17.0 are one person, 17.5 and Decimal 17.50 another."""
    for place, cells in enumerate(
        [
            pl.Series([17, 18]),
            pl.Series([17.0, 17.5]),
            pl.Series([17.0, 17.5], dtype=pl.Float32),
            pl.Series([Decimal("17.00"), Decimal("17.50")], dtype=pl.Decimal(9, 2)),
            pl.Series(["17", "17.5"]),
        ]
    ):
        frame = pl.DataFrame({"person": cells, "x": 1})
        frame.write_parquet(tmp_path / f"{place}.parquet")
    assert 3 == units(tmp_path)


def test_numbers_of_text_are_ids_as_they_are_written(tmp_path: Path) -> None:
    """17 and 17.0 are two texts in csv and JSON, and long fractions stay apart."""
    cells = ["17", "17.0", "1.7e1", "0.1", "0.1000000000000000055", "-0", "0", "0.0"]
    cells += ["0.10000000000000000555", "9007199254740993.5", "9007199254740993.25"]
    (tmp_path / "a.csv").write_text("\n".join(["person,x", *(f"{c},1" for c in cells)]))
    assert len(cells) == units(tmp_path / "a.csv")
    lines = [f'{{"person": {cell}, "x": 1}}' for cell in _twice(cells)]
    (tmp_path / "a.ndjson").write_text("\n".join(lines))
    assert len(cells) == units(tmp_path / "a.ndjson")
    odd = [f'{{"z": {{}}, "person": {cell}, "x": 1}}' for cell in cells]
    (tmp_path / "a.ndjson").write_text("\n".join([*lines, *odd]))
    assert len(cells) == units(tmp_path / "a.ndjson")


def test_ids_that_are_missing_belong_to_nobody(tmp_path: Path) -> None:
    """Empty, null and NaN ids add no row to any count."""
    (tmp_path / "a.csv").write_text('person,x\n,1\n"",1\na,1\n\n"a",1\n')
    assert 1 == units(tmp_path / "a.csv")
    (tmp_path / "a.ndjson").write_text(
        '{"x":1}\n{"person":"","x":1}\n{"person":null,"x":1}\n{"person":NaN,"x":1}\n'
        '{"person":[1],"x":1}\n{"person":"a","x":1}'
    )
    assert 1 == units(tmp_path / "a.ndjson")
    ones = [1] * 4
    assert 1 == units({"person": ["", None, float("nan"), "a"], "x": ones})
    assert 1 == units(pl.DataFrame({"person": ["", None, "a", ""], "x": ones}))
    assert 1 == units(pa.table({"person": [b"", None, b"a", b""], "x": ones}))
    assert 0 == units(pl.DataFrame({"person": [None] * 4, "x": ones}))


def test_truths_are_two_ids() -> None:
    """A Boolean is spelt as JSON spells it."""
    cells = [True, False, None, True]
    assert 2 == units({"person": cells, "x": [1] * 4})
    assert 2 == units(pl.DataFrame({"person": cells, "x": [1] * 4}))
    both = {"person": [*cells, "true", "false", "True"], "x": [1] * 7}
    assert 3 == units(both)


@pytest.mark.parametrize(
    "cells",
    [
        pl.Series([1, 2]).cast(pl.Date),
        pl.Series([[1], [2]]),
        pl.Series([{"a": 1}, {"a": 2}]),
        np.array([1, 2], np.longdouble),
        np.array([b"1", b"2"]),
    ],
    ids=lambda cells: str(cells.dtype),
)
def test_types_that_could_join_two_ids_are_refused(cells: Any) -> None:
    """Dates, lists and numbers wider than a double are no ids: DPQL504."""
    with pytest.raises(RunFault, match="DPQL504 column `person`"):
        units({"person": cells, "x": [1, 1]})


# Keys: what is no UTF-8 is no key, not even one that holds the mark of broken text.


@cache
def _key_plan(unit: str | None) -> Plan:
    person = {} if unit is None else {"person": "{type: id}"}
    return plan(
        make_spec(
            {**person, "k": '{type: category, keys: ["M\ufffdller", "5", "n"]}'},
            {
                "keys": {"count": "rows", "by": "[k]", "spend": "{share: 1}"},
                "some": {
                    "count": "rows",
                    "where": 'k == "M\ufffdller"',
                    "spend": "{share: 1}",
                },
            },
            **({} if unit is None else {"unit": unit}),
            **({} if unit is None else {"contributes": "{rows: 1, groups: 1}"}),
        )
    )


def _keys(frame: Any, unit: str | None) -> tuple[list[int], list[int]]:
    decided, engine = _key_plan(unit), engine_named("polars")
    assert engine is not None
    opened = engine.open_frame(frame, decided.spec.data)
    found = engine.add_up(decided, opened, salt=SALT, tick=None)
    return list(found.moments[0]["n"]), list(found.moments[1]["n"])


KEYS = [b"M\xfcller", "M\ufffdller".encode(), b"5", b'5"', b'"5', b"n\xff", b"\xff"]


def _key_kinds(folder: Path) -> dict[str, Any]:
    """Return the broken keys in every format, each with an id of its own."""
    ids = [str(place) for place in range(len(KEYS))]
    (folder / "a.csv").write_bytes(
        b"\n".join([b"person,k", *(b"p%d,%s" % pair for pair in enumerate(KEYS))])
    )
    escaped = [key.replace(b'"', b'\\"') for key in KEYS]
    (folder / "a.ndjson").write_bytes(
        b"\n".join(b'{"person":%d,"k":"%s"}' % pair for pair in enumerate(escaped))
    )
    table = pa.table({"person": ids, "k": pa.array(KEYS).view(pa.string())})
    listed = pa.array(KEYS).dictionary_encode()
    words = pa.DictionaryArray.from_arrays(
        listed.indices, listed.dictionary.view(pa.string())
    )
    coded = pa.table({"person": ids, "k": words})
    for name, some in (("plain", table), ("coded", coded)):
        pq.write_table(some, folder / f"{name}.parquet")
        pq.write_table(some, folder / f"{name}2.parquet", use_dictionary=False)
        with pa.ipc.new_file(folder / f"{name}.arrow", some.schema) as file:
            file.write(some)
    for place, key in enumerate(KEYS):
        name = quote(key) if place % 2 else key.decode("utf-8", "surrogateescape")
        (folder / "table" / f"k={name}").mkdir(parents=True)
        pl.DataFrame({"person": [place]}).write_csv(folder / "b.csv")
        (folder / "b.csv").rename(folder / "table" / f"k={name}" / "b.csv")
    texts = [key.decode("utf-8", "surrogateescape") for key in KEYS]
    return {
        **{path.name: path for path in folder.glob("*.*")},
        "folder": folder / "table",
        "arrow": table,
        "dictionary": coded,
        "pandas": table.to_pandas(types_mapper=pd.ArrowDtype),
        "objects": {"person": ids, "k": texts},
        "numpy": {"person": ids, "k": np.array(texts, object)},
    }


@pytest.mark.parametrize("unit", [None, "person"])
def test_a_broken_key_is_no_declared_key(unit: str | None, tmp_path: Path) -> None:
    """A key with U+FFFD in it is met by that text alone, in every format."""
    for name, kind in _key_kinds(tmp_path).items():
        assert (name, ([1, 1, 0], [1])) == (name, _keys(kind, unit))


def test_one_broken_text_in_csv_changes_no_other_row(tmp_path: Path) -> None:
    """Lines beside broken ones are read as if they stood alone, and so are those."""
    rows = [b"%d,n" % place for place in range(5000)]
    rows[2500:2500] = [b"x\xff,5", b"x\xfe,5", b'"x\xfe",5', b'x\xfe",5', b"\xff"]
    (tmp_path / "a.csv").write_bytes(b"\n".join([b"person,k", *rows]))
    assert ([0, 3, 5000], [0]) == _keys(tmp_path / "a.csv", "person")


def _row(line: str) -> tuple[bytes | None, ...]:
    """Return the cells of a line by the rule of docs/reference/data.md."""
    cells = line.removesuffix("\r").encode().split(b",")
    found = [_unquoted(cell) if cell else None for cell in cells]
    return (*found, None, None, None)[:3]


@given(
    lines=st.lists(
        st.text(st.sampled_from('5a",\r ;\t\0é\ufeff'), min_size=1, max_size=9),
        min_size=1,
        max_size=8,
    )
)
@example(lines=["5,a", "5\r,a"])
@example(lines=["\r,\r\r", "5\r\r"])
@RELAXED
def test_cells_of_csv_are_their_bytes_whichever_way_a_line_is_read(
    lines: list[str],
) -> None:
    """A line is cut at commas and nowhere else; one pair of quotes is all it loses."""
    layout = polars_csv.Layout(
        separator=b",",
        width=3,
        own={"a": 0, "b": 1, "c": 2},
        kinds=dict.fromkeys("abc", Kind.ID),
        wholes={},
    )
    batch = "".join(f"{line}\n" for line in lines).encode()
    for broken in (b"", b"\xff,\xff,\xff\n"):
        frames = polars_csv._frames(batch + broken, {}, "abc", layout)
        rows = Counter(row for frame in frames for row in frame.rows())
        expected = Counter(map(_row, lines))
        if broken:
            expected[(b"\xff",) * 3] += 1
        assert expected == rows


@pytest.mark.parametrize("suffix", ["csv", "tsv"])
def test_a_carriage_return_belongs_to_its_id(suffix: str, tmp_path: Path) -> None:
    """An id that ends in one is another id, and the same in every line of its own."""
    mark = {"csv": b",", "tsv": b"\t"}[suffix]
    path = tmp_path / f"rows.{suffix}"
    head = mark.join([b"person", b"x", b"note"])
    bare, returned = (mark.join([i, b"1", b"a"]) for i in (b"5", b"5\r"))
    path.write_bytes(b"\n".join([head, bare, returned, b""]))
    assert 2 == units(str(path))
    path.write_bytes(b"\n".join([head, returned, returned + b"\xff", b""]))
    assert 1 == units(str(path))
