"""Arrow files: record batches of any size, and offsets that are not believed."""

from __future__ import annotations

import struct
from itertools import pairwise
from pathlib import Path

import pyarrow as pa
import pytest
from tables import ID, WHOLE, category, declare, ordered, rows, write_ipc

from dpql.curator.sources import ipc, open_source

DATA = declare(x=WHOLE, k=category("north", "1"))


@pytest.mark.parametrize("size", [1, 3, 100])
@pytest.mark.parametrize("codec", [None, "lz4", "zstd"])
def test_record_batches_may_be_of_any_size(
    codec: str | None, size: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Cells are the same, compressed inside or not, and however they are sliced."""
    monkeypatch.setattr(ipc, "BATCH_ROWS", 2)
    table = pa.table(
        {"k": ["north", "x", "1", None] * 5, "x": range(20), "y": [0] * 20}
    )
    options = pa.ipc.IpcWriteOptions(compression=codec)
    path = tmp_path / "rows.arrow"
    with pa.ipc.new_file(path, table.schema, options=options) as file:
        file.write_table(table, max_chunksize=size)
    words = ["north", None, "1", None] * 5
    assert ordered(list(zip(range(20), words, strict=True))) == rows(path, DATA)
    assert 20 == open_source(path, DATA).row_count()


def test_dictionaries_may_differ_between_files(tmp_path: Path) -> None:
    """Each word is looked up in the dictionary that it came with."""
    for number, words in enumerate((["north", "1"], ["1", "x", "north", None])):
        column = pa.array(words).dictionary_encode()
        table = pa.table({"x": range(len(words)), "k": column})
        write_ipc(table, tmp_path / f"{number}.arrow")
    wanted = [(0, "north"), (1, "1"), (0, "1"), (1, None), (2, "north"), (3, None)]
    assert ordered(wanted) == rows(tmp_path, DATA)


@pytest.mark.parametrize("form", ["category", "id"])
@pytest.mark.parametrize("offsets", [(0, 11, 24, 60), (0, 50, 24, 41), (0, -1, 24, 41)])
def test_texts_that_lie_beyond_their_buffer_are_not_read(
    offsets: tuple[int, ...], form: str, tmp_path: Path
) -> None:
    """Arrow believes the offsets of a file; wrong ones would crash the process."""
    right = (0, 11, 24, 41)
    words = ["x" * (end - start) for start, end in pairwise(right)]
    path = write_ipc(pa.table({"k": words}), tmp_path / "rows.arrow")
    content = path.read_bytes()
    assert 1 == content.count(struct.pack("<4i", *right))
    damaged = content.replace(struct.pack("<4i", *right), struct.pack("<4i", *offsets))
    path.write_bytes(damaged)
    data = declare(k=ID if form == "id" else category("north"))
    with pytest.raises(pa.ArrowInvalid):
        rows(path, data)
