"""Words of dictionaries as places: the cells stay what they were."""

from __future__ import annotations

import io
import struct
from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpql.curator.engines import parquet_words, polars_excerpts
from dpql.curator.engines.arrow_files import opened
from dpql.curator.engines.parquet_alike import TEXT
from dpql.curator.engines.parquet_copies import Rooms, excerpt
from dpql.curator.engines.parquet_excerpts import Excerpts, Group
from dpql.curator.engines.parquet_footer import Chunk
from dpql.curator.engines.parquet_pages import DATA, WORDS, page_header
from dpql.curator.engines.parquet_words import Places, numbered
from dpql.curator.engines.thrift import Damaged, varint

CODECS = ["none", "snappy", "gzip", "brotli", "zstd", "lz4"]
WORD = st.binary(max_size=6) | st.sampled_from([b"", b"a", b"\xff", b"x" * 300])
SMALL = 1
"""A dictionary of so many bytes is too large: most cells stand for themselves."""


def _written(
    columns: Mapping[str, Sequence[bytes | None]], *, nulls: bool = True, **options: Any
) -> bytes:
    """Return a file with texts of any bytes; without ``nulls`` none may be missing."""
    cells = [pa.array(c, pa.binary()).view(pa.string()) for c in columns.values()]
    schema = pa.schema([pa.field(n, pa.string(), nullable=nulls) for n in columns])
    file = io.BytesIO()
    pq.write_table(pa.Table.from_arrays(cells, schema=schema), file, **options)
    return file.getvalue()


def _file(content: bytes, names: Sequence[str]) -> Excerpts:
    found = opened("parquet", content).excerpts(names)
    assert found is not None
    return found


def _taken(
    file: Excerpts, words: Mapping[str, Mapping[bytes, int]]
) -> tuple[list[list[Any]], frozenset[str]]:
    """Return the cells of each column of an excerpt, and which of them are places."""
    parts = [(file, group) for group in file.groups.values()]
    places = {name: Places(list(some)) for name, some in words.items()}
    held, found = excerpt(parts, list(file.leaves), Rooms(1 << 16, 1), places)
    read = pl.read_parquet(held)
    whole = pq.read_table(io.BytesIO(held))
    cells = [column.to_list() for column in read]
    assert cells == [column.to_pylist() for column in whole.columns]
    return cells, found


def _placed(
    cells: Sequence[bytes | None], places: Mapping[bytes, int]
) -> list[int | None]:
    """Return the places of words from 1 on, and 0 for those that have none."""
    return [None if c is None else places.get(c, -1) + 1 for c in cells]


@pytest.mark.property
@given(data=st.data())
@settings(deadline=None, max_examples=150)
def test_every_cell_is_the_place_of_its_word(data: Any) -> None:
    """Whatever codec, pages and row groups there are, and beside any other column."""
    count = data.draw(st.integers(1, 30))
    words = data.draw(st.lists(WORD, min_size=1, max_size=9, unique=True))
    nulls = data.draw(st.booleans())
    cell = st.none() | st.sampled_from(words) if nulls else st.sampled_from(words)
    cells = data.draw(st.lists(cell, min_size=count, max_size=count))
    others = data.draw(st.lists(cell, min_size=count, max_size=count))
    known = data.draw(st.lists(WORD | st.sampled_from(words), unique=True))
    places = {word: place for place, word in enumerate(known)}
    content = _written(
        {"k": cells, "other": others},
        nulls=nulls,
        compression=data.draw(st.sampled_from(CODECS)),
        data_page_version=data.draw(st.sampled_from(["1.0", "2.0"])),
        version=data.draw(st.sampled_from(["1.0", "2.6"])),
        data_page_size=data.draw(st.sampled_from([1, 64, 1 << 20])),
        write_batch_size=data.draw(st.sampled_from([1, 3, 1024])),
        row_group_size=data.draw(st.sampled_from([1, 7, 100])),
    )
    both = data.draw(st.booleans())
    wanted = {"k": places, "other": places} if both else {"k": places}
    read, found = _taken(_file(content, ["k", "other"]), wanted)
    assert found == frozenset(wanted)
    assert read == [_placed(cells, places), _placed(others, places) if both else others]


