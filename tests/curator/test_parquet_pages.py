"""Pages of Parquet files: what a damaged file says ends in a fault, never a crash."""

from __future__ import annotations

import io
from collections.abc import Iterator
from dataclasses import replace

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from spec_text import make_spec

from dpql.curator import run
from dpql.curator.engines.arrow_files import opened
from dpql.curator.engines.parquet_footer import Chunk
from dpql.curator.engines.parquet_pages import check_pages, page_header, words_of
from dpql.curator.engines.thrift import INT32, STRUCT, Damaged, integer, struct, varint
from dpql.errors import RunFault
from dpql.model.plan import Plan
from dpql.planner import plan

DATA, INDEX, WORDS, DATA_2 = range(4)
CHUNK = Chunk(
    start=4,
    length=1,
    pages=4,
    words=None,
    codec=0,
    encodings=(0,),
    cells=5,
    unpacked=99,
)


def _numbers(*numbers: int) -> bytes:
    """Return a struct of numbers, negative ones too."""
    codes = [varint(2 * n if n >= 0 else -2 * n - 1) for n in numbers]
    return struct(*((place, INT32, code) for place, code in enumerate(codes, 1)))


def _page(kind: int, told: bytes, *, packed: int = 8, size: int = 8) -> bytes:
    """Return a page of eight bytes, whatever its header says."""
    field = {DATA: 5, INDEX: 6, WORDS: 7, DATA_2: 8}.get(kind, 9)
    code = varint(2 * packed if packed >= 0 else -2 * packed - 1)
    large = varint(2 * size if size >= 0 else -2 * size - 1)
    header = struct(
        (1, INT32, integer(kind)), (2, INT32, large), (3, INT32, code),
        (field, STRUCT, told),
    )  # fmt: skip
    return header + bytes(8)


def _first(cells: int) -> bytes:
    return _page(DATA, _numbers(cells, 0, 3, 3))


def _second(*numbers: int) -> bytes:
    return _page(DATA_2, _numbers(*numbers))


@pytest.mark.parametrize(
    "held",
    [
        _first(5),
        _first(2) + _first(3),
        _first(2) + _page(INDEX, struct()) + _first(3),
        _first(0) + _first(5) + b"something else",
        _second(5, 2, 5, 0, 4, 4),
        _second(5, 5, 5, 0, 0, 0),
    ],
)
def test_pages_that_hold_all_cells_are_sound(held: bytes) -> None:
    """In one page or several; what follows the last one is nobody's."""
    check_pages(memoryview(held), CHUNK)
    words = _page(WORDS, _numbers(3, 0))
    check_pages(memoryview(words + held), replace(CHUNK, words=1))


@pytest.mark.parametrize(
    "held",
    [
        b"",
        b"\0",
        _first(4),
        _first(6),
        _first(-5),
        _first(2**40),
        _first(5)[:-1],
        _page(DATA, _numbers(5), packed=-1),
        _page(DATA, _numbers(5), packed=9),
        _page(DATA, _numbers(5), size=-1),
        _page(DATA, _numbers(5), size=(1 << 30) + 1),
        _page(DATA, struct()),
        _page(4, _numbers(5)),
        _page(WORDS, _numbers(-1)) + _first(5),
        _second(5),
        _second(5, 6, 5, 0, 0, 0),
        _second(5, 0, 4, 0, 0, 0),
        _second(5, 0, 5, 0, 8, 1),
        _second(5, 0, 5, 0, -1, 0),
        _second(5, -1, 5, 0, 0, 0),
    ],
)
def test_pages_that_lie_are_damaged(held: bytes) -> None:
    """Numbers below zero, too few or too many cells, sizes beyond the chunk."""
    with pytest.raises(Damaged):
        check_pages(memoryview(held), CHUNK)


def test_a_dictionary_that_is_told_of_must_be_there() -> None:
    """The footer says where it begins."""
    with pytest.raises(Damaged):
        check_pages(memoryview(_first(5)), replace(CHUNK, words=1))


def _small_plan() -> Plan:
    return plan(
        make_spec(
            {
                "k": "{type: category, keys: [a, b]}",
                "x": "{type: float, bounds: [0, 9], nulls: drop}",
                "i": "{type: integer, bounds: [0, 9], nulls: drop}",
            },
            {
                "sum": {"sum": "x", "by": "[k]", "spend": "{share: 1}"},
                "mean": {"mean": "i", "spend": "{share: 1}"},
            },
        )
    )


def _harmed() -> Iterator[bytes]:
    """Yield files, each with one byte that is not as it was written."""
    table = pa.table(
        {
            "k": ["a", "b", None, "a"],
            "x": [1.0, None, 2.5, 3.0],
            "i": pa.array([1, 2, 3, None], pa.int32()),
        }
    )
    for version in ("1.0", "2.0"):
        file = io.BytesIO()
        pq.write_table(table, file, compression="none", data_page_version=version)
        content = file.getvalue()
        assert opened("parquet", content).excerpts(["k", "x", "i"]) is not None
        for place in range(4, len(content) - 8):
            for other in (content[place] ^ 1, 0xFF):
                yield content[:place] + bytes([other]) + content[place + 1 :]


def test_no_harmed_byte_ends_the_process(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    """A file with any byte changed is read or refused, and this test goes on."""
    decided = _small_plan()
    path = tmp_path_factory.mktemp("harmed") / "rows.parquet"
    ends = set()
    for content in _harmed():
        path.write_bytes(content)
        try:
            run(decided, {"rows": path})
            ends.add("read")
        except RunFault as fault:
            ends.add(fault.diagnostics[0].code)
    assert {"read", "DPQL510"} <= ends <= {
        "read", "DPQL501", "DPQL502", "DPQL503", "DPQL504", "DPQL510",
    }  # fmt: skip


def test_pages_of_other_writers_are_sound(tmp_path: pytest.TempPathFactory) -> None:
    """Those of polars and of DuckDB, whose files are read by excerpts."""
    import duckdb

    frame = pl.DataFrame(
        {"k": ["a", None, "b"] * 999, "x": [1.5, None, 2.0] * 999, "i": range(2997)}
    )
    paths = [f"{tmp_path}/{name}.parquet" for name in ("polars", "v1", "v2")]
    frame.write_parquet(paths[0], row_group_size=1000)
    for version, path in zip(("v1", "v2"), paths[1:], strict=True):
        duckdb.sql(
            f"copy (from frame) to '{path}' (format parquet, parquet_version {version})"
        )
    for path in paths:
        parted = opened("parquet", path).excerpts(["k", "x", "i"])
        assert parted is not None
        assert sum(group.rows for group in parted.groups.values()) == len(frame)
        run(_small_plan(), {"rows": path})


def test_a_dictionary_stands_alone() -> None:
    """What lies behind it, or is missing of it, is no part of a dictionary."""
    held = page_header(WORDS, (9, 5), 1, 0) + b"words"
    size, count, start = words_of(memoryview(held))
    assert (size, count, held[start:]) == (9, 1, b"words")
    for other in (held + b"\0", held[:-1], held[:start], held[:3], b""):
        with pytest.raises(Damaged):
            words_of(memoryview(other))
    for kind, told in ((DATA, (1, 0, 3, 3)), (WORDS, (1, 8)), (WORDS, (1,))):
        with pytest.raises(Damaged):
            words_of(memoryview(page_header(kind, (9, 5), *told) + b"words"))
