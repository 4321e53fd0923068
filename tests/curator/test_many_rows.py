"""Counts and sums are right for more rows than 32 bits can count, in every source.

polars counts rows and Booleans in 32 bits, and a sum of 64 bits wraps. Tables of more
than 2**32 rows are cheap to make: their cells are all alike, so files pack them into
nothing, and frames in memory are the same few cells over and over.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from exact_sums import exact_sums
from pyarrow import ipc
from spec_text import make_spec

from dpql.curator.engines import polars as polars_engine
from dpql.curator.sources import open_source
from dpql.model.plan import Plan
from dpql.planner import plan

TOP = (1 << 31) - 1
"""The largest grid whose sum over 2**32 rows fits into 63 bits."""
MANY = (1 << 32) + (1 << 26)
CHUNK = 1 << 26


@cache
def _plan(*, top: int = TOP) -> Plan:
    """Return a plan of counts and sums, with and without filter."""
    share = {"spend": "{share: 1}"}
    return plan(
        make_spec(
            {
                "x": f"{{type: integer, bounds: [0, {top}], nulls: {{as: 0}}}}",
                "key": "{type: category, keys: [a, b]}",
            },
            {
                "everyone": {"count": "rows", "where": "x >= 0", **share},
                "total": {"sum": "x", **share},
                "bins": {"histogram": "x", "bins": f"[0, 1, {top}]", **share},
                "all": {"count": "rows", **share},
            },
        )
    )


@cache
def _grouped() -> Plan:
    """Return a plan of the same sums by key."""
    return plan(
        make_spec(
            {
                "x": f"{{type: integer, bounds: [0, {TOP}], nulls: {{as: 0}}}}",
                "key": "{type: category, keys: [a, b]}",
            },
            {
                "count": {"count": "rows", "by": "[key]", "spend": "{share: 1}"},
                "total": {"sum": "x", "by": "[key]", "spend": "{share: 1}"},
            },
        )
    )


def _moments(made: Plan, frame: object) -> dict[str, Any]:
    sums = exact_sums(made, frame)
    names = [step.name for step in made.steps]
    return {
        f"{name} {moment}": list(numbers)
        for name, moments in zip(names, sums.moments, strict=True)
        for moment, numbers in moments.items()
    } | {"rows": sums.rows}


def _expected(rows: int, x: int) -> dict[str, Any]:
    return {
        "everyone n": [rows],
        "all n": [rows],
        "total n": [rows],
        "total u": [rows * x],
        "bins n": [0, rows],
        "rows": None,
    }


def _lazy(rows: int, x: int, _: Path) -> object:
    """Return the same frame over and over, as one lazy frame."""
    size = max(1, min(rows, CHUNK))
    cells = pl.repeat(x, size, dtype=pl.UInt32, eager=True)
    base = pl.DataFrame({"x": cells, "key": pl.repeat("b", size, eager=True)}).lazy()
    whole, rest = divmod(rows, size)
    return pl.concat([*([base] * whole), base.head(rest)])


def _eager(rows: int, x: int, folder: Path) -> object:
    """Return the same frame over and over, as one frame of many chunks."""
    size = min(rows, CHUNK)
    lazy = _lazy(size, x, folder)
    assert isinstance(lazy, pl.LazyFrame)
    base = lazy.collect()
    whole, rest = divmod(rows, size)
    return pl.concat([*([base] * whole), base.head(rest)], rechunk=False)


def _arrow(rows: int, x: int, folder: Path) -> object:
    """Write one small Arrow file, and copy it until there are rows enough."""
    size = min(rows, MANY // 98 + 1)

    def write(count: int, path: Path) -> None:
        words = pa.DictionaryArray.from_arrays(_alike(0, count, pa.int8()), ["b"])
        batch = pa.record_batch({"x": _alike(x, count, pa.uint32()), "key": words})
        options = ipc.IpcWriteOptions(compression="lz4")
        with ipc.new_file(path, batch.schema, options=options) as file:
            file.write_batch(batch)

    return _copied(rows, size, write, folder, "arrow")


def _parquet(rows: int, x: int, folder: Path) -> object:
    """Write one small Parquet file of many row groups, and copy it as often."""
    size = min(rows, CHUNK)

    def write(count: int, path: Path) -> None:
        group = pa.table(
            {
                "x": _alike(x, min(count, GROUP), pa.int64()),
                "key": pa.DictionaryArray.from_arrays(
                    _alike(0, min(count, GROUP), pa.int8()), ["b"]
                ),
            }
        )
        with pq.ParquetWriter(path, group.schema, compression="zstd") as file:
            for start in range(0, count, GROUP):
                file.write_table(group.slice(0, count - start), GROUP)

    return _copied(rows, size, write, folder, "parquet")


GROUP = 1 << 22
"""Rows of a row group; larger ones are read by Arrow."""


def _alike(x: int, count: int, kind: Any) -> Any:
    return pa.repeat(pa.scalar(x, kind), count)


def _copied(
    rows: int,
    size: int,
    write: Callable[[int, Path], None],
    folder: Path,
    suffix: str,
) -> str:
    whole, rest = divmod(rows, size)
    first = folder / f"0.{suffix}"
    write(size, first)
    for number in range(1, whole):
        shutil.copy(first, folder / f"{number}.{suffix}")
    if rest:
        write(rest, folder / f"rest.{suffix}")
    return str(folder / f"*.{suffix}")


def _text(format_: str) -> Callable[[int, int, Path], object]:
    """Return how rows are written as text, a line each."""

    def write(rows: int, x: int, folder: Path) -> object:
        path = folder / f"rows.{format_}"
        line = f"{x},b\n" if format_ == "csv" else f'{{"x": {x}, "key": "b"}}\n'
        path.write_text(("x,key\n" if format_ == "csv" else "") + line * rows, "utf-8")
        return path

    return write


SOURCES: dict[str, Callable[[int, int, Path], object]] = {
    "lazy": _lazy,
    "eager": _eager,
    "arrow": _arrow,
    "parquet": _parquet,
}
TEXTS = {"csv": _text("csv"), "ndjson": _text("ndjson")}


def _nothing(rows: int, size: int, name: str, folder: Path) -> object:
    """Return rows without any number: cells of type Null, which take no memory."""
    chunk = pl.DataFrame({"x": pl.Series([None] * size, dtype=pl.Null)})
    chunk = chunk.with_columns(key=pl.lit(None))
    if name == "lazy":
        return pl.concat([chunk.lazy()] * (rows // size))
    if name == "eager":
        return pl.concat([chunk] * (rows // size), rechunk=False)
    empty = pa.record_batch({"x": pa.nulls(size), "key": pa.nulls(size)})

    def write(_: int, path: Path) -> None:
        with ipc.new_file(path, empty.schema) as file:
            file.write_batch(empty)

    return _copied(rows, size, write, folder, "arrow")


@pytest.mark.slow
@pytest.mark.parametrize("name", ["lazy", "eager", "arrow"])
def test_more_empty_rows_than_polars_counts(name: str, tmp_path: Path) -> None:
    """2**32 rows are counted, filtered or not, where no cell costs anything."""
    rows = 1 << 32
    share = {"spend": "{share: 1}"}
    made = plan(
        make_spec(
            {"x": "{type: integer, bounds: [0, 9], nulls: {as: 3}}"},
            {
                "all": {"count": "rows", **share},
                "none": {"count": "rows", "where": "x is null", **share},
            },
        )
    )
    source = _nothing(rows, CHUNK, name, tmp_path)
    found = _moments(made, source)
    assert {"all n": [rows], "none n": [rows], "rows": None} == found
    assert rows == open_source(source, made.spec.data).row_count()


@cache
def _squares(unit: str) -> Plan:
    """Return a plan that sums squares: nine pass 2**63, seventeen pass 2**64."""
    return plan(
        make_spec(
            {
                "key": "{type: id}",
                "x": f"{{type: integer, bounds: [0, {TOP}], nulls: {{as: 0}}}}",
            },
            {"spread": {"variance": "x", "spend": "{share: 1}"}},
            unit=unit,
            contributes=None if unit == "row" else "{rows: 1_000, groups: 1}",
        )
    )


@pytest.mark.parametrize("unit", ["row", "key"])
@pytest.mark.parametrize("name", [*SOURCES, *TEXTS])
@pytest.mark.parametrize("rows", [9, 17, 300])
def test_few_rows_of_large_numbers(
    name: str, rows: int, unit: str, tmp_path: Path
) -> None:
    """Sums of large squares are right in every source, by rows and by units."""
    found = _moments(_squares(unit), (SOURCES | TEXTS)[name](rows, TOP, tmp_path))
    assert {
        "spread n": [rows],
        "spread u": [rows * TOP],
        "spread uu": [rows * TOP**2],
        "rows": None,
    } == found


def test_a_planted_sum_of_64_bits_is_seen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where terms of any size are summed without limbs, sums wrap."""
    monkeypatch.setattr(polars_engine, "EXACT_INTEGERS", 1 << 99)
    found = _moments(_squares("row"), _lazy(9, TOP, tmp_path))
    assert [9 * TOP**2] != found["spread uu"]