@pytest.mark.parametrize("codec", CODECS)
@pytest.mark.parametrize("count", [4_096, 4_097])
def test_dictionaries_are_replaced_up_to_a_size(codec: str, count: int) -> None:
    """Words in no order, all of them in the first of two row groups."""
    words = [f"{n * 7919 % 10_007:05}".encode() for n in range(count)]
    places = {word: place for place, word in enumerate(sorted(words)[:4_000])}
    cells = [*words, *words[:9]]
    content = _written({"k": cells}, compression=codec, row_group_size=count)
    (read,), found = _taken(_file(content, ["k"]), {"k": places})
    few = count == 4_096
    assert found == ({"k"} if few else frozenset())
    assert read == (_placed(cells, places) if few else cells)


def test_cells_that_stand_for_themselves_stay_words() -> None:
    """A dictionary that grew too large is followed by plain cells, in one row group."""
    cells = [f"{n:05}".encode() for n in range(1_000)]
    options = {"dictionary_pagesize_limit": SMALL, "write_batch_size": 10}
    content = _written({"k": cells, "other": [b"a"] * 1_000}, **options)
    file = _file(content, ["k", "other"])
    assert not file.groups[0].chunks["k"].by_words
    read, found = _taken(file, {"k": {b"00001": 0}, "other": {b"a": 0}})
    assert (read, found) == ([cells, [b"a"] * 1_000], frozenset())


def test_columns_without_a_dictionary_stay_words() -> None:
    """Beside them, others become places."""
    content = _written(
        {"k": [b"a", b"b"], "other": [b"a", None]}, use_dictionary=["other"]
    )
    file = _file(content, ["k", "other"])
    chunks = file.groups[0].chunks
    assert [chunks[name].by_words for name in ("k", "other")] == [False, True]
    read, found = _taken(file, {"k": {b"b": 0}, "other": {b"b": 0}})
    assert (read, found) == ([[b"a", b"b"], [0, None]], {"other"})


def test_values_of_folders_become_places() -> None:
    """A word and its count are a dictionary and its cells."""
    file = _file(_written({"k": [b"a", b"b"]}), ["k"]).beside({"f": b"b", "g": None})
    places = {b"a": 0, b"b": 1}
    read, found = _taken(file, dict.fromkeys("kfg", places))
    assert (read, found) == ([[1, 2], [2, 2], [None, None]], {"k", "f"})
    assert [file.groups[0].chunks[name].by_words for name in "fg"] == [True, False]


def _chunk(codec: int = 0) -> Chunk:
    return Chunk(
        start=0,
        length=100,
        pages=50,
        words=0,
        codec=codec,
        encodings=(0, 3, 8),
        cells=9,
        unpacked=100,
    )


def _dictionary(
    body: bytes, *, count: int, size: int | None = None, encoding: int = 0
) -> memoryview:
    sizes = len(body) if size is None else size, len(body)
    return memoryview(page_header(WORDS, sizes, count, encoding) + body)


def _word(word: bytes) -> bytes:
    return struct.pack("<I", len(word)) + word


def test_a_dictionary_of_words_becomes_one_of_places() -> None:
    """Nine words of which one is known; the pages behind it move."""
    body = _word(b"a") * 7 + _word(b"b") + _word(b"c" * 56)
    assert len(body) == 100
    held = _dictionary(body, count=9)
    found = numbered(held, _chunk(), Places([b"b"]))
    assert found is not None
    head, chunk = found
    assert head.endswith(struct.pack("<9i", *[0] * 7, 1, 0))
    more = len(head) - len(held)
    assert (chunk.start, chunk.words, chunk.pages) == (0, 0, 50 + more)
    assert (chunk.length, chunk.unpacked) == (100 + more, 4 * 9)


