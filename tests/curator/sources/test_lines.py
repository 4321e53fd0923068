"""Files of text are cut at newlines, into batches of any size."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tables import FILES, WHOLE, declare

from dpql.curator.sources import lines, open_source
from dpql.curator.sources.lines import count_lines, header_line, line_batches
from dpql.curator.sources.locate import File
from dpql.errors import RunFault

DATA = declare(x=WHOLE)
_TEXT = st.lists(st.sampled_from([b"\n", b"\r", b"a", b"\xff", b"bcdef"])).map(b"".join)


def _file(content: bytes | str) -> File:
    return File(content=content, values={})


def _lines(content: bytes) -> list[bytes]:
    found = content.split(b"\n")
    return [line + b"\n" for line in found[:-1]] + [line for line in found[-1:] if line]


@given(
    content=_TEXT,
    size=st.integers(1, 9),
    longest=st.integers(0, 9),
    header=st.booleans(),
)
def test_batches_hold_whole_lines(
    content: bytes, size: int, longest: int, *, header: bool
) -> None:
    """All of them, in their order, and a line that is too long stands alone."""
    wanted = _lines(content)[1 if header else 0 :]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lines, "BATCH_BYTES", size)
        found = list(line_batches(_file(content), header=header, longest=longest))
        assert len(wanted) == count_lines(_file(content), header=header)
    assert wanted == [line for batch in found for line in _lines(batch)]
    for batch in found:
        assert len(batch) <= size + longest or 1 == len(_lines(batch))


def test_text_is_read_from_this_machine_and_from_memory(tmp_path: Path) -> None:
    """The same lines."""
    (tmp_path / "a.csv").write_bytes(b"x\n1\n2")
    for file in (_file(str(tmp_path / "a.csv")), _file(b"x\n1\n2")):
        assert b"x\n" == header_line(file, DATA)
        assert [b"1\n2"] == list(line_batches(file, header=True, longest=0))


@pytest.mark.parametrize("first", [b"\x1f\x8b", b"\x28\xb5\x2f\xfd", b"x\x9c", b"x^"])
def test_a_header_that_looks_compressed_is_refused(first: bytes) -> None:
    """DPQL502, rather than a column that is missing."""
    with pytest.raises(RunFault, match="DPQL502"):
        header_line(_file(first + b",k\n"), DATA)


@pytest.mark.parametrize("suffix", ["csv", "tsv", "ndjson"])
@pytest.mark.parametrize("error", [PermissionError, FileNotFoundError, OSError])
def test_files_that_cannot_be_read_are_refused(
    suffix: str,
    error: type[OSError],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A file that is there and closed is a fault of the location: DPQL501."""
    FILES[suffix](pl.DataFrame({"x": [1]}), tmp_path / f"a.{suffix}")

    def closed(*_: object) -> None:
        raise error("secret")

    monkeypatch.setattr(Path, "open", closed)
    with pytest.raises(RunFault, match="DPQL501") as caught:
        open_source(tmp_path, DATA)
    assert "secret" not in str(caught.value)
