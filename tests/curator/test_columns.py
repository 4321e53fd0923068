"""Columns are found by name and judged by type, whatever holds them."""

from __future__ import annotations

import decimal
import uuid
from collections import deque
from collections.abc import Callable
from datetime import UTC, date, datetime
from functools import cache
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from spec_text import make_spec

from dpql.curator.engines import engine_named
from dpql.errors import RunFault
from dpql.model.plan import Plan
from dpql.planner import plan

SALT = b"s" * 32
SHARE = "{share: 1}"
LATIN = [b"north", b"\xff\xfe", b"south", b"north"]


@cache
def made(number: str = "x", word: str = "k") -> Plan:
    """Return a plan that sums one column and counts the keys of another."""
    return plan(
        make_spec(
            {
                f'"{_escaped(number)}"': "{type: integer, bounds: [0, 100], "
                "nulls: {as: 7}}",
                f'"{_escaped(word)}"': "{type: category, keys: [north, south, '1']}",
            },
            {
                "total": {"sum": f'"{_escaped(number)}"', "spend": SHARE},
                "keys": {
                    "count": "rows",
                    "by": f'["{_escaped(word)}"]',
                    "spend": SHARE,
                },
            },
        )
    )


def _escaped(name: str) -> str:
    return name.replace("\\", "\\\\").replace('"', '\\"')


def sums(frame: Any, decided: Plan | None = None) -> tuple[int, list[int]]:
    """Return the sum and the counts of a table."""
    decided = decided or made()
    engine: Any = engine_named("polars")
    opened = engine.open_frame(frame, decided.spec.data)
    found = engine.add_up(decided, opened, salt=SALT, tick=None)
    return found.moments[0]["u"][0], list(found.moments[1]["n"])


def refused(frame: Any) -> str:
    """Return the one fault of a table."""
    with pytest.raises(RunFault) as caught:
        sums(frame)
    return str(caught.value)


def _text(raw: list[bytes], kind: Any) -> pa.Array:
    """Return Arrow text that holds any bytes."""
    flat = pa.array(raw, pa.large_binary() if kind == pa.large_string() else None)
    if kind == pa.string_view():
        return pa.array(raw, pa.binary_view()).view(kind)
    return flat.view(kind)


DAY = datetime(2020, 1, 1, tzinfo=UTC)
STRANGE: dict[str, Callable[[], pa.Array]] = {
    "decimal256": lambda: pa.array([decimal.Decimal(1)] * 4, pa.decimal256(76, 2)),
    "timestamp": lambda: pa.array([DAY] * 4, pa.timestamp("ns", "UTC")),
    "date64": lambda: pa.array([date(2020, 1, 1)] * 4, pa.date64()),
    "duration": lambda: pa.array([1] * 4, pa.duration("s")),
    "interval": lambda: pa.array([(1, 2, 3)] * 4, pa.month_day_nano_interval()),
    "list": lambda: pa.array([[1]] * 4),
    "list_view": lambda: pa.array([[1]] * 4, pa.list_view(pa.int64())),
    "map": lambda: pa.array([[("a", 1)]] * 4, pa.map_(pa.string(), pa.int64())),
    "struct": lambda: pa.array([{"a": 1}] * 4),
    "union": lambda: pa.UnionArray.from_sparse(
        pa.array([0] * 4, pa.int8()), [pa.array([1] * 4), pa.array(["a"] * 4)]
    ),
    "binary": lambda: pa.array([b"17"] * 4),
    "run_end": lambda: pa.RunEndEncodedArray.from_arrays(
        pa.array([4], pa.int32()), pa.array([5])
    ),
    "uuid": lambda: pa.array([uuid.UUID(int=1).bytes] * 4, pa.uuid()),
    "json": lambda: pa.array(["{}"] * 4, pa.json_()),
    "dictionary": lambda: pa.array([DAY] * 4).dictionary_encode(),
}
HELD = {"decimal256"}
"""Types that polars does not have, and Arrow can put into one that it has."""


def _table(**columns: Any) -> pa.Table:
    base = {
        "x": pa.array([1, 2, 3, 4]),
        "k": pa.array(["north", "north", "south", "1"]),
    }
    return pa.table({**base, **columns})


