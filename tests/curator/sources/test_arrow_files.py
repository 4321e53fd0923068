"""Parquet and Arrow files: headers decide whether, and by whom, a file is read."""

from __future__ import annotations

import decimal
import uuid
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa
import pytest
from tables import (
    FILES,
    ID,
    WHOLE,
    category,
    declare,
    ordered,
    raw_text,
    rows,
    write_ipc,
    write_parquet,
)

from dpql.curator.sources import open_source
from dpql.errors import RunFault

DATA = declare(x=WHOLE, k=category("north", "1"), p=ID)
ROWS = [(1, "north", b"a"), (2, None, b"b"), (3, "1", b"a"), (4, None, None)]
FORMS = ["table", "batch", "stream", "parquet", "arrow"]

_DAY = datetime(2020, 1, 1, tzinfo=UTC)
_ODD: dict[str, Callable[[], pa.Array]] = {
    "timestamp": lambda: pa.array([_DAY] * 4, pa.timestamp("ns", "UTC")),
    "date64": lambda: pa.array([date(2020, 1, 1)] * 4, pa.date64()),
    "duration": lambda: pa.array([1] * 4, pa.duration("s")),
    "list": lambda: pa.array([[1]] * 4),
    "map": lambda: pa.array([[("a", 1)]] * 4, pa.map_(pa.string(), pa.int64())),
    "struct": lambda: pa.array([{"secret": 1}] * 4),
    "uuid": lambda: pa.array([uuid.UUID(int=1).bytes] * 4, pa.uuid()),
    "json": lambda: pa.array(["{}"] * 4, pa.json_()),
    "dictionary": lambda: pa.array([_DAY] * 4).dictionary_encode(),
}
_NOT_IN_PARQUET: dict[str, Callable[[], pa.Array]] = {
    "interval": lambda: pa.array([(1, 2, 3)] * 4, pa.month_day_nano_interval()),
    "list_view": lambda: pa.array([[1]] * 4, pa.list_view(pa.int64())),
    "union": lambda: pa.UnionArray.from_sparse(
        pa.array([0] * 4, pa.int8()), [pa.array([1] * 4), pa.array(["a"] * 4)]
    ),
    "run_end": lambda: pa.RunEndEncodedArray.from_arrays(
        pa.array([4], pa.int32()), pa.array([5])
    ),
}
_CASES = [(name, form) for name in _ODD for form in FORMS]
_CASES += [(n, form) for n in _NOT_IN_PARQUET for form in FORMS if form != "parquet"]


def _table(**columns: Any) -> pa.Table:
    kept = {"x": [1, 2, 3, 4], "k": ["north", "x", "1", None], "p": ["a", "b", "a", ""]}
    return pa.table({**kept, **columns})


def _stored(table: pa.Table, form: str, folder: Path) -> Any:
    match form:
        case "parquet":
            return write_parquet(table, folder)
        case "arrow":
            return write_ipc(table, folder / "rows.arrow")
        case "stream":
            return table.to_reader()
        case "batch":
            return table.combine_chunks().to_batches()[0]
    return table


def _refused(frame: object) -> str:
    with pytest.raises(RunFault) as caught:
        open_source(frame, DATA)
    return str(caught.value)


@pytest.mark.parametrize(("name", "form"), _CASES)
def test_odd_columns_matter_only_where_they_are_declared(
    name: str, form: str, tmp_path: Path
) -> None:
    """A type that has no cells of ours is ignored, and refused by name if declared."""
    odd = (_ODD | _NOT_IN_PARQUET)[name]()
    assert ROWS == rows(_stored(_table(unused=odd), form, tmp_path), DATA)
    for column in ("x", "k", "p"):
        declared = _stored(_table(**{column: odd}), form, tmp_path)
        found = _refused(declared)
        assert f"DPQL504 column `{column}` is of type" in found
        assert "secret" not in found


@pytest.mark.parametrize("form", FORMS)
def test_bytes_are_ids_and_nothing_else(form: str, tmp_path: Path) -> None:
    """Of any binary type, of a fixed size, too."""
    cells = [b"a\x00", b"\xff\xff", b"a\x00", None]
    wanted = [(1, "north", b"a\x00"), (2, None, b"\xff\xff"), (3, "1", b"a\x00")]
    for dtype in (pa.binary(), pa.large_binary(), pa.binary_view(), pa.binary(2)):
        held = pa.array(cells, dtype)
        found = rows(_stored(_table(p=held), form, tmp_path), DATA)
        assert ordered([*wanted, ROWS[3]]) == found
        for name in ("x", "k"):
            found = _refused(_stored(_table(**{name: held}), form, tmp_path))
            assert f"DPQL504 column `{name}` is of type" in found


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    "cells",
    [
        pa.array([1, 2, 3, None], pa.float16()),
        pa.array([decimal.Decimal(n) for n in (1, 2, 3)] + [None], pa.decimal128(5, 1)),
        pa.array(
            [decimal.Decimal(n) for n in (1, 2, 3)] + [None], pa.decimal256(60, 1)
        ),
        pa.array([1, 2, 3, None], pa.uint64()),
        pa.array([1, 2, 3, None]).dictionary_encode(),
        pa.array(["1", "2", "3", None]).dictionary_encode(),
        pa.array(["1", "2", "3", "x"], pa.string_view()),
        raw_text([b"1", b"2", b"3", b"4\xff"]),
        raw_text([b"1", b"2", b"3", b"4\xff"], "dictionary"),
        pa.array([decimal.Decimal(n) for n in (1, 2, 3)] + [None], pa.decimal32(5, 1)),
        pa.array([decimal.Decimal(n) for n in (1, 2, 3)] + [None], pa.decimal64(5, 1)),
    ],
    ids=lambda cells: str(cells.type),
)
def test_numbers_are_read_from_every_type_that_holds_them(
    cells: pa.Array, form: str, tmp_path: Path
) -> None:
    """The last cell is null in each."""
    wanted = ordered([*ROWS[:3], (None, *ROWS[3][1:])])
    assert wanted == rows(_stored(_table(x=cells), form, tmp_path), DATA)


