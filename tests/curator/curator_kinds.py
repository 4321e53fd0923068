"""One table as every kind of data that a run accepts, and nasty cells to fill it."""

from __future__ import annotations

import datetime as dt
import json
import math
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
from hypothesis import strategies as st

PANDAS = {
    pl.Int64: ("Int64", "int64[pyarrow]"),
    pl.Float64: ("Float64", "float64", "double[pyarrow]"),
    pl.String: ("str", "object", "string[python]", "string[pyarrow]", "category"),
    pl.Float32: ("Float32", "float32", "float[pyarrow]"),
    pl.Int8: ("Int8", "int8[pyarrow]"),
    pl.UInt64: ("UInt64", "uint64[pyarrow]"),
    pl.Boolean: ("boolean", "object", "bool[pyarrow]"),
    pl.Null: ("object",),
    pl.Categorical: ("category", "object"),
}
"""For each type of polars, types of pandas that hold the same cells."""


class Strange:
    """An object that fails whatever it is asked."""

    def _fail(self, *_: object) -> Any:
        raise RuntimeError

    __str__ = __float__ = __int__ = __index__ = __bool__ = __len__ = _fail
    __iter__ = __array__ = item = _fail


def pandas_frame(frame: pl.DataFrame, choose: Callable[[Sequence[str]], str]) -> Any:
    """Return the table in pandas, of types that are chosen, with a useless index."""
    columns = {}
    for series in frame:
        cells = series.to_list()
        kind = choose(PANDAS[series.dtype.base_type()])
        if kind in ("float64", "float32"):
            cells = [float("nan") if cell is None else cell for cell in cells]
        columns[series.name] = pd.Series(pd.array(cells, dtype=kind), dtype=kind)
    table = pd.DataFrame(columns)
    table["unused"] = pd.Series([JUNK[i % len(JUNK)] for i in range(len(table))])
    return table.set_index(pd.Index(["same"] * len(table)))


def columnar(frame: pl.DataFrame, folder: Path) -> dict[str, Any]:
    """Return the table as everything that keeps its types."""
    frame = frame.with_columns(pl.lit([1, 2]).alias("unused"))
    table = frame.to_arrow()
    frame.write_parquet(folder / "rows.parquet")
    frame.write_ipc(folder / "rows.arrow")
    return {
        "polars": frame,
        "lazy": frame.lazy(),
        "parquet": folder / "rows.parquet",
        "ipc": str(folder / "rows.arrow"),
        "arrow": table,
        "batches": pa.RecordBatchReader.from_batches(table.schema, table.to_batches()),
        "duckdb": duckdb.from_arrow(table),
        "columns": {series.name: series for series in frame},
    }


def lines(rows: Sequence[Mapping[str, Any]], path: Path) -> str:
    """Write the rows as lines of JSON."""
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return str(path)


WRITE: dict[str, Callable[[pl.DataFrame, Path], Any]] = {
    "parquet": lambda frame, path: frame.write_parquet(path),
    "pq": lambda frame, path: frame.write_parquet(path),
    "arrow": lambda frame, path: frame.write_ipc(path),
    "csv": lambda frame, path: frame.write_csv(path),
    "tsv": lambda frame, path: frame.write_csv(path, separator="\t"),
    "ndjson": lambda frame, path: frame.write_ndjson(path),
    "jsonl": lambda frame, path: frame.write_ndjson(path),
}
"""Suffix -> how a table is written."""

Writer = Callable[[pl.DataFrame, Path], Any]


def _written(suffix: str) -> Writer:
    """Return how a table becomes a file of the suffix, in a folder."""

    def write(frame: pl.DataFrame, folder: Path) -> str:
        WRITE[suffix](frame, folder / f"rows.{suffix}")
        return str(folder / f"rows.{suffix}")

    return write


