"""Pipes, sockets and devices are refused by their kind, before anything is opened."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable
from pathlib import Path

import pytest
from test_columns import refused, sums

from dpql.curator.engines.header import header
from dpql.errors import RunFault

ROWS = "x,k\n1,north\n"


def _pipe(path: Path) -> None:
    os.mkfifo(path)


def _socket(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as bound:
        # The path of a socket may not be long; a relative one is not.
        bound.bind(os.path.relpath(path))


def _device(path: Path) -> None:
    path.symlink_to("/dev/zero")


KINDS: dict[str, Callable[[Path], None]] = {
    "pipe": _pipe,
    "socket": _socket,
    "device": _device,
}
SUFFIXES = ["csv", "tsv", "ndjson", "parquet", "arrow"]


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize("kind", KINDS)
def test_what_is_no_regular_file_is_refused(
    kind: str, suffix: str, tmp_path: Path
) -> None:
    """By its path, by a link to it, by a URL and by a pattern: DPQL511."""
    path = tmp_path / f"rows.{suffix}"
    KINDS[kind](path)
    (tmp_path / f"link.{suffix}").symlink_to(path)
    for place in (path, tmp_path / f"link.{suffix}", path.as_uri(), f"*.{suffix}"):
        assert "DPQL511" in refused(place)


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_no_regular_file_spoils_a_folder(kind: str, tmp_path: Path) -> None:
    """Its rows would be missing without a word, so the folder is refused."""
    (tmp_path / "rows").mkdir()
    (tmp_path / "rows" / "a.csv").write_text(ROWS)
    assert (1, [1, 0, 0]) == sums(tmp_path / "rows")
    KINDS[kind](tmp_path / "rows" / ".hidden.csv")
    assert (1, [1, 0, 0]) == sums(tmp_path / "rows")
    KINDS[kind](tmp_path / "rows" / "b.csv")
    assert "DPQL511" in refused(tmp_path / "rows")
    assert "DPQL511" in refused(str(tmp_path / "rows" / "*.csv"))
    assert "DPQL511" in refused(str(tmp_path / "r*"))


@pytest.mark.parametrize("suffix", ["csv", "parquet", "arrow"])
def test_no_header_is_read_from_a_pipe(suffix: str, tmp_path: Path) -> None:
    """`dpql init` refuses it, too."""
    _pipe(tmp_path / f"rows.{suffix}")
    with pytest.raises(RunFault, match="DPQL511"):
        header(tmp_path / f"rows.{suffix}")
