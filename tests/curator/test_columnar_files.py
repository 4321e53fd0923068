"""Files of columns as other programs write them: encodings, types, names, damage."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import duckdb
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from spec_text import make_spec
from test_parity import answer

from dpql.curator.engines import arrow_files, polars_engine
from dpql.errors import RunFault
from dpql.model.plan import Plan
from dpql.planner import plan

pytestmark = pytest.mark.usefixtures("lane")

WORDS = ["north", None, "south", "east", "north", "north"]
DELTAS = ["DELTA_BYTE_ARRAY", "DELTA_LENGTH_BYTE_ARRAY"]


def _decided() -> Plan:
    columns = {
        "k": "{type: category, keys: [north, south]}",
        "x": "{type: integer, bounds: [0, 100], nulls: {as: 0}}",
    }
    statistics = {
        "n": {"count": "rows", "by": "[k]", "spend": "{share: 1}"},
        "s": {"sum": "x", "spend": "{share: 1}"},
    }
    return plan(make_spec(columns, statistics))


def _found(place: Path) -> tuple[list[int], int]:
    """Return the rows of each key, and the sum of the numbers."""
    moments = answer(polars_engine, _decided(), place).moments
    return list(moments[0]["n"]), moments[1]["u"][0]


def _table(words: Any) -> pa.Table:
    return pa.table({"k": words, "x": range(len(words))})


def _broken(*cells: bytes) -> Any:
    return pa.array(cells, pa.binary()).view(pa.string())


@pytest.mark.parametrize("listed", [True, False])
@pytest.mark.parametrize("encoding", ["PLAIN", *DELTAS])
def test_words_may_be_encoded_in_any_way(
    encoding: str, *, listed: bool, tmp_path: Path
) -> None:
    """Arrow reads only some encodings as words of a dictionary; others as text."""
    words = pa.array(WORDS)
    pq.write_table(
        _table(words.dictionary_encode() if listed else words),
        tmp_path / "rows.parquet",
        use_dictionary=False,
        column_encoding={"k": encoding},
        row_group_size=2,
    )
    assert _found(tmp_path / "rows.parquet") == ([3, 1], 15)


def test_each_part_of_a_file_may_be_encoded_in_its_own_way(tmp_path: Path) -> None:
    """Few words are a dictionary in files of duckdb, and many words are not."""
    path = tmp_path / "rows.parquet"
    words = WORDS * 1_000 + [f"word {n}" for n in range(6_000)]
    table = pl.DataFrame({"k": words, "x": 1})
    options = "(format parquet, parquet_version v2, row_group_size 2048)"
    duckdb.from_arrow(table.to_arrow()).query(
        "rows", f"copy rows to '{path}' {options}"
    )
    known = pq.ParquetFile(path).metadata
    groups = map(known.row_group, range(known.num_row_groups))
    assert len({group.column(0).encodings for group in groups}) > 1
    assert _found(path) == ([3_000, 1_000], 12_000)


@pytest.mark.parametrize("failure", [OSError, pa.ArrowCapacityError])
@pytest.mark.parametrize("good", [0, 1, 2])
def test_words_may_change_their_encoding_within_a_part(
    good: int, failure: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where Arrow has read some rows as words, it reads the others as text."""

    class File(pq.ParquetFile):  # type: ignore[misc]
        """A file whose later rows cannot be read as words."""

        def __init__(self, *given: Any, read_dictionary: Any = (), **more: Any) -> None:
            super().__init__(*given, read_dictionary=read_dictionary, **more)
            self._words = bool(read_dictionary)

        def iter_batches(self, *given: Any, **more: Any) -> Iterator[Any]:
            for place, batch in enumerate(super().iter_batches(*given, **more)):
                if self._words and place >= good:
                    raise failure
                yield batch

    monkeypatch.setattr(pq, "ParquetFile", File)
    monkeypatch.setattr(arrow_files, "_BATCH_ROWS", 4)
    pq.write_table(_table(WORDS * 2), tmp_path / "rows.parquet")
    assert _found(tmp_path / "rows.parquet") == ([6, 2], 66)