def _stored(table: pa.Table, form: str, folder: Path) -> Any:
    if form == "parquet":
        pq.write_table(table, folder / "rows.parquet")
        return folder / "rows.parquet"
    if form == "ipc":
        with pa.ipc.new_file(folder / "rows.arrow", table.schema) as file:
            file.write(table)
        return folder / "rows.arrow"
    if form == "reader":
        return pa.RecordBatchReader.from_batches(table.schema, table.to_batches())
    return table if form == "table" else table.combine_chunks().to_batches()[0]


FORMS = ["table", "batch", "reader", "parquet", "ipc"]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("kind", STRANGE)
def test_strange_columns_matter_only_where_they_are_declared(
    kind: str, form: str, tmp_path: Path
) -> None:
    """A type that polars cannot hold is ignored, and refused by name if declared."""
    try:
        unused = _stored(_table(unused=STRANGE[kind]()), form, tmp_path)
    except (pa.ArrowNotImplementedError, pa.ArrowInvalid):
        pytest.skip("this type cannot be stored so")
    assert (10, [2, 1, 1]) == sums(unused)
    for name in ("x", "k"):
        if name == "x" and kind in HELD:
            continue
        declared = _stored(_table(**{name: STRANGE[kind]()}), form, tmp_path)
        assert f"DPQL504 column `{name}` is of type" in refused(declared)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    "kind", [pa.string(), pa.large_string(), pa.string_view()], ids=str
)
def test_text_that_is_no_utf8_is_a_text_like_others(
    kind: Any, form: str, tmp_path: Path
) -> None:
    """A broken text is no key and no number; its neighbours are what they were."""
    broken = _table(k=_text(LATIN, kind))
    assert (10, [2, 1, 0]) == sums(_stored(broken, form, tmp_path))
    numbers = _table(x=_text([b"1", b"2\xff", b"3", b"4"], kind))
    assert (15, [2, 1, 1]) == sums(_stored(numbers, form, tmp_path))


@pytest.mark.parametrize("form", ["table", "batch", "reader", "pandas"])
@pytest.mark.parametrize(
    "kind", [pa.string(), pa.large_string(), pa.string_view()], ids=str
)
def test_polars_gets_no_text_that_is_no_utf8(
    kind: Any, form: str, tmp_path: Path
) -> None:
    """Text of keys becomes bytes before polars trusts it."""
    table = _table(k=_text(LATIN, kind))
    if form == "pandas":
        frame = table.to_pandas(types_mapper=pd.ArrowDtype)
    else:
        frame = _stored(table, form, tmp_path)
    opened = engine_named("polars").open_frame(frame, made().spec.data)  # type: ignore[union-attr]
    ((_, rows),) = opened.portions([["k"]])
    assert pl.Series("k", LATIN, pl.Binary).to_list() == [*rows.collect()["k"]]


@pytest.mark.parametrize("form", FORMS)
def test_a_dictionary_of_broken_text_is_decoded(form: str, tmp_path: Path) -> None:
    """The words of a dictionary need not be UTF-8 either."""
    words = pa.DictionaryArray.from_arrays(
        pa.array([0, 1, None, 2], pa.int8()), _text(LATIN[:3], pa.string())
    )
    assert (10, [1, 1, 0]) == sums(_stored(_table(k=words), form, tmp_path))


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    "cells",
    [
        pa.array([1, 2, 3, None], pa.float16()),
        pa.array([decimal.Decimal(n) for n in (1, 2, 3)] + [None], pa.decimal128(5, 1)),
        pa.array([decimal.Decimal(n) for n in (1, 2, 3)] + [None], pa.decimal256(5, 1)),
        pa.array([1, 2, 3, None], pa.uint64()),
        pa.array([1, 2, 3, None]).dictionary_encode(),
        pa.array(["1", "2", "3", None]).dictionary_encode(),
        pa.array(["1", "2", "3", "x"], pa.string_view()),
    ],
    ids=lambda cells: str(cells.type),
)
def test_numbers_are_read_from_every_type_that_holds_them(
    cells: pa.Array, form: str, tmp_path: Path
) -> None:
    """The last cell is missing in each, and counts as the fill."""
    assert (13, [2, 1, 1]) == sums(_stored(_table(x=cells), form, tmp_path))


@pytest.mark.parametrize("form", FORMS)
def test_a_column_of_nothing_is_missing_everywhere(form: str, tmp_path: Path) -> None:
    """The null type holds anything, for it holds nothing."""
    table = _table(x=pa.nulls(4), k=pa.nulls(4))
    assert (28, [0, 0, 0]) == sums(_stored(table, form, tmp_path))


