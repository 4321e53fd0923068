"""A line is a row, cut at separators and nowhere else, whatever its neighbours are."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from quotes import cells_of
from tables import FEW, ID, WHOLE, Rows, category, declare, ordered, rows

from dpql.curator.sources import csv, lines, open_source, quoting
from dpql.errors import RunFault

DATA = declare(a=ID, b=ID, c=ID)
MARKS = {"csv": b",", "tsv": b"\t"}


def _row(line: bytes, mark: bytes) -> tuple[bytes | None, ...]:
    """Return the ids of a line by the rule of docs/reference/data.md."""
    cells = cells_of(line.removesuffix(b"\r"), mark)
    return (*(cell or None for cell in cells), None, None, None)[:3]


def _read(content: bytes, path: Path) -> Rows:
    path.write_bytes(content)
    found = rows(path, DATA)
    assert len(found) == open_source(path, DATA).row_count()
    return found


_LINE = st.one_of(
    st.lists(
        st.sampled_from([b"5", b"a", b'"', b",", b"\t", b"\r", b" ", b"\0", b"#"]),
        max_size=9,
    ).map(b"".join),
    st.lists(
        st.sampled_from([b'"5', b'a"', b'","', b'""', b",", b'","', b"\t", b'"']),
        max_size=7,
    ).map(b"".join),
    st.text('5a",\r\t\u00e9\ufeff', max_size=9).map(str.encode),
    st.binary(max_size=9).map(lambda line: line.replace(b"\n", b"")),
)


@pytest.mark.property
@pytest.mark.parametrize("suffix", MARKS)
@given(
    content=st.lists(_LINE, max_size=8).map(b"\n".join),
    batch=st.sampled_from([1, 20, 1 << 22]),
    part=st.sampled_from([1, 20, 1 << 15]),
)
@example(content=b"5,a\n5\r,a\n", batch=1 << 22, part=1 << 15)
@example(content=b"\r,\r\r\n5\r\r", batch=1 << 22, part=1 << 15)
@example(content=b'"5",5\n"5,"5"5"\n""5""', batch=1 << 22, part=1 << 15)
@example(content=b'"5,a",5\n"5\t""a",","\n","', batch=1 << 22, part=1 << 15)
@example(content=b'"5,a"\n5"a,"\n"a,5\n"a""",""""', batch=1 << 22, part=1 << 15)
@example(content=b"\n\n\r\n\n", batch=1 << 22, part=1 << 15)
@example(content=b"\x1f\x8b\n\xff\n#\n", batch=1 << 22, part=1)
@FEW
def test_every_line_is_a_row(
    suffix: str, content: bytes, batch: int, part: int, tmp_path: Path
) -> None:
    """Quotes act inside it and nowhere else, wherever batches end."""
    mark = MARKS[suffix]
    held = content.removesuffix(b"\n").split(b"\n") if content else []
    wanted = ordered([_row(line, mark) for line in held])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lines, "BATCH_BYTES", batch)
        patch.setattr(csv, "BATCH_BYTES", batch)
        patch.setattr(quoting, "_PART_BYTES", part)
        header = mark.join([b"a", b"b", b"c"]) + b"\n"
        assert wanted == _read(header + content, tmp_path / f"a.{suffix}")


@pytest.mark.parametrize("width", [1, 2])
def test_blank_lines_are_rows_of_nulls(width: int, tmp_path: Path) -> None:
    """Of one column and of several, at any place and at the end."""
    header = ",".join("xyz"[:width])
    (tmp_path / "a.csv").write_text(f"{header}\n\n1\n\n\n2\n\n")
    found = rows(tmp_path / "a.csv", declare(x=WHOLE))
    assert ordered([(None,), (1,), (None,), (None,), (2,), (None,)]) == found
    assert 6 == open_source(tmp_path / "a.csv", declare(x=WHOLE)).row_count()


def test_one_broken_text_changes_no_other_row(tmp_path: Path) -> None:
    """Lines beside broken ones are read as if they stood alone, and so are those."""
    data = declare(person=ID, k=category("5", "n"))
    good = [b"%d,n" % number for number in range(5000)]
    broken = [b"x\xff,5", b"x\xfe,5", b'"x\xfe",5', b'x\xfe",5', b"\xff"]
    held = [*good[:2500], *broken, *good[2500:]]
    (tmp_path / "a.csv").write_bytes(b"\n".join([b"person,k", *held]))
    wanted = [(b"%d" % number, "n") for number in range(5000)]
    wanted += [(b"x\xff", "5"), (b"x\xfe", "5"), (b"x\xfe", "5"), (b'x\xfe"', "5")]
    assert ordered([*wanted, (b"\xff", None)]) == rows(tmp_path / "a.csv", data)


@pytest.mark.parametrize("suffix", MARKS)
@pytest.mark.parametrize(
    ("header", "fault"),
    [
        (b"x,k", None),
        (b"x,k\r", None),
        (b'"x","k"', None),
        (b"\xef\xbb\xbfx,k", None),
        (b"x,k,", None),
        (b"x,k,y,y", None),
        (b"x,k,\xff", None),
        (b"x,k,k_duplicated_0", None),
        (b"x,k,x", "column `x` is there twice"),
        (b'x,k,"x"', "column `x` is there twice"),
        (b"", "no column"),
        (b"\xef\xbb\xbf", "no column"),
        (b"X,k", "no column"),
        (b" x,k", "no column"),
        (b"3,north", "no column"),
    ],
)
def test_the_first_line_names_the_columns(
    header: bytes, fault: str | None, suffix: str, tmp_path: Path
) -> None:
    """Names are taken as they are but for quotes, and none may be there twice."""
    data = declare(x=WHOLE, k=category("north", "south"))
    raw = header + b"\n3,north\n4,south,9\n"
    path = tmp_path / f"a.{suffix}"
    path.write_bytes(raw.replace(b",", MARKS[suffix]))
    if fault is None:
        assert [(3, "north"), (4, "south")] == rows(path, data)
    else:
        with pytest.raises(RunFault, match=f"DPQL503 {fault}"):
            open_source(path, data)


def test_quoted_empty_cells_are_empty_texts(tmp_path: Path) -> None:
    """They are ids of nobody, like cells that are not there."""
    (tmp_path / "a.csv").write_text('a,b,c\n,"",a\n"",\n')
    wanted = [(None, None, b"a"), (None, None, None)]
    assert ordered(wanted) == rows(tmp_path / "a.csv", DATA)