def _scattered(frame: pl.DataFrame, folder: Path) -> str:
    """Write every fifth row to one of five files."""
    for number in range(5):
        part = frame.gather_every(5, number)
        part.write_parquet(folder / f"{number}.parquet", row_group_size=7)
    return str(folder / "*.parquet")


def _by_pyarrow(frame: pl.DataFrame, folder: Path) -> str:
    pq.write_table(frame.to_arrow(), folder / "a.parquet", row_group_size=11)
    return str(folder / "a.parquet")


def _by_duckdb(frame: pl.DataFrame, folder: Path) -> str:
    relation = duckdb.from_arrow(frame.to_arrow())
    relation.write_parquet(str(folder / "d.parquet"))
    return str(folder / "d.parquet")


def _database(frame: pl.DataFrame, folder: Path) -> str:
    with duckdb.connect(str(folder / "rows.duckdb")) as connection:
        connection.register("given", frame.to_arrow())
        connection.execute("CREATE TABLE rows AS SELECT * FROM given")
    return f"duckdb:{folder / 'rows.duckdb'}#rows"


def _json_lines(frame: pl.DataFrame, folder: Path) -> str:
    """Write lines of JSON, which has no words for what is not finite but text."""
    rows = [
        {name: cell if _is_json(cell) else str(cell) for name, cell in row.items()}
        for row in frame.to_dicts()
    ]
    return lines(rows, folder / "rows.ndjson")


def _is_json(cell: Any) -> bool:
    return not isinstance(cell, float) or math.isfinite(cell)


def _reader(frame: pl.DataFrame, _: Path) -> Any:
    table = frame.to_arrow()
    return pa.RecordBatchReader.from_batches(table.schema, table.to_batches(9))


SOURCES: dict[str, Writer] = {
    "frame": lambda frame, _: frame,
    "chunks": lambda frame, _: pl.concat(
        [frame.slice(at, 13) for at in range(0, frame.height, 13)], rechunk=False
    ),
    "lazy": lambda frame, _: frame.lazy(),
    "mapping": lambda frame, _: frame.to_dict(as_series=False),
    "pandas": lambda frame, _: frame.to_pandas(),
    "pyarrow": lambda frame, _: frame.to_arrow(),
    "stream": _reader,
    "relation": lambda frame, _: duckdb.from_arrow(frame.to_arrow()),
    "database": _database,
    "files": _scattered,
    "parquet by pyarrow": _by_pyarrow,
    "parquet by duckdb": _by_duckdb,
    **{suffix: _written(suffix) for suffix in WRITE if "json" not in suffix},
    "ndjson": _json_lines,
}
"""Every kind of source, and how a table becomes one: a new source is a line here."""

JUNK: list[Any] = [
    [1],
    {"a": 1},
    b"17",
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
    np.datetime64("2020-01-01", "ns"),
    np.timedelta64(17, "ns"),
    np.array([17, 18]),
    np.void(b"17"),
]
"""Cells that are neither numbers nor words."""

JSON: st.SearchStrategy[Any] = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-5, 120),
    st.floats(-60, 160),
    st.floats(),
    st.sampled_from([2**53 + 1, 2**63, -(2**63) - 1, 10**30, 10**400]),
    st.sampled_from(["north", "élan", "日本", "1", "a", "b", "17", "17.5", '"17"']),
    st.sampled_from(["", " 1", "nan", "-inf", "1e400", "0x1", "\x00", "\ud800", "x"]),
    st.text(max_size=3),
    st.sampled_from([[1], {"a": 1}, [], {}]),
)
CELLS: st.SearchStrategy[Any] = st.one_of(
    JSON,
    st.sampled_from([10**2000, -(10**2000)]),
    st.sampled_from(["17", "17.5", "12.34", "1E+3", "NaN", "sNaN", "-Infinity"]).map(
        Decimal
    ),
    st.sampled_from(
        [np.int64(17), np.float32(0.5), np.True_, np.str_("north"), np.float64(2.5)]
    ),
    st.integers(0, len(JUNK) - 1).map(lambda place: JUNK[place]),
)