def test_streams_that_are_no_table_are_refused() -> None:
    """A stream of single values has no columns."""
    assert "DPQL502" in refused(pa.chunked_array([[1, 2]]))


NAMES = [
    "^x$",
    "^.*$",
    "*",
    "=",
    "=*",
    "==",
    "=^x$",
    "a\\b",
    'a"b',
    "a'b",
    "a.b",
    "$",
    "$.x",
    "[0]",
    "a]b",
    "cell",
    "bin",
    "key:x",
    "c0",
    "unit",
    "hash",
    "line",
    "path of x k",
    "keep0",
    "cells0",
    "len",
    "literal",
    "text",
    "float",
    "missing",
    "sum c0 of all",
    "x_duplicated_0",
    "é",
]


@pytest.mark.parametrize("name", NAMES)
def test_no_name_of_a_column_means_anything(name: str, tmp_path: Path) -> None:
    """Patterns, paths and words of the engine are names like others, in every kind."""
    frame = pl.DataFrame({"x": [9, 9], "other": [9, 9]}).select(
        "x", "other", pl.Series(name, [1, 2]), pl.Series("k", ["north", "1"])
    )
    frame.write_parquet(tmp_path / "rows.parquet")
    frame.write_ipc(tmp_path / "rows.arrow")
    frame.write_ndjson(tmp_path / "rows.ndjson")
    kinds: list[Any] = [
        frame,
        frame.lazy(),
        frame.to_arrow(),
        frame.to_pandas(),
        frame.to_dict(as_series=False),
        duckdb.from_arrow(frame.to_arrow()),
        *tmp_path.glob("rows.*"),
    ]
    if '"' not in name:
        frame.write_csv(tmp_path / "text.csv", quote_style="never")
        kinds.append(tmp_path / "text.csv")
    for kind in kinds:
        assert (3, [1, 0, 1]) == sums(kind, made(name))
    words = frame.rename({"k": "x1", name: "n"}).rename({"x1": name})
    for kind in (words, words.to_arrow(), words.to_pandas()):
        assert (3, [1, 0, 1]) == sums(kind, made("n", name))


@pytest.mark.parametrize(
    ("number", "word"), [("*", "=*"), ("^x$", "=^x$"), ("=", "=="), ("==*", "=*")]
)
def test_names_that_are_made_safe_stay_apart(number: str, word: str) -> None:
    """No mark makes one name of two."""
    frame = pl.DataFrame({number: [1, 2], word: ["north", "1"]})
    assert (3, [1, 0, 1]) == sums(frame, made(number, word))


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
        pd.Series([b"1"], dtype=pd.ArrowDtype(pa.binary())),
    ],
    ids=lambda cells: str(cells.dtype),
)
def test_types_of_pandas_are_refused_by_name(cells: Any) -> None:
    """Dates and lists hold neither numbers nor words; unused, they may be there."""
    good = pd.DataFrame({"x": [1], "k": ["north"]})
    assert (1, [1, 0, 0]) == sums(good.assign(unused=cells))
    assert "DPQL504 column `x` is of type" in refused(good.assign(x=cells))
    assert "DPQL504 column `k` is of type" in refused(good.assign(k=cells))


@pytest.mark.parametrize(
    "cells",
    [
        pd.Series([1, None, 3], dtype="Int64"),
        pd.Series([1, None, 3], dtype="object"),
        pd.Series(["1", None, "3"], dtype="str"),
        pd.Series([1, None, 3], dtype="Float64"),
        pd.Series([1, None, 3]),
        pd.Series([1, None, 3], dtype="category"),
        pd.Series(["1", None, 3], dtype="object").astype("category"),
        pd.Series(pd.arrays.SparseArray([1.0, float("nan"), 3.0])),
        pd.Series([1, None, 3], dtype="int8[pyarrow]"),
        pd.Series([1, float("nan"), 3], dtype="float16"),
        pd.Series([1, None, 3], dtype=pd.ArrowDtype(pa.decimal128(9, 2))),
    ],
    ids=lambda cells: str(cells.dtype),
)
def test_types_of_pandas_hold_the_same_numbers(cells: Any) -> None:
    """One, nothing and three, however they are stored."""
    frame = pd.DataFrame({"x": cells, "k": ["north"] * 3})
    assert (11, [3, 0, 0]) == sums(frame)
    if not str(cells.dtype).startswith("decimal"):
        assert (6, [0, 0, 1]) == sums(frame.assign(x=[1, 2, 3], k=cells))