@pytest.mark.parametrize("far", [50, 2**31 - 1])
@pytest.mark.parametrize("kind", [pa.int32(), pa.uint32(), pa.decimal128(9, 0)])
def test_numbers_may_be_stored_as_differences_of_more_bits(
    kind: Any, far: int, tmp_path: Path
) -> None:
    """DuckDB takes differences in 64 bits, which Arrow refuses, depending on cells."""
    near = 0 if kind == pa.uint32() else -(10**8)
    cells = [near, min(far, 10**9 - 1), near, 7] * 600
    rows = pa.table({"k": ["north", "east"] * 1200, "x": pa.array(cells, kind)})
    path = tmp_path / "rows.parquet"
    duckdb.sql(f"copy (from rows) to '{path}' (format parquet, parquet_version v2)")
    expected = [1200, 0], 600 * (min(far, 100) + 7)
    assert expected == _found(path)
    folder = tmp_path / "folder" / "k=north"
    folder.mkdir(parents=True)
    rows = rows.drop_columns("k")
    path = folder / "rows.parquet"
    duckdb.sql(f"copy (from rows) to '{path}' (format parquet, parquet_version v2)")
    assert ([2400, 0], expected[1]) == _found(tmp_path / "folder")


@given(
    ways=st.lists(st.integers(0, 20), max_size=3), size=st.sampled_from([1, 3, 7, 100])
)
def test_a_way_that_fails_is_followed_by_the_next(ways: list[int], size: int) -> None:
    """Each row comes once, in its place, wherever the ways before it ended."""
    table = pa.table({"x": range(20)})

    def failing(after: int) -> Iterator[Any]:
        yield from table.slice(0, after).to_batches(max_chunksize=3)
        raise OSError("no more")

    parts = [lambda after=after: failing(after) for after in ways]
    found = arrow_files._first([*parts, lambda: table.to_batches(max_chunksize=size)])
    assert list(range(20)) == [x for batch in found for x in batch["x"].to_pylist()]
    if parts:
        with pytest.raises(OSError, match="no more"):
            list(arrow_files._first(parts))


class _Far:
    """A file that is not here."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def opened(self) -> Any:
        """Return it as a file of Arrow."""
        return pa.OSFile(str(self._path))


@pytest.mark.parametrize("place", [str, Path.read_bytes, _Far])
@pytest.mark.parametrize("text", [True, False])
def test_what_polars_reads_stands_beside_what_arrow_reads(
    place: Any, *, text: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Numbers come from excerpts where Arrow fails, in the types of the file."""
    count = arrow_files._BATCH_ROWS + 5
    numbers = {
        "a": pa.array(range(count), pa.int64()),
        "b": pa.array([n % 100 for n in range(count)], pa.uint8()),
        "c": pa.array([n / 4 for n in range(count)], pa.float32()),
        "d": pa.array([n % 1000 for n in range(count)], pa.decimal128(7, 2)),
    }
    words = {"w": pa.array([str(n % 7) for n in range(count)])} if text else {}
    table = pa.table(numbers | words)
    path = tmp_path / "rows.parquet"
    pq.write_table(table, path)
    monkeypatch.setattr(arrow_files, "_first", lambda ways: ways[-1]())
    file = arrow_files.opened("parquet", place(path))
    batches = [b for part in file.parts(table.column_names, []) for b in part()]
    found = pa.concat_tables(
        [pa.Table.from_batches([b]).select(table.column_names) for b in batches]
    )
    assert table.equals(found)


def test_a_file_that_changes_while_its_footer_is_read_is_not_read(
    tmp_path: Path, lane: str
) -> None:
    """Arrow reads the types of columns, and we where they lie: of the same file."""
    path = tmp_path / "rows.parquet"
    pq.write_table(_table(WORDS), path)
    file = arrow_files.opened("parquet", str(path))
    pq.write_table(_table(WORDS * 2), path)
    if lane == "polars":
        with pytest.raises(OSError, match="changes while"):
            file.excerpts(["k", "x"])


