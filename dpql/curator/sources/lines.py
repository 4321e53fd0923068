"""Files of text as batches of whole lines; a line ends at a newline byte only.

A file whose name ends in .gz or .zst is decompressed while it is read. A line beyond
`LONGEST_LINE` is read as an empty one, so that no file needs more memory than that.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, cast

import numpy as np

from dpql.curator.sources.locate import File, no_file, unreadable
from dpql.errors import RunFault
from dpql.model.spec import Data

BATCH_BYTES = 1 << 22
"""Bytes of a batch, about."""

LONGEST_LINE = 1 << 26
"""Bytes of the longest line that is read, without its newline."""

_SKIPPED_BYTES = 1 << 22
_NEWLINE = b"\n"[0]
_COMPRESSED = (b"\x1f\x8b", b"\x28\xb5\x2f\xfd", b"x\x01", b"x\x5e", b"x\x9c", b"x\xda")
"""First bytes of compressed files."""


def opened(file: File) -> BinaryIO:
    """Return a file of text, which is on this machine or fetched already.

    What is compressed comes decompressed, piece by piece.

    Raises:
        OSError: it cannot be read; so does reading, where it is not as its name says.
    """
    stored = _stored(file)
    return stored if file.compression is None else _decompressed(stored, file)


def _stored(file: File) -> BinaryIO:
    if isinstance(file.content, str):
        return Path(file.content).open("rb")
    assert isinstance(file.content, bytes), "remote text is fetched as a whole"
    return io.BytesIO(file.content)


@contextmanager
def _undamaged(file: File) -> Iterator[None]:
    """Say what is wrong with a compressed file; of others nothing can be wrong."""
    try:
        yield
    except OSError:
        if file.compression is None:
            raise
        raise RunFault.of(
            "DPQL502",
            "a compressed file of the data is damaged, or is not what its name says",
            hint="compress it again, or hand it over decompressed",
        ) from None


def _decompressed(stored: BinaryIO, file: File) -> BinaryIO:
    """Return what a compressed file holds; a damaged one raises where it ends."""
    import pyarrow as pa

    if not stored.seekable() or not stored.read(1):
        return stored  # a file without a byte holds none, compressed or not
    stored.seek(0)
    stream = pa.CompressedInputStream(pa.PythonFile(stored, mode="r"), file.compression)
    return cast("BinaryIO", io.BufferedReader(stream, 1 << 16))


def header_line(file: File, data: Data) -> bytes:
    """Return the first line of a file.

    Raises:
        RunFault: DPQL501, the file cannot be read; DPQL502, it is compressed.
    """
    try:
        with opened(file) as text:
            line = text.readline(LONGEST_LINE + 1)
    except OSError:
        raise (no_file if file.compression is None else unreadable)(data) from None
    if line.startswith(_COMPRESSED) or len(line) > LONGEST_LINE:
        raise unreadable(data)
    return line


def line_batches(file: File, *, header: bool, longest: int) -> Iterator[bytes]:
    """Yield whole lines, many at a time.

    A batch ends with the line that is open after `BATCH_BYTES`, unless that goes on for
    more than ``longest`` bytes; then it comes by itself.

    Raises:
        RunFault: DPQL502, a compressed file is damaged.
    """
    with _undamaged(file), opened(file) as text:
        if header:
            text.readline()
        while batch := text.read(BATCH_BYTES):
            rest = text.readline(LONGEST_LINE + 1)
            end = batch.rfind(b"\n") + 1
            if len(batch) - end + len(rest.removesuffix(b"\n")) > LONGEST_LINE:
                while rest and not rest.endswith(b"\n"):
                    rest = text.readline(_SKIPPED_BYTES)
                yield batch[:end] + b"\n"
                continue
            if len(rest) <= longest:
                yield batch + rest
                continue
            if end:
                yield batch[:end]
            yield batch[end:] + rest


def count_lines(file: File, *, header: bool) -> int:
    """Return the number of lines below the header, if there is one."""
    lines = 0
    last = b"\n"
    with _undamaged(file), opened(file) as text:
        if header:
            text.readline()
        while batch := text.read(BATCH_BYTES):
            lines += _newlines(batch)
            last = batch[-1:]
    return lines + (last != b"\n")


def _newlines(data: bytes) -> int:
    """Return how many there are; `bytes.count` takes several times as long."""
    return int(np.count_nonzero(np.frombuffer(data, dtype=np.uint8) == _NEWLINE))
