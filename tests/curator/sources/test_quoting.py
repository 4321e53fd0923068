"""Quotes keep a cell together, inside a line and nowhere else."""

from __future__ import annotations

import csv as csv_of_python
import io
import random
from itertools import product
from pathlib import Path

import pytest
from quotes import cells_of
from tables import ID, declare, ordered, rows

from dpql.curator.sources import quoting
from dpql.curator.sources.quoting import sorted_out, split

DATA = declare(a=ID, b=ID, c=ID)
MARK = b","


@pytest.mark.parametrize(
    ("line", "cells"),
    [
        (b"", [None]),
        (b"5,a\n", [b"5", b"a"]),
        (b'"5","a"\r\n', [b"5", b"a"]),
        (b'"5,a",b', [b"5,a", b"b"]),
        (b'"5 ""inches""",b', [b'5 "inches"', b"b"]),
        (b'5" pipe,3', [b'5" pipe', b"3"]),
        (b'"open,b', [b'"open', b"b"]),
        (b'a,"open', [b"a", b'"open']),
        (b'"a"b,c', [b'"a"b', b"c"]),
        (b' "a,b"', [b' "a', b'b"']),
        (b'"",""""', [b"", b'"']),
        (b'"', [b'"']),
        (b'"""', [b'"""']),
        (b",,", [None, None, None]),
    ],
)
def test_a_line_has_these_cells(line: bytes, cells: list[bytes | None]) -> None:
    """A cell that begins with a quote and properly ends with one is what is inside."""
    assert cells == split(line, MARK)


def test_all_short_lines_have_the_cells_of_the_reference(tmp_path: Path) -> None:
    """Every line of up to six bytes that matter, read one by one and all at once."""
    lines = [
        bytes(letters)
        for length in range(7)
        for letters in product(b'",a', repeat=length)
    ]
    wanted = [[cell or None for cell in cells_of(line, MARK)] for line in lines]
    one_by_one = [[cell or None for cell in split(line, MARK)] for line in lines]
    assert wanted == one_by_one
    path = tmp_path / "a.csv"
    path.write_bytes(b"a,b,c\n" + b"\n".join([*lines, b""]))
    padded = [(*cells, None, None, None)[:3] for cells in wanted]
    assert ordered(padded) == rows(path, DATA)


@pytest.mark.heavy
@pytest.mark.parametrize("mark", [b",", b";", b"\t", b"|"])
def test_what_writers_write_is_read_as_they_meant_it(
    mark: bytes, tmp_path: Path
) -> None:
    """Cells of any letters without line breaks, by the writer of Python."""
    chance = random.Random(17)
    words = [
        "",
        "5",
        "a,b",
        'say "x"',
        '"',
        ",",
        ";",
        "\t",
        "|",
        "é",
        " ",
        '","',
        "x" * 9,
    ]
    table = [[chance.choice(words) for _ in range(3)] for _ in range(20_000)]
    for quoting_rule in (csv_of_python.QUOTE_MINIMAL, csv_of_python.QUOTE_ALL):
        text = io.StringIO()
        writer = csv_of_python.writer(
            text, delimiter=mark.decode(), quoting=quoting_rule
        )
        writer.writerows([["a", "b", "c"], *table])
        path = tmp_path / "a.csv"
        path.write_bytes(text.getvalue().encode())
        wanted = [tuple(cell.encode() or None for cell in row) for row in table]
        location = {b",": "comma", b";": "semicolon", b"\t": "tab", b"|": "pipe"}
        assert ordered(wanted) == rows(f"{location[mark]}:{path}", DATA)


@pytest.mark.parametrize("part", [1, 30, 1 << 15])
def test_a_stray_quote_moves_no_other_line(
    part: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each line is sorted and changed as if it stood alone."""
    monkeypatch.setattr(quoting, "_PART_BYTES", part)
    good = [b'"a,b",%d,"c"' % number for number in range(50)]
    for stray in (b'"', b'a,"b', b'"a"b",c', b'"a,b', b'""",', b'5",3', b'\xff"'):
        alone = sorted_out(b"\n".join([*good, b""]), MARK)
        beside = sorted_out(b"\n".join([*good[:20], stray, *good[20:], b""]), MARK)
        lines = b"".join([*beside.plain, *beside.quoted, *beside.others])
        kept = b"".join([*alone.plain, *alone.quoted])
        assert sorted((kept + stray).split(b"\n")) == sorted(lines[:-1].split(b"\n"))


def test_the_lines_that_are_split_alone_are_the_ones_that_do_not_pair() -> None:
    """Others are read many at once, whatever quotes they hold."""
    lines = [b'"a,b",5', b'5" pipe', b'"open', b'"a"b', b"plain", b"\xff", b'""""']
    found = sorted_out(b"\n".join([*lines, b""]), MARK)
    assert [b"\xff\n", b'"open\n', b'"a"b\n'] == found.others
    assert [b'"a\rb",5\n5" pipe\nplain\n""""\n'] == found.quoted
