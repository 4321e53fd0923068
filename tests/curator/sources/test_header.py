"""Names and types from headers, for specs that are begun from a file."""

from __future__ import annotations

import os
from datetime import date, datetime, timedelta
from pathlib import Path

import polars as pl
import pytest
from tables import FILES

from dpql.curator.sources.header import header
from dpql.errors import RunFault

ROWS = pl.DataFrame(
    {
        "i": [1],
        "f": [0.5],
        "w": ["a"],
        "b": [True],
        "d": [date(2013, 1, 1)],
        "t": [datetime(2013, 1, 1)],  # noqa: DTZ001  a clock without a zone
        "u": [timedelta(1)],
    }
)
TYPES = ["integer", "float", "category", "boolean", "date", "time", "unknown"]


@pytest.mark.parametrize("suffix", ["parquet", "pq", "arrow", "PARQUET"])
def test_columnar_files_tell_their_types(suffix: str, tmp_path: Path) -> None:
    """Types become kinds of columns, in the order of the file."""
    path = tmp_path / f"a.{suffix}"
    FILES["arrow" if suffix == "arrow" else "parquet"](ROWS, path)
    assert list(zip(ROWS.columns, TYPES, strict=True)) == [*header(path).items()]


@pytest.mark.parametrize("suffix", ["csv", "tsv", "CSV"])
def test_texts_tell_their_names(suffix: str, tmp_path: Path) -> None:
    """Quotes and a byte order mark are no part of a name."""
    mark = "\t" if suffix == "tsv" else ","
    path = tmp_path / f"a.{suffix}"
    path.write_text("\ufeff" + mark.join(['"i"', "f", "w"]) + "\r\n1\n", "utf-8")
    assert dict.fromkeys("ifw", "unknown") == header(path)


def test_what_has_no_header_is_refused(tmp_path: Path) -> None:
    """No file, a folder, another format, or a file that is not what it says."""
    (tmp_path / "folder.parquet").mkdir()
    (tmp_path / "a.parquet").write_bytes(b"PAR1 and no more")
    (tmp_path / "a.arrow").write_bytes(b"")
    (tmp_path / "a.ndjson").write_bytes(b"{}")
    expected = {
        "none.csv": "DPQL501",
        "none.parquet": "DPQL501",
        "a.parquet": "DPQL502",
        "a.arrow": "DPQL502",
        "a.ndjson": "DPQL502",
        "folder.parquet": "DPQL502",
    }
    for name, code in expected.items():
        with pytest.raises(RunFault, match=code):
            header(tmp_path / name)


@pytest.mark.parametrize("suffix", ["csv", "parquet", "arrow"])
def test_no_header_is_read_from_a_pipe(suffix: str, tmp_path: Path) -> None:
    """`dpql init` refuses it before it is opened, for reading it might never end."""
    os.mkfifo(tmp_path / f"rows.{suffix}")
    with pytest.raises(RunFault, match="DPQL511"):
        header(tmp_path / f"rows.{suffix}")