@pytest.mark.parametrize("form", FORMS)
def test_decimals_of_256_bits_are_no_ids(form: str, tmp_path: Path) -> None:
    """Cast them to text, as docs/reference/data.md says."""
    cells = pa.array([decimal.Decimal(1)] * 4, pa.decimal256(60, 2))
    for name in ("k", "p"):
        found = _refused(_stored(_table(**{name: cells}), form, tmp_path))
        assert f"DPQL504 column `{name}` is of type decimal256" in found


@pytest.mark.parametrize("form", FORMS)
def test_a_column_of_nothing_is_null_everywhere(form: str, tmp_path: Path) -> None:
    """The null type holds anything, for it holds nothing."""
    table = _table(x=pa.nulls(4), k=pa.nulls(4), p=pa.nulls(4))
    assert [(None, None, None)] * 4 == rows(_stored(table, form, tmp_path), DATA)


@pytest.mark.parametrize("suffix", ["parquet", "arrow"])
def test_polars_reads_only_the_files_that_arrow_cannot(
    suffix: str, tmp_path: Path
) -> None:
    """A broken text beside a file with integers of 128 bits ends no run."""
    wide = pl.DataFrame({"x": [1, 2], "k": ["north", "east"], "p": [10**30, None]})
    FILES[suffix](wide.cast({"p": pl.Int128}), tmp_path / f"0.{suffix}")
    table = _table(k=raw_text([b"north", b"\xff", b"1", None]))
    _stored(table, suffix, tmp_path)
    wanted = [*ROWS, (1, "north", b"1" + b"0" * 30), (2, None, None)]
    assert ordered(wanted) == rows(tmp_path, DATA)
    (tmp_path / "p=%FF").mkdir()
    FILES[suffix](wide.cast({"p": pl.Int128}), tmp_path / "p=%FF" / f"0.{suffix}")
    found = rows(tmp_path / "p=*", DATA)
    assert [(1, "north"), (2, None)] == [row[:2] for row in found]


@pytest.mark.parametrize("suffix", ["parquet", "arrow"])
def test_a_name_that_is_no_text_is_a_damaged_header(
    suffix: str, tmp_path: Path
) -> None:
    """A header with a broken name, declared or not, is refused in our words."""
    path = _stored(_table(stranger=[1, 2, 3, 4]), suffix, tmp_path)
    path.write_bytes(path.read_bytes().replace(b"stranger", b"str\xff\xfeger"))
    assert "DPQL502" in _refused(path)


@pytest.mark.parametrize("suffix", ["parquet", "arrow"])
def test_a_file_that_changes_before_it_is_read_is_not_read(
    suffix: str, tmp_path: Path
) -> None:
    """What was opened is what is read: another file in its place ends the run."""
    path = _stored(_table(), suffix, tmp_path)
    source = open_source(path, DATA)
    path.unlink()
    _stored(pa.concat_tables([_table()] * 50), suffix, tmp_path)
    with pytest.raises(OSError, match="a file changes while it is read"):
        list(source.batches(["x"], len))


@pytest.mark.heavy
@pytest.mark.parametrize("suffix", ["parquet", "arrow"])
def test_a_file_that_is_cut_short_ends_no_process(suffix: str, tmp_path: Path) -> None:
    """Not even after it was opened for reading; what was read before may suffice."""
    table = pa.table({"x": range(10**6), "k": ["1"] * 10**6, "p": range(10**6)})
    if suffix == "parquet":
        path = write_parquet(table, tmp_path, row_group_size=1000)
    else:
        path = write_ipc(table, tmp_path / "rows.arrow", max_chunksize=1000)
    batches = open_source(path, DATA).batches(["x"], len)
    next(batches)
    path.write_bytes(b"")
    with suppress(OSError, pa.ArrowException):
        list(batches)


@pytest.mark.parametrize("suffix", ["parquet", "arrow"])
@pytest.mark.parametrize("error", [PermissionError, FileNotFoundError])
def test_files_that_cannot_be_opened_are_refused(
    suffix: str, error: type[OSError], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file that is there and closed is a fault of the location: DPQL501."""
    path = _stored(_table(), suffix, tmp_path)

    def closed(*_: object) -> None:
        raise error("secret")

    monkeypatch.setattr(pa, "OSFile", closed)
    found = _refused(path)
    assert "DPQL501" in found
    assert "secret" not in found