def test_an_enum_of_parquet_is_text(tmp_path: Path) -> None:
    """Other programs write enums, whose words are UTF-8; Arrow takes them for bytes."""
    path = tmp_path / "rows.parquet"
    pq.write_table(_table(WORDS), path, store_schema=False)
    text, enum = b"\x25\x00\x4c\x1c\x00\x00", b"\x25\x08\x4c\x4c\x00\x00"
    content = path.read_bytes()
    assert content.count(text) == 1
    path.write_bytes(content.replace(text, enum))
    assert pq.ParquetFile(path).schema.column(0).logical_type.type == "ENUM"
    assert _found(path) == ([3, 1], 15)


@pytest.mark.parametrize("form", ["parquet", "arrow"])
def test_polars_reads_only_the_files_that_arrow_cannot(
    form: str, tmp_path: Path
) -> None:
    """A broken text beside a file with integers of 128 bits ends no run."""
    wide = pl.DataFrame({"k": ["north", "east"], "x": [1, 2]}).cast({"x": pl.Int128})
    table = _table(_broken(b"north", b"\xff", b"south"))
    if form == "parquet":
        wide.write_parquet(tmp_path / "0.parquet")
        pq.write_table(table, tmp_path / "1.parquet")
    else:
        wide.write_ipc(tmp_path / "0.arrow")
        _ipc(table, tmp_path / "1.arrow")
    assert _found(tmp_path) == ([2, 1], 6)


@pytest.mark.parametrize("form", ["parquet", "arrow"])
def test_a_name_that_is_no_text_is_a_damaged_header(form: str, tmp_path: Path) -> None:
    """A header with a broken name, declared or not, is refused in our words."""
    path = tmp_path / f"rows.{form}"
    table = _table(WORDS).append_column("stranger", [range(len(WORDS))])
    pq.write_table(table, path) if form == "parquet" else _ipc(table, path)
    path.write_bytes(path.read_bytes().replace(b"stranger", b"str\xff\xfeger"))
    with pytest.raises(RunFault) as caught:
        _found(path)
    assert [one.code for one in caught.value.diagnostics] == ["DPQL502"]


@pytest.mark.parametrize("name", ["k", "who"])
@pytest.mark.parametrize("offsets", [(0, 11, 24, 60), (0, 50, 24, 41)])
def test_texts_that_lie_beyond_their_buffer_are_not_read(
    offsets: tuple[int, ...], name: str, tmp_path: Path
) -> None:
    """Arrow believes the offsets of a file; wrong ones would crash the process."""
    right = (0, 11, 24, 41)
    words = ["x" * (end - start) for start, end in pairwise(right)]
    path = tmp_path / "rows.arrow"
    _ipc(pa.table({name: words, "y": [1, 2, 3]}), path)
    content = path.read_bytes()
    assert content.count(struct.pack("<4i", *right)) == 1
    path.write_bytes(
        content.replace(struct.pack("<4i", *right), struct.pack("<4i", *offsets))
    )
    kind = "{type: category, keys: [north]}" if name == "k" else "{type: id}"
    number = "{type: integer, bounds: [0, 100], nulls: {as: 0}}"
    total = {"s": {"sum": "y", "spend": "{share: 1}"}}
    if name == "k":
        total = {"s": {"sum": "y", "by": "[k]", "spend": "{share: 1}"}}
    given = {"unit": "who", "contributes": "{rows: 1, groups: 1}"}
    decided = plan(
        make_spec({name: kind, "y": number}, total, **(given if name == "who" else {}))
    )
    with pytest.raises(pa.ArrowInvalid):
        answer(polars_engine, decided, path)


@pytest.mark.parametrize("form", ["parquet", "arrow"])
def test_a_file_that_changes_before_it_is_read_is_not_read(
    form: str, tmp_path: Path
) -> None:
    """What was opened is what is read: another file in its place ends the run."""
    path, decided = tmp_path / f"rows.{form}", _decided()
    write = pq.write_table if form == "parquet" else _ipc
    write(_table(WORDS), path)
    opened = polars_engine.open_frame(path, decided.spec.data)
    write(_table(WORDS * 50), path)
    with pytest.raises(OSError, match="a file changes"):
        polars_engine.add_up(decided, opened, salt=b"s" * 32, tick=None)


def _ipc(table: pa.Table, path: Path) -> None:
    with pa.ipc.new_file(path, table.schema) as writer:
        writer.write_table(table)