@pytest.mark.parametrize(
    "held",
    [
        memoryview(b""),
        memoryview(b"\xff" * 40),
        _dictionary(_word(b"a"), count=2),
        _dictionary(_word(b"a") * 2, count=1),
        _dictionary(_word(b"a")[:-1], count=1),
        _dictionary(_word(b"a") + b"\0\0", count=1),
        _dictionary(_word(b"a"), count=1, encoding=8),
        _dictionary(_word(b"a" * 97), count=1),
        _dictionary(_word(b"") * 10, count=10),
        memoryview(bytes(_dictionary(_word(b"a"), count=1)) + b"\0"),
        memoryview(page_header(0, (5, 5), 1, 0, 3, 3) + _word(b"a")),
    ],
    ids=[
        "nothing",
        "no header",
        "too few words",
        "too many words",
        "a word is cut",
        "a length is cut",
        "no plain words",
        "more bytes than the chunk",
        "more words than cells",
        "something behind it",
        "cells",
    ],
)
def test_what_is_no_dictionary_is_left_alone(held: memoryview) -> None:
    """Whoever reads the words finds out what is wrong."""
    assert numbered(held, _chunk(), Places([b"a"])) is None


@pytest.mark.parametrize("codec", [1, 2, 4, 6, 7])
def test_what_cannot_be_unpacked_is_left_alone(codec: int) -> None:
    """Random bytes, a wrong size, and a size beyond that of the chunk."""
    places = Places([b"a"])
    noise = _dictionary(b"\x8f" * 40, count=1, size=5)
    assert numbered(noise, _chunk(codec), places) is None
    packed = parquet_words._packed(_word(b"a"), codec)
    assert numbered(_dictionary(packed, count=1, size=5), _chunk(codec), places)
    for size in (0, 4, 6, 100, 101, 1 << 31):
        held = _dictionary(packed, count=1, size=size)
        assert numbered(held, _chunk(codec), places) is None


@pytest.mark.parametrize("codec", [1, 2, 4, 6, 7])
def test_memory_that_nobody_wrote_is_not_read(codec: int) -> None:
    """What was packed is shorter than it says; Arrow leaves the rest as it was."""
    whole = _word(b"a" * 60)
    for missing in (1, 2, 30, 64):
        packed = parquet_words._packed(whole[: len(whole) - missing], codec)
        with pytest.raises(Damaged):
            parquet_words._unpacked(memoryview(packed), codec, len(whole))
    packed = parquet_words._packed(whole, codec)
    assert parquet_words._unpacked(memoryview(packed), codec, len(whole)) == whole


def test_cells_that_a_damaged_page_lacks_are_no_key() -> None:
    """One is null, four should be words, and there are numbers of two."""
    words = page_header(WORDS, (10, 10), 2, 0) + _word(b"a") + _word(b"b")
    there = varint(1 << 1) + b"\0" + varint(4 << 1) + b"\1"
    cells = struct.pack("<I", len(there)) + there + b"\1" + varint(2 << 1) + b"\1"
    pages = page_header(DATA, (len(cells), len(cells)), 5, 8, 3, 3) + cells
    stored = words + pages
    chunk = Chunk(
        start=0,
        length=len(stored),
        pages=len(words),
        words=0,
        codec=0,
        encodings=(0, 3, 8),
        cells=5,
        unpacked=len(stored),
        by_words=True,
    )
    group = Group(rows=5, chunks={"k": chunk}, made={"k": stored})
    file = Excerpts(content=b"", size=0, leaves={"k": TEXT}, groups={0: group})
    held, found = excerpt([(file, group)], ["k"], Rooms(0, 1), {"k": Places([b"a"])})
    assert found == {"k"}
    assert pl.read_parquet(held)["0"].to_list() == [None, 0, 0, 0, 0]


def test_words_count_for_the_size_of_a_portion() -> None:
    """Many equal words take few bytes, and as many numbers as there are words."""
    content = _written({"k": [b"a"] * 5_000, "x": [b"b"] * 5_000}, row_group_size=1_000)
    file = _file(content, ["k", "x"])
    for group in file.groups.values():
        size = polars_excerpts._size((file, group), ["k"])
        assert size == group.size(["k"]) + 128 + 4 * 1_000
    few = [polars_excerpts._size((file, file.groups[0]), list(n)) for n in ("x", "kx")]
    assert few[1] > 2 * 4 * 1_000 > few[0]
