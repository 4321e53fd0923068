"""Files of pairs: two cells a line, and every other line is a fault with its place."""

from __future__ import annotations

from pathlib import Path

import pytest
from language.flights import faults, flights

MAPPED = flights(derived="map(carrier, file: 'names.txt')")


def found(tmp_path: Path, content: bytes) -> list[tuple[str, str, int]]:
    """Return the code, the file and the line of every fault."""
    (tmp_path / "names.txt").write_bytes(content)
    return [
        (fault.code, fault.span.source, fault.span.line)
        for fault in faults(MAPPED, tmp_path)
        if fault.span is not None
    ]


@pytest.mark.parametrize(
    "content",
    [
        b"UA,United\n",
        b"UA,United",
        b"UA,United\r\nAA,American\r\n",
        b"carrier\tname\nUA\tUnited, Inc.\n",
        b'"UA","United"\n',
        b'UA,"United ""Air"""\n',
        "UA,Größe\n".encode(),
    ],
)
def test_pairs_are_read(tmp_path: Path, content: bytes) -> None:
    """Commas or tabs, quotes where they are needed, any headings."""
    assert [] == found(tmp_path, content)


@pytest.mark.parametrize(
    ("content", "line"),
    [
        (b"UA,United\nAA\n", 2),
        (b"UA,United\nAA,American,Inc\n", 2),
        (b"UA,United\n\nAA,American\n", 2),
        (b"UA,United\nAA, American\n", 2),
        (b'UA,"United\n', 1),
        (b"UA,United\nAA,A\nUA,U\n", 3),
        (b"UA,United\nAA," + b"x" * 200 + b"\n", 2),
    ],
)
def test_a_line_that_is_no_pair_has_its_place(
    tmp_path: Path, content: bytes, line: int
) -> None:
    """The fault names the file and the line."""
    assert [("DPQL366", "names.txt", line)] == found(tmp_path, content)


def test_a_file_about_other_keys_is_refused(tmp_path: Path) -> None:
    """Without one key of the column it is the wrong file."""
    assert [("DPQL366", "<text>", 22)] == found(tmp_path, b"ZZ,Nobody\n")


@pytest.mark.parametrize(
    ("content", "code"),
    [
        (b"UA,\xff\n", "DPQL104"),
        ("UA,x\u202ey\n".encode(), "DPQL106"),
        (b"UA,x\n" * 300_000, "DPQL107"),
    ],
)
def test_a_file_is_text_of_bounded_size(
    tmp_path: Path, content: bytes, code: str
) -> None:
    """It is read like a spec: UTF-8, nothing hidden, at most 1 MiB."""
    (tmp_path / "names.txt").write_bytes(content)
    assert [code] == [fault.code for fault in faults(MAPPED, tmp_path)]


def test_empty_files_hold_no_pairs(tmp_path: Path) -> None:
    """Nothing to map with is a fault of the spec that names it."""
    assert ["DPQL366"] == [code for code, _, _ in found(tmp_path, b"")]
