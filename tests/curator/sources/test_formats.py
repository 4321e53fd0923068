"""The end of a name says how a file is read."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from tables import FILES, WHOLE, declare, rows

from dpql.curator.sources.formats import FORMATS, may_hold_rows, suffixes
from dpql.errors import RunFault


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("a.csv", (".csv", None)),
        ("a.CSV.GZ", (".csv", "gzip")),
        ("a.b.tsv.zst", (".tsv", "zstd")),
        ("a.jsonl.gz", (".jsonl", "gzip")),
        ("a.parquet.gz", (".gz", None)),
        ("a.arrow.zst", (".zst", None)),
        ("a.gz", (".gz", None)),
        (".csv.gz", (".gz", None)),
        ("a.gz.csv", (".csv", None)),
        ("a", ("", None)),
    ],
)
def test_text_alone_is_decompressed(name: str, expected: tuple[str, str]) -> None:
    """Other formats are compressed inside."""
    assert expected == suffixes(name)


def test_only_empty_lines_of_json_are_a_table() -> None:
    """Others have no header."""
    found = {end for end in FORMATS if may_hold_rows(f"a{end}", 0)}
    assert {".ndjson", ".jsonl"} == found
    assert may_hold_rows("a.csv", 1)
    assert may_hold_rows("a.ndjson.gz", 0)
    assert not may_hold_rows("a.csv.gz", 0)


@pytest.mark.parametrize("suffix", ["parquet", "arrow", "ndjson"])
def test_only_csv_has_separators(suffix: str, tmp_path: Path) -> None:
    """A word before any other location is refused, from its name."""
    path = tmp_path / f"a.{suffix}"
    FILES[suffix](pl.DataFrame({"x": [1]}), path)
    assert [(1,)] == rows(path, declare(x=WHOLE))
    with pytest.raises(RunFault, match="DPQL502 a separator is stated"):
        rows(f"semicolon:{path}", declare(x=WHOLE))
