"""Files of text as batches of whole lines; a line ends at a newline byte only."""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from dpql.curator.sources.locate import File, no_file, unreadable
from dpql.model.spec import Data

BATCH_BYTES = 1 << 22
"""Bytes of a batch, about."""

_COMPRESSED = (b"\x1f\x8b", b"\x28\xb5\x2f\xfd", b"x\x01", b"x\x5e", b"x\x9c", b"x\xda")
"""First bytes of compressed files."""


def opened(file: File) -> BinaryIO:
    """Return a file of text, which is on this machine or fetched already."""
    if isinstance(file.content, str):
        return Path(file.content).open("rb")
    assert isinstance(file.content, bytes), "remote text is fetched as a whole"
    return io.BytesIO(file.content)


def header_line(file: File, data: Data) -> bytes:
    """Return the first line of a file.

    Raises:
        RunFault: DPQL501, the file cannot be read; DPQL502, it is compressed.
    """
    try:
        with opened(file) as text:
            line = text.readline()
    except OSError:
        raise no_file(data) from None
    if line.startswith(_COMPRESSED):
        raise unreadable(data)
    return line


def line_batches(file: File, *, header: bool, longest: int) -> Iterator[bytes]:
    """Yield whole lines, many at a time.

    A batch ends with the line that is open after `BATCH_BYTES`, unless that goes on for
    more than ``longest`` bytes; then it comes by itself.
    """
    with opened(file) as text:
        if header:
            text.readline()
        while batch := text.read(BATCH_BYTES):
            rest = text.readline()
            if len(rest) <= longest:
                yield batch + rest
                continue
            end = batch.rfind(b"\n") + 1
            if end:
                yield batch[:end]
            yield batch[end:] + rest


def count_lines(file: File, *, header: bool) -> int:
    """Return the number of lines below the header, if there is one."""
    lines = 0
    last = b"\n"
    with opened(file) as text:
        if header:
            text.readline()
        while batch := text.read(BATCH_BYTES):
            lines += batch.count(b"\n")
            last = batch[-1:]
    return lines + (last != b"\n")