@pytest.mark.parametrize("rows", [0, 1, 127, 128, 300])
@pytest.mark.parametrize("name", TEXTS)
def test_counts_of_any_width(name: str, rows: int, tmp_path: Path) -> None:
    """Counts where the number of rows is unknown are those of a word of 64 bits."""
    found = _moments(_plan(), TEXTS[name](rows, 5, tmp_path))
    assert _expected(rows, 5) == found


@pytest.mark.slow
@pytest.mark.parametrize("name", SOURCES)
def test_more_rows_than_polars_counts(name: str, tmp_path: Path) -> None:
    """2**32 rows and more are counted, and their sum passes 2**63."""
    found = _moments(_plan(), SOURCES[name](MANY, TOP, tmp_path))
    assert _expected(MANY, TOP) == found
    assert MANY * TOP > 1 << 63


@pytest.mark.slow
def test_sums_beyond_all_words(tmp_path: Path) -> None:
    """Twice as many rows have a sum that passes 2**64."""
    rows = (1 << 33) + (1 << 26)
    assert _expected(rows, TOP) == _moments(_plan(), _lazy(rows, TOP, tmp_path))
    assert rows * TOP > 1 << 64


@pytest.mark.slow
@pytest.mark.parametrize("name", ["lazy", "parquet"])
def test_more_rows_of_a_group_than_polars_counts(name: str, tmp_path: Path) -> None:
    """Groups of more than 2**32 rows are counted and added up too."""
    found = _moments(_grouped(), SOURCES[name](MANY, TOP, tmp_path))
    expected = {"count n": [0, MANY], "total n": [0, MANY], "total u": [0, MANY * TOP]}
    assert {**expected, "rows": None} == found