def test_labels_of_pandas_are_names() -> None:
    """Numbers are labels too, labels of several levels are not, none may be twice."""
    decided = made("2020")
    frame = pd.DataFrame({2020: [1, 2], "k": ["north"] * 2, None: [1, 2], (1, 2): 3})
    assert (3, [2, 0, 0]) == sums(frame, decided)
    levels = pd.DataFrame(
        [[1, "north"]], columns=pd.MultiIndex.from_tuples([(1, "x")] * 2)
    )
    assert "DPQL503" in refused(levels)
    twice = pd.DataFrame([[1, 2, "north"]], columns=["x", "x", "k"])
    assert "DPQL503 column `x` is there twice" in refused(twice)
    assert (1, [1, 0, 0]) == sums(
        pd.DataFrame([[1, 2, 3, "north"]], columns=["x", "y", "y", "k"])
    )


@pytest.mark.parametrize(
    "cells",
    [
        [1, 2],
        (1, 2),
        range(1, 3),
        np.array([1, 2], ">i2"),
        np.array([1, 2], np.longdouble),
        np.array([1, 2], np.float16),
        np.array(["1", "2"]),
        np.array([1, 2], object),
        np.arange(5)[1:3],
        pl.Series([1, 2]),
        pd.Series([1, 2]),
        pd.Index([1, 2]),
        pd.array([1, 2]),
        pa.array([1, 2]),
        pa.chunked_array([["1"], ["2"]]),
        pa.array(["1", "2"]).dictionary_encode(),
        deque([1, 2]),
        ["1", 2.0],
    ],
    ids=lambda cells: f"{type(cells).__name__} {getattr(cells, 'dtype', '')}",
)
def test_columns_of_a_mapping_may_be_any_sequence(cells: Any) -> None:
    """Lists, arrays and series hold cells."""
    assert (3, [2, 0, 0]) == sums({"x": cells, "k": ["north"] * 2, "unused": object()})


def test_masked_cells_are_missing() -> None:
    """What a masked array hides does not count."""
    masked = np.ma.array([50, 2], mask=[True, False])
    assert (9, [2, 0, 0]) == sums({"x": masked, "k": ["north"] * 2})
    words = np.ma.array(["north", "south"], mask=[True, False], dtype=object)
    assert (3, [0, 1, 0]) == sums({"x": [1, 2], "k": words})


@pytest.mark.parametrize(
    "cells",
    [
        "17",
        b"17",
        17,
        None,
        {1: 2},
        {1, 2},
        iter([1, 2]),
        memoryview(b"17"),
        pl.Series([object(), object()], dtype=pl.Object),
        np.array([b"1", b"2"]),
        np.array([[1], [2]]),
        np.array(["2020-01-01"] * 2, "datetime64[s]"),
        np.array([1, 2], "timedelta64[s]"),
        np.array([1j, 2]),
    ],
    ids=lambda cells: f"{type(cells).__name__} {getattr(cells, 'dtype', '')}",
)
def test_what_is_no_column_is_refused(cells: Any) -> None:
    """A column of a mapping is a sequence of cells, of a type that can be read."""
    assert "DPQL504 column `x`" in refused({"x": cells, "k": ["north"] * 2})


def test_columns_of_a_mapping_are_equally_long() -> None:
    """Rows need a cell in every declared column, and only there."""
    assert "DPQL502" in refused({"x": [1, 2, 3], "k": ["north"]})
    assert "DPQL503" in refused({"x": [1]})
    assert "DPQL503" in refused({})
    assert (1, [1, 0, 0]) == sums({"x": [1], "k": ["north"], "unused": [], 5: None})


def test_a_relation_computes_only_what_is_declared() -> None:
    """A column that fails on every row does not matter while nobody declares it."""
    relation = duckdb.sql(
        """select 1 as x, 'north' as k, cast('no number' as integer) as unused"""
    )
    assert (1, [1, 0, 0]) == sums(relation)


def test_the_name_of_a_type_tells_nothing_of_its_members() -> None:
    """Neither the fields of a struct nor the words of an enum are repeated."""
    struct = pl.DataFrame({"x": [{"secret": 1}], "k": ["north"]})
    for frame in (struct, struct.to_arrow()):
        assert "secret" not in refused(frame)
