"""Text is decompressed by its name alone, piece by piece."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pytest
from http_servers import served
from tables import ID, WHOLE, declare, ordered, rows

from dpql.curator.sources import lines, open_source
from dpql.curator.sources.header import header
from dpql.curator.sources.lines import LONGEST_LINE, count_lines, line_batches
from dpql.curator.sources.locate import File
from dpql.errors import RunFault

DATA = declare(x=WHOLE, k=ID)
TEXT = b"x,k\n" + b"".join(b'%d,"a,%d"\n' % (n % 90, n) for n in range(50_000))
WANTED = ordered([(n % 90, b"a,%d" % n) for n in range(50_000)])


Compress = Callable[[bytes], bytes]
WAYS: dict[str, tuple[str, Compress]] = {
    "gz": ("gzip", gzip.compress),
    "zst": ("zstd", lambda content: pa.Codec("zstd").compress(content, asbytes=True)),
}


@pytest.mark.parametrize("suffix", WAYS)
@pytest.mark.parametrize("name", ["a.csv", "A.CSV", "a.txt"])
def test_a_compressed_file_is_read_as_the_plain_one(
    suffix: str, name: str, tmp_path: Path
) -> None:
    """The same rows, the same number of rows, the same header."""
    path = tmp_path / f"{name}.{suffix}"
    path.write_bytes(WAYS[suffix][1](TEXT))
    assert WANTED == rows(path, DATA)
    assert 50_000 == open_source(path, DATA).row_count()
    assert {"x": "unknown", "k": "unknown"} == header(path)


@pytest.mark.parametrize("suffix", WAYS)
def test_parts_that_were_compressed_one_by_one_are_one_file(
    suffix: str, tmp_path: Path
) -> None:
    """As programs write that append, or that compress in parallel."""
    compress = WAYS[suffix][1]
    path = tmp_path / f"a.csv.{suffix}"
    path.write_bytes(compress(TEXT[:1000]) + compress(TEXT[1000:]))
    assert WANTED == rows(path, DATA)


def test_json_lines_and_folders_may_be_compressed(tmp_path: Path) -> None:
    """Compressed and plain files of one format make one table."""
    (tmp_path / "a.ndjson.gz").write_bytes(gzip.compress(b'{"x":1,"k":"a"}\n'))
    (tmp_path / "b.ndjson").write_bytes(b'{"x":2,"k":"b"}\n')
    assert ordered([(1, b"a"), (2, b"b")]) == rows(tmp_path, DATA)


def test_a_compressed_file_of_a_server_is_decompressed() -> None:
    """Its name tells how, too."""
    with served({"/a.csv.gz": gzip.compress(TEXT)}) as url:
        assert WANTED == rows(f"{url}/a.csv.gz", DATA)


@pytest.mark.parametrize(
    "name", ["a.gz", "a.parquet.gz", "a.csv.bz2", "a.csv.zip", "a.csv.gz.gz", "a.zst"]
)
def test_other_compressed_files_are_refused(name: str, tmp_path: Path) -> None:
    """By their names, before they are opened."""
    (tmp_path / name).write_bytes(gzip.compress(TEXT))
    with pytest.raises(RunFault, match="DPQL502"):
        open_source(tmp_path / name, DATA)


@pytest.mark.parametrize("suffix", WAYS)
@pytest.mark.parametrize("content", [b"x,k\n1,a\n", b"junk" * 9, b"\x1f\x8b"])
def test_a_file_that_is_not_compressed_as_its_name_says_is_refused(
    suffix: str, content: bytes, tmp_path: Path
) -> None:
    """DPQL502, from the beginning of the file alone."""
    path = tmp_path / f"a.csv.{suffix}"
    path.write_bytes(content)
    with pytest.raises(RunFault, match="DPQL502"):
        open_source(path, DATA)


@pytest.mark.parametrize("suffix", WAYS)
def test_a_damaged_file_never_ends_early(suffix: str) -> None:
    """What is cut off or altered raises, or rows would be left out silently."""
    compression, compress = WAYS[suffix]
    whole = compress(TEXT)
    for content in (whole[:-9], whole[: len(whole) // 2], whole + b"junk"):
        file = File(content=content, values={}, compression=compression)
        with pytest.raises(RunFault, match="DPQL502 a compressed file"):
            list(line_batches(file, header=True, longest=9))


@pytest.mark.heavy
def test_a_bomb_takes_no_more_memory_than_the_longest_line(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A line beyond the limit is an empty one, wherever batches end; others stay."""
    assert LONGEST_LINE <= 1 << 26
    monkeypatch.setattr(lines, "LONGEST_LINE", 1 << 16)
    monkeypatch.setattr(lines, "_SKIPPED_BYTES", 1 << 10)
    for batch in (1, 1000, 1 << 15):
        monkeypatch.setattr(lines, "BATCH_BYTES", batch)
        for extra, kept in ((0, True), (1, False), (1 << 20, False)):
            long = b"0" * ((1 << 16) + extra)
            content = gzip.compress(b"x,k\n1,a\n" + long + b"\n2,b\n")
            file = File(content=content, values={}, compression="gzip")
            found = list(line_batches(file, header=True, longest=1 << 20))
            wanted = b"1,a\n" + (long if kept else b"") + b"\n2,b\n"
            assert wanted == b"".join(found)
            assert 3 == count_lines(file, header=True)
            assert max(map(len, found)) <= batch + (1 << 16) + 8
